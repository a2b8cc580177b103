import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto'
import { address, flag, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** The settings of a push gateway, with all defaults. */
export type PushSettings = {
  /** For browsers; without it the gateway reaches no browsers. */
  vapid: VapidSettings | undefined
  /** For apps; without it the gateway reaches no apps. */
  fcm: FcmSettings | undefined
  /** For tests: endpoints in private networks, and plain http on this machine. */
  allowInsecure: boolean
  /** The most messages at once. */
  window: number
  timeoutMs: number
}

export type VapidSettings = {
  /** The key that browsers got when they subscribed: the uncompressed point, in base64url. */
  publicKey: string
  privateKey: KeyObject
  /** The contact for push services: a mailto: or https: address. */
  subject: string
}

export type FcmSettings = {
  baseUrl: string
  projectId: string
  clientEmail: string
  privateKey: KeyObject
  tokenUrl: string
}

/** These settings are stored encrypted and never shown. */
export const secretSettings = ['vapidPrivateKey', 'fcmServiceAccount']

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
export function readSettings(raw: RawSettings): PushSettings {
  const settings = {
    vapid: isAnyGiven(raw, ['vapidPublicKey', 'vapidPrivateKey', 'vapidSubject']) ? vapid(raw) : undefined,
    fcm: isAnyGiven(raw, ['fcmServiceAccount']) ? fcm(raw) : undefined,
    allowInsecure: flag(raw, 'allowInsecure'),
    window: whole(raw, 'window', 100, 1, 10_000),
    timeoutMs: whole(raw, 'timeoutMs', 10_000, 1, 300_000),
  }
  if (!settings.vapid && !settings.fcm)
    throw new Error(
      'settings "vapidPublicKey", "vapidPrivateKey" and "vapidSubject", or "fcmServiceAccount", are missing',
    )
  return settings
}

const isAnyGiven = (raw: RawSettings, names: string[]) =>
  names.some(name => optional(raw, name, () => true) !== undefined)

function vapid(raw: RawSettings): VapidSettings {
  const point = bytes(raw, 'vapidPublicKey', 65)
  const secret = bytes(raw, 'vapidPrivateKey', 32)
  if (!pointOf(secret).equals(point)) throw wrongSetting('vapidPublicKey', 'does not belong to "vapidPrivateKey"')
  return { publicKey: point.toString('base64url'), privateKey: keyOf(point, secret), subject: subject(raw) }
}

function bytes(raw: RawSettings, name: string, length: number): Buffer {
  const value = text(raw, name)
  const decoded = Buffer.from(value, 'base64url')
  if (!/^[\w+/-]+={0,2}$/.test(value) || decoded.length !== length)
    throw wrongSetting(name, `must be ${length} bytes in base64url`)
  return decoded
}

function pointOf(secret: Buffer): Buffer {
  const ecdh = createECDH('prime256v1')
  try {
    ecdh.setPrivateKey(secret)
  } catch {
    throw wrongSetting('vapidPrivateKey', 'is no private key of P-256')
  }
  return ecdh.getPublicKey()
}

/** A point is a byte 4, then x, then y. */
function keyOf(point: Buffer, secret: Buffer): KeyObject {
  const part = (from: number, to: number) => point.toString('base64url', from, to)
  const key = { kty: 'EC', crv: 'P-256', x: part(1, 33), y: part(33, 65), d: secret.toString('base64url') }
  return createPrivateKey({ key, format: 'jwk' })
}

function subject(raw: RawSettings): string {
  const value = text(raw, 'vapidSubject')
  const isMail = /^mailto:[^\s@]+@[^\s@]+$/.test(value)
  if (!isMail && URL.parse(value)?.protocol !== 'https:')
    throw wrongSetting('vapidSubject', 'must be a mailto: or https: address')
  return value
}

function fcm(raw: RawSettings): FcmSettings {
  const account = serviceAccount(raw)
  const member = (name: string) => `fcmServiceAccount.${name}`
  return {
    baseUrl: secureAddress(raw, raw, 'fcmBaseUrl', 'https://fcm.googleapis.com'),
    projectId: filled(account, member('project_id')),
    clientEmail: filled(account, member('client_email')),
    privateKey: rsaKey(account, member('private_key')),
    tokenUrl: secureAddress(raw, account, member('token_uri'), 'https://oauth2.googleapis.com/token'),
  }
}

/** The service account file of Google, as text or as an object. Its members get their full names, for errors. */
function serviceAccount(raw: RawSettings): RawSettings {
  const account = typeof raw.fcmServiceAccount === 'string' ? parsed(raw.fcmServiceAccount) : raw.fcmServiceAccount
  if (typeof account !== 'object' || account === null || Array.isArray(account))
    throw wrongSetting('fcmServiceAccount', 'is no JSON of a service account')
  return Object.fromEntries(Object.entries(account).map(([name, value]) => [`fcmServiceAccount.${name}`, value]))
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function filled(raw: RawSettings, name: string): string {
  const value = text(raw, name)
  if (value.trim() === '') throw wrongSetting(name, 'is empty')
  return value
}

/** These addresses get tokens, so they must be https unless the settings allow http. */
function secureAddress(raw: RawSettings, from: RawSettings, name: string, otherwise: string): string {
  const value = optional(from, name, address) ?? otherwise
  if (!value.startsWith('https:') && !flag(raw, 'allowInsecure')) throw wrongSetting(name, 'must be an https address')
  return value
}

/** Some tools copy a line end as the two characters `\n`. */
function rsaKey(raw: RawSettings, name: string): KeyObject {
  const key = pemKey(text(raw, name).replaceAll('\\n', '\n'))
  if (key?.asymmetricKeyType !== 'rsa') throw wrongSetting(name, 'is no RSA private key in PEM')
  return key
}

function pemKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}
