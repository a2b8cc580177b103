import { SearchLimiter } from '../../base/concurrency/search-limiter.ts'
import { AppError } from '../../base/errors.ts'
import { mistakeText } from '../../base/field-mistake.ts'
import { NOT_SERVED, widgetErrors } from '../../base/widget-errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { Acceptance, Refusal } from '../messages/single.ts'
import type { CodeChecker } from '../verifications/checker.ts'
import type { CheckStatus } from '../verifications/verification.ts'
import { findVerification, secondsToNextCode, type VerificationState } from '../verifications/verifications.ts'
import type { VerifierChannel, VerifierSettings, Widget } from '../verifiers/verifier.ts'
import { failSession, isLate, requestAgain, SEND_WITHIN_SECONDS } from '../widgets/sessions.ts'
import { refusedBy, type Session, type WidgetRefusal } from '../widgets/widget.ts'
import { codeLengthOf, type SendContext, sendCode } from './sends.ts'

export type SessionContext = SendContext & { sql: Pool; checker: CodeChecker }

/**
 * Each send has a database connection while it waits for the account of its company: visitors of one company must not
 * take them all.
 */
const sends = new SearchLimiter({
  most: 100,
  mostOfOne: 2,
  mostWaiting: 5000,
  mostWaitingOfOne: 500,
  patienceMs: 5000,
  refusal: 'Too many codes are being sent at once: try again in a moment',
})

/**
 * Sends the code that the browser asked for. The site's server may call as often as it likes: each code that was asked
 * for is sent once, and the session is marked in the transaction that accepts the message. A refusal is shown by the
 * widget.
 */
export async function sendForSession(context: SessionContext, widget: Widget, session: Session): Promise<Acceptance> {
  if (await needsNoCode(context.sql, session)) return { kind: 'accepted', uuid: session.messageUuid! }
  const send = () => sendCode(context, widget, requestOf(session), onceOf(session))
  const outcome = await orRefusal(sends.run(session.companyId, send))
  if (outcome.kind === 'refused') await failSession(context.sql, session, shownFor(outcome))
  return outcome
}

/** The code was sent, or the visitor asked for another and confirmed the number with an earlier one. */
const needsNoCode = async (sql: Sql, session: Session): Promise<boolean> =>
  session.state === 'SENT' || Boolean((await verificationOf(sql, session))?.confirmedAt)

const requestOf = (session: Session) => ({
  channelType: session.channelType,
  destination: session.destination,
  method: 'VERIFIER_WIDGET' as const,
  language: session.language ?? undefined,
  clientAddress: session.clientAddress,
  verificationUuid: session.verificationUuid ?? undefined,
  sessionKeyHash: session.keyHash,
})

function onceOf({ companyId, keyHash, asks }: Session) {
  const key = `${keyHash.toString('hex')}/${asks}`
  return { owner: `widget:${companyId}`, key, request: Buffer.from(key) }
}

/** Settings may have changed since the session began: a number that is no longer served is refused. */
async function orRefusal(sending: Promise<Acceptance>): Promise<Acceptance> {
  try {
    return await sending
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
    return { kind: 'refused', why: 'invalid', reason: error.message }
  }
}

const reasonOf = ({ field, reason }: { field?: string; reason: string }) =>
  field === undefined ? reason : mistakeText({ field, reason })

function shownFor(refusal: Refusal): WidgetRefusal {
  if (refusal.why === 'too many') return refusedBy(widgetErrors.tooMany, refusal.reason, refusal.retryAfterSeconds)
  if (refusal.why === 'no funds') return refusedBy(widgetErrors.noFunds, refusal.reason)
  return refusedBy(refusal.field === 'senderName' ? widgetErrors.noSender : NOT_SERVED, reasonOf(refusal))
}

/** What the widget shows of a session. */
export type SessionView = {
  state: 'WAITING' | 'SENT' | 'CONFIRMED' | 'FAILED'
  error?: { code: number; retryAfterSeconds?: number }
  channelType: VerifierChannel
  codeLength: number
  triesLeft: number
  secondsToExpire: number
  secondsToResend: number
  confirmedAt: Date | null
}

const NO_CODE_YET = { triesLeft: 0, secondsToExpire: 0, confirmedAt: null }

/** The state of a widget session. Fails the session if the site's server did not ask for the code in time. */
export async function viewSession(context: SessionContext, widget: Widget, session: Session): Promise<SessionView> {
  const { state: before, error: mark } = await failLate(context.sql, widget, session)
  const [verification, secondsToResend] = await Promise.all([
    verificationOf(context.sql, session),
    secondsToAnother(context.sql, widget.settings, session),
  ])
  const { triesLeft, secondsToExpire, confirmedAt } = verification ?? NO_CODE_YET
  const channelType = channelOf(session, verification)
  const codeLength = codeLengthOf(widget.settings, channelType)
  const state = confirmedAt ? 'CONFIRMED' : before
  const error = state === 'FAILED' ? { error: errorOf(mark!, session) } : {}
  return { state, ...error, channelType, codeLength, triesLeft, secondsToExpire, secondsToResend, confirmedAt }
}

/** Marks a session whose server has had its time. */
async function failLate(sql: Sql, widget: Widget, session: Session): Promise<Pick<Session, 'state' | 'error'>> {
  if (!isLate(session) || !(await failSession(sql, session, lateRefusal(widget)))) return session
  return { state: 'FAILED', error: widgetErrors.notAsked }
}

const verificationOf = async (sql: Sql, { companyId, verificationUuid }: Session) =>
  verificationUuid ? findVerification(sql, companyId, verificationUuid) : undefined

const secondsToAnother = (sql: Sql, settings: VerifierSettings, { companyId, destination, readAt }: Session) =>
  secondsToNextCode(sql, companyId, destination, settings, readAt)

const lateRefusal = ({ page: { isBuilder } }: Widget) =>
  refusedBy(
    widgetErrors.notAsked,
    `The site's server did not call widget/send within ${SEND_WITHIN_SECONDS} s${isBuilder ? '' : '; on a page of a site builder, set --builder on'}`,
  )

/** That of the newest message, which may be a fallback; of a code that was not sent yet, the one asked for. */
const channelOf = ({ state, channelType }: Session, verification: VerificationState | undefined) =>
  state === 'SENT' && verification ? (verification.channelType as VerifierChannel) : channelType

const errorOf = (code: number, { retryAfterSeconds }: Session) => ({
  code,
  ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
})

/** Checks a typed code. Without a sent code the session counts as expired. */
export async function checkTypedCode(
  { checker }: SessionContext,
  session: Session,
  code: string,
): Promise<CheckStatus> {
  if (!session.verificationUuid) return 'EXPIRED'
  const { status } = await checker.check(session.companyId, session.verificationUuid, code)
  return status
}

/** The browser asks for one more code, perhaps over another channel. */
export async function askForAnother(
  { sql }: SessionContext,
  { settings }: Widget,
  session: Session,
  channelType: VerifierChannel,
): Promise<WidgetRefusal | undefined> {
  if (!settings.channels.includes(channelType))
    return refusedBy(NOT_SERVED, `channelType: the widget sends by ${settings.channels.join(', ')} only`)
  if ((await verificationOf(sql, session))?.confirmedAt) return refusedBy(NOT_SERVED, 'The number is confirmed already')
  const seconds = await secondsToAnother(sql, settings, session)
  if (seconds > 0) return refusedBy(widgetErrors.tooMany, `The next code may be sent in ${seconds} s`, seconds)
  await requestAgain(sql, session, channelType)
}

/** The answer to the site's server: WAITING until the right code was typed. */
export type Outcome = { status: 'WAITING' | 'CONFIRMED' | 'EXPIRED' | 'NOT_FOUND'; destination?: string }

export async function outcomeOf(sql: Sql, session: Session | undefined): Promise<Outcome> {
  if (!session) return { status: 'NOT_FOUND' }
  if (session.isOver) return { status: 'EXPIRED' }
  const verification = await verificationOf(sql, session)
  return verification?.confirmedAt ? { status: 'CONFIRMED', destination: session.destination } : { status: 'WAITING' }
}
