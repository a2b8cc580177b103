import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { notFound } from '../../base/errors.ts'
import { widgetErrors } from '../../base/widget-errors.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { Verifier, VerifierChannel } from '../verifiers/verifier.ts'
import { logError } from './errors.ts'
import * as store from './store.ts'
import { type NewSession, refusedBy, type Session, type SessionKeys, type WidgetRefusal } from './widget.ts'

/** So long a visitor may take for one code, and the site's server to ask for the outcome. */
const LASTS_MINUTES = 30
const AFTERWARDS_MINUTES = 15
/** So long the site's server may take to ask for the code. */
export const SEND_WITHIN_SECONDS = 15
/** Sessions for each code that an address may have: a visitor may reload, and sites may fail. */
export const SESSIONS_PER_CODE = 3
const RETRY_AFTER_SECONDS = 600
const KEY_BYTES = 24

/**
 * Begins a session. It is refused after too many sessions from the visitor's network. Sessions of a number are not
 * counted, only its codes: otherwise a stranger could block a number without a code that its owner or the site sees.
 */
export async function beginSession(
  sql: Sql,
  { companyId, settings: { limits } }: Verifier,
  session: NewSession,
): Promise<SessionKeys | WidgetRefusal> {
  const most = limits.perAddress * SESSIONS_PER_CODE
  const [begun] = await store.countSessions(sql, companyId, session.network, most)
  if (begun!.count >= most) return tooMany(`from the address ${session.clientAddress}`)
  const key = `${session.widgetId}.${randomText()}`
  const secret = randomText()
  const hashes = { keyHash: hashOf(key), secretHash: hashOf(secret) }
  await store.insertSession(sql, companyId, { ...session, ...hashes }, LASTS_MINUTES)
  return { key, secret }
}

const randomText = () => randomBytes(KEY_BYTES).toString('base64url')
const hashOf = (text: string) => createHash('sha256').update(text).digest()

const tooMany = (whose: string) =>
  refusedBy(widgetErrors.tooMany, `The widget was started too often ${whose}`, RETRY_AFTER_SECONDS)

/** The widget that a key belongs to. */
export const widgetIdIn = (key: string): string => key.split('.', 1)[0]!

export async function findSession(sql: Sql, companyId: number, key: string): Promise<Session | undefined> {
  const [session] = await store.selectSession(sql, companyId, hashOf(key))
  return session
}

/** For the browser, which proves itself by the secret: a key alone, which others see, types no codes. */
export async function requireSession(sql: Sql, companyId: number, { key, secret }: SessionKeys): Promise<Session> {
  const session = await findSession(sql, companyId, key)
  if (!session || session.isOver || !timingSafeEqual(session.secretHash, hashOf(secret))) throw notFound('Session')
  return session
}

/** The company's only session that waits for its code. */
export async function onlyWaitingSession(sql: Sql, companyId: number): Promise<Session | undefined> {
  const waiting = await store.selectWaiting(sql, companyId, SEND_WITHIN_SECONDS)
  return waiting.length === 1 ? waiting[0] : undefined
}

/** The browser asks for one more code; the site's server is to ask for it too. */
export const requestAgain = (sql: Sql, session: Session, channelType: VerifierChannel) =>
  store.updateAsked(sql, session, channelType, LASTS_MINUTES)

/** Records that codes of sessions were accepted, in the transaction that accepts them. */
export async function recordSent(sql: Transaction, companyId: number, sent: store.SentSession[]): Promise<void> {
  for (const session of sent) await store.updateSent(sql, companyId, session, AFTERWARDS_MINUTES)
}

/** Marks a session with an error that the widget shows, and logs the reason; false when its code was sent meanwhile. */
export async function failSession(sql: Sql, session: Session, refusal: WidgetRefusal): Promise<boolean> {
  const marked = await store.updateFailed(sql, session, refusal.code, refusal.retryAfterSeconds ?? null)
  if (marked.count > 0) await logError(sql, session, refusal)
  return marked.count > 0
}

/** Whether the site's server has had its time. */
export const isLate = ({ state, secondsWaiting }: Session): boolean =>
  state === 'WAITING' && secondsWaiting > SEND_WITHIN_SECONDS

/** False for an answer to our own captcha that was used before. */
export async function takeCaptchaUse(sql: Sql, companyId: number, use: { hash: Buffer; expiresAt: Date }) {
  return (await store.insertUse(sql, companyId, use)).count === 1
}
