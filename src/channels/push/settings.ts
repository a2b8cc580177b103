import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto'
import Type, { type StaticDecode } from 'typebox'
import {
  address,
  flag,
  type RawSettings,
  rare,
  refine,
  secret,
  senderNames,
  setting,
  text,
  valuesOf,
  whole,
  wrongSetting,
} from '../settings.ts'

/** For browsers. All three are needed; without them the gateway reaches no browsers. */
const vapidSchema = Type.Object({
  /** The key that browsers got when they subscribed: the uncompressed point. */
  vapidPublicKey: bytes(65),
  vapidPrivateKey: secret(bytes(32)),
  /** The contact for push services. */
  vapidSubject: refine(text(), isContact, 'must be a mailto: or https: address'),
})

const FCM_URL = 'https://fcm.googleapis.com'

/** The settings of a push gateway. */
export const pushSchema = Type.Object({
  ...Type.Partial(vapidSchema).properties,
  /** For apps: the service account file of Google. Without it the gateway reaches no apps. */
  fcmServiceAccount: Type.Optional(secret(serviceAccount())),
  senderNames: senderNames(),
  ...rare({
    /** The most messages at once. */
    window: whole(1, 10_000, 100),
    timeoutMs: whole(1, 300_000, 10_000),
    fcmBaseUrl: Type.Optional(address(FCM_URL)),
    /** For tests: endpoints in private networks, and plain http on this machine. */
    allowInsecure: flag(),
  }),
})

/** `fcmBaseUrl` does not matter without a service account. */
const fcmSchema = Type.Pick(pushSchema, ['fcmBaseUrl'])
const commonSchema = Type.Omit(pushSchema, ['fcmBaseUrl'])

/** The members of a service account that we use. */
const accountSchema = Type.Object({
  project_id: filled(),
  client_email: filled(),
  private_key: Type.Decode(refine(text(), isRsaKey, 'is no RSA private key in PEM'), pem =>
    createPrivateKey(unescaped(pem)),
  ),
  token_uri: Type.Optional(address()),
})

export type PushSettings = ReturnType<typeof readSettings>

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

const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
export function readSettings(raw: RawSettings) {
  const vapid = isAnyGiven(raw, Object.keys(vapidSchema.properties)) ? vapidOf(valuesOf(vapidSchema, raw)) : undefined
  const { fcmServiceAccount, allowInsecure, window, timeoutMs } = valuesOf(commonSchema, raw)
  const fcm = fcmServiceAccount ? fcmOf(raw, fcmServiceAccount, allowInsecure) : undefined
  if (!vapid && !fcm)
    throw new Error(
      'settings "vapidPublicKey", "vapidPrivateKey" and "vapidSubject", or "fcmServiceAccount", are missing',
    )
  return { vapid, fcm, allowInsecure, window, timeoutMs }
}

const isAnyGiven = (raw: RawSettings, names: string[]) => names.some(name => (raw[name] ?? '') !== '')

function vapidOf(settings: StaticDecode<typeof vapidSchema>): VapidSettings {
  const { vapidPublicKey: point, vapidPrivateKey: secret, vapidSubject: subject } = settings
  if (!pointOf(secret).equals(point)) throw wrongSetting('vapidPublicKey', 'does not belong to "vapidPrivateKey"')
  return { publicKey: point.toString('base64url'), privateKey: keyOf(point, secret), subject }
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

/** Google's addresses get tokens, so they must be https unless the settings allow http. */
function fcmOf(raw: RawSettings, account: RawSettings, allowInsecure: boolean): FcmSettings {
  const { project_id, client_email, private_key, token_uri } = valuesOf(accountSchema, account, 'fcmServiceAccount.')
  const baseUrl = valuesOf(fcmSchema, raw).fcmBaseUrl ?? FCM_URL
  const tokenUrl = token_uri ?? TOKEN_URL
  for (const [name, url] of Object.entries({ fcmBaseUrl: baseUrl, 'fcmServiceAccount.token_uri': tokenUrl })) {
    if (!allowInsecure && !url.startsWith('https:')) throw wrongSetting(name, 'must be an https address')
  }
  return { baseUrl, projectId: project_id, clientEmail: client_email, privateKey: private_key, tokenUrl }
}

function bytes(length: number) {
  const given = refine(text(), value => isBase64(value, length), `must be ${length} bytes in base64url`)
  return Type.Decode(given, value => Buffer.from(value, 'base64url'))
}

function isBase64(value: string, length: number): boolean {
  return /^[\w+/-]+={0,2}$/.test(value) && Buffer.from(value, 'base64url').length === length
}

function isContact(value: string): boolean {
  return /^mailto:[^\s@]+@[^\s@]+$/.test(value) || URL.parse(value)?.protocol === 'https:'
}

/** The content of the file as text or as an object. */
function serviceAccount() {
  const problem = 'is no JSON of a service account'
  const given = setting(Type.Unknown(), { input: { kind: 'file' }, problem })
  return Type.Decode(
    refine(given, value => accountIn(value) !== undefined, problem),
    value => accountIn(value) ?? {},
  )
}

function accountIn(value: unknown): RawSettings | undefined {
  const account = typeof value === 'string' ? parsed(value) : value
  return typeof account === 'object' && account !== null && !Array.isArray(account) ? { ...account } : undefined
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function filled() {
  return refine(text(), value => value.trim() !== '', 'is empty')
}

/** Some tools copy a line end as the two characters `\n`. */
function unescaped(pem: string): string {
  return pem.replaceAll('\\n', '\n')
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(unescaped(pem)).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
