import { createHmac, createSecretKey, randomBytes } from 'node:crypto'

/** Standard Webhooks (standardwebhooks.com), version 1: HMAC-SHA256 with a secret that both sides know. */

const PREFIX = 'whsec_'

export const makeSecret = (): string => PREFIX + randomBytes(32).toString('base64')

export type Signer = (id: string, timestamp: number, body: string) => string

/** Decodes the secret once, because many requests are signed with the same key. */
export function signerOf(secret: string): Signer {
  const key = createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))
  return (id, timestamp, body) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/** The headers with which the receiver can verify a request. */
export function signedHeaders(sign: Signer, id: string, body: string, now: Date) {
  const timestamp = Math.floor(now.getTime() / 1000)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': sign(id, timestamp, body) }
}
