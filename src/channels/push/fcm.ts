import type { Outgoing } from '../channel.ts'
import { type CallResult, call, objectIn, objectOf } from '../http-call.ts'
import { createAccessTokens, type TokenFailure } from './access-tokens.ts'
import { secondsOf } from './jwt.ts'
import { lifetimeSecondsOf, notificationOf } from './notification.ts'
import type { Pauses } from './pauses.ts'
import {
  type Answered,
  type Meaning,
  meaningOfTrouble,
  ofMeaning,
  ofUnanswered,
  type PushResult,
} from './push-result.ts'
import type { FcmSettings } from './settings.ts'

/** The codes of FCM, or the general codes of Google if FCM gives none. */
const meaningsOfCodes: Record<string, Meaning> = {
  UNREGISTERED: 'gone',
  SENDER_ID_MISMATCH: 'refused',
  INVALID_ARGUMENT: 'refused',
  QUOTA_EXCEEDED: 'later',
  RESOURCE_EXHAUSTED: 'later',
  UNAVAILABLE: 'unknown',
  INTERNAL: 'unknown',
  THIRD_PARTY_AUTH_ERROR: 'misconfigured',
  UNAUTHENTICATED: 'misconfigured',
  PERMISSION_DENIED: 'misconfigured',
  /** Without UNREGISTERED the project is missing, and the address of the subscriber stays. */
  NOT_FOUND: 'misconfigured',
}

const meaningsOfStatuses: Record<number, Meaning> = {
  401: 'misconfigured',
  403: 'misconfigured',
  404: 'misconfigured',
  429: 'later',
}

/** Pushes to apps by Firebase Cloud Messaging, HTTP v1. */
export function createFcm(settings: FcmSettings, timeoutMs: number, pauses: Pauses) {
  const tokens = createAccessTokens(settings, timeoutMs)
  const url = `${settings.baseUrl}/v1/projects/${encodeURIComponent(settings.projectId)}/messages:send`

  async function send(token: string, message: Outgoing, now: Date): Promise<PushResult> {
    const paused = pauses.answerOf(settings.baseUrl, now)
    if (paused) return paused
    const body = JSON.stringify({ message: messageOf(token, message, now) })
    const first = await post(body, now)
    const last = isNotHonoured(first) ? await post(body, now) : first
    if (last.kind === 'busy') return last
    return last.kind === 'answered'
      ? pauses.heard(settings.baseUrl, token, resultOf(last, now), now)
      : ofUnanswered(last)
  }

  async function post(body: string, now: Date): Promise<CallResult | TokenFailure> {
    const access = await tokens.take(now)
    if (access.kind === 'busy') return access
    const headers = { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' }
    const result = await call({ url, headers, body, timeoutMs })
    if (isNotHonoured(result)) tokens.forget(access.token, now)
    return result
  }

  return { send }
}

/** The access token was revoked before its end: a new token may work. */
const isNotHonoured = (result: CallResult | TokenFailure) =>
  result.kind === 'answered' && result.status === 401 && errorOf(result.body).code !== 'THIRD_PARTY_AUTH_ERROR'

function messageOf(token: string, message: Outgoing, now: Date) {
  const { title, text, url, image, data } = notificationOf(message)
  const seconds = lifetimeSecondsOf(message, now)
  return {
    token,
    notification: { ...(title ? { title } : {}), body: text, ...(image ? { image } : {}) },
    data: { ...stringsOf(data ?? {}), ...(url ? { url } : {}), messageUuid: message.uuid },
    android: { ttl: `${seconds}s` },
    apns: { headers: { 'apns-expiration': String(secondsOf(now) + seconds) } },
    webpush: { headers: { TTL: String(seconds) }, ...linkOf(url) },
  }
}

/** FCM accepts only texts as values; other values are sent as JSON. */
function stringsOf(data: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(data).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

/** FCM refuses a message with any other link. */
const linkOf = (url: string | undefined) => (url?.startsWith('https://') ? { fcm_options: { link: url } } : {})

function resultOf(answered: Answered, now: Date): PushResult {
  const { status, headers, body } = answered
  if (status === 200) return { kind: 'accepted' }
  const { code, isAboutToken } = errorOf(body)
  const meaning = meaningOfTrouble(answered, now) ?? meaningOf(status, code, isAboutToken)
  return ofMeaning(meaning, 'FCM', code ?? `HTTP ${status}`, headers, now)
}

function meaningOf(status: number, code: string | undefined, isAboutToken: boolean): Meaning {
  if (code === 'INVALID_ARGUMENT' && isAboutToken) return 'gone'
  return meaningsOfCodes[code ?? ''] ?? meaningsOfStatuses[status] ?? 'refused'
}

/**
 * The error of FCM. One code stands for a malformed token and for any other malformed field. Only the name of the field
 * or the text tells them apart. Wrong data of a customer must not remove the address of a subscriber.
 */
function errorOf(body: string): { code: string | undefined; isAboutToken: boolean } {
  const { status, message, details } = objectIn(objectOf(body).error)
  const list = objectsIn(details)
  const code = list.map(({ errorCode }) => errorCode).find(isCode) ?? (isCode(status) ? status : undefined)
  const fields = list.flatMap(({ fieldViolations }) => objectsIn(fieldViolations).map(({ field }) => field))
  const isAboutToken = fields.includes('message.token') || /registration token/i.test(String(message))
  return { code, isAboutToken }
}

const objectsIn = (value: unknown) => (Array.isArray(value) ? value.map(objectIn) : [])

const isCode = (value: unknown): value is string => typeof value === 'string' && /^[A-Z_]{1,60}$/.test(value)
