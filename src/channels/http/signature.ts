import { createHmac, timingSafeEqual } from 'node:crypto'

/** Standard Webhooks (standardwebhooks.com), version 1, in both directions: HMAC-SHA256 with a shared key. */
export type SignedHeaders = 'webhook-id' | 'webhook-timestamp' | 'webhook-signature'

/** The largest difference of both clocks, and the lifetime of a signature. */
const FRESH_SECONDS = 300

export function signedHeaders(key: Buffer, id: string, body: string, now: Date): Record<SignedHeaders, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(key, id, timestamp, Buffer.from(body))}`,
  }
}

/** Why the signature of a request is wrong; undefined if it is right. */
export function forgeryOf(
  key: Buffer,
  headers: Partial<Record<string, string>>,
  body: Buffer,
  now: Date,
): string | undefined {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !timestamp || !signatures) return 'it is not signed'
  if (!/^\d{1,12}$/.test(timestamp)) return 'its timestamp is no number of seconds'
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > FRESH_SECONDS) return 'its timestamp is not of now'
  const expected = Buffer.from(`v1,${signatureOf(key, id, timestamp, body)}`)
  return signatures.split(' ').some(given => isSame(Buffer.from(given), expected))
    ? undefined
    : 'its signature is wrong'
}

const signatureOf = (key: Buffer, id: string, timestamp: string, body: Buffer) =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')

/** Compares the texts without decoding them: in Base64 the same bytes have several forms. */
const isSame = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)
