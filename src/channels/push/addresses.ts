import { ECDH } from 'node:crypto'
import { objectIn, objectOf } from '../http-call.ts'

/** An address of a subscriber: the subscription of a browser, or the registration token of an app. */
export type PushAddress =
  | ({ kind: 'browser' } & Subscription)
  | { kind: 'app'; token: string }
  | { kind: 'unreadable'; reason: string }

export type Subscription = { endpoint: URL; keys: SubscriptionKeys }

/** The public key of the browser (an uncompressed point of P-256), and its shared secret. */
export type SubscriptionKeys = { p256dh: Buffer; auth: Buffer }

const POINT_BYTES = 65
const AUTH_BYTES = 16
const APP_PREFIX = 'fcm:'

/** Reads an uploaded address: the JSON of a browser's PushSubscription, or otherwise a token of FCM. */
export function readAddress(address: string): PushAddress {
  const trimmed = address.trim()
  if (trimmed.startsWith('{')) return readSubscription(objectOf(trimmed))
  const token = trimmed.startsWith(APP_PREFIX) ? trimmed.slice(APP_PREFIX.length) : trimmed
  return token ? { kind: 'app', token } : unreadable('the address is empty')
}

function readSubscription({ endpoint, keys }: Record<string, unknown>): PushAddress {
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (!url) return unreadable('the subscription has no endpoint')
  if (url.username || url.password) return unreadable('the endpoint carries a user or a password')

  const { p256dh, auth } = objectIn(keys)
  const read = { p256dh: bytesOf(p256dh), auth: bytesOf(auth) }
  if (!isPoint(read.p256dh)) return unreadable('p256dh is no public key of P-256')
  if (read.auth.length !== AUTH_BYTES) return unreadable(`auth is not ${AUTH_BYTES} bytes`)
  return { kind: 'browser', endpoint: url, keys: read }
}

const unreadable = (reason: string): PushAddress => ({ kind: 'unreadable', reason })

const bytesOf = (value: unknown) => (typeof value === 'string' ? Buffer.from(value, 'base64url') : Buffer.alloc(0))

/** With a point off the curve the encryption would throw, or even reveal a part of our key. */
function isPoint(key: Buffer): boolean {
  if (key.length !== POINT_BYTES || key[0] !== 4) return false
  try {
    ECDH.convertKey(key, 'prime256v1')
    return true
  } catch {
    return false
  }
}
