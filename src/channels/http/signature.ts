import { createHmac, timingSafeEqual } from 'node:crypto'

/** Standard Webhooks (standardwebhooks.com), version 1, for both ways: HMAC-SHA256 with a key that both sides know. */
export type SignedHeaders = 'webhook-id' | 'webhook-timestamp' | 'webhook-signature'

/** How far the clocks of both sides may be apart, and how long a signature is good for. */
const FRESH_SECONDS = 300

export function signedHeaders(key: Buffer, id: string, body: string, now: Date): Record<SignedHeaders, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(key, id, timestamp, Buffer.from(body))}`,
  }
}

/** Why a request is not from whom it says it is from; nothing when it is. */
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

/** As text and not decoded: Base64 has several ways to write the same bytes. */
const isSame = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)
