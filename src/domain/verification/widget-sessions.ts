import { AppError } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { Acceptance, Refusal } from '../singles/single.ts'
import type { CodeChecker } from '../verifications/checker.ts'
import type { CheckStatus } from '../verifications/verification.ts'
import { findVerification, secondsToNextCode, type VerificationState } from '../verifications/verifications.ts'
import type { VerifierChannel, VerifierSettings, Widget } from '../verifiers/verifier.ts'
import { askAgain, failSession, isLate, SEND_WITHIN_SECONDS } from '../widgets/sessions.ts'
import { BAD_REQUEST, refusedBy, type Session, type WidgetRefusal, widgetErrors } from '../widgets/widget.ts'
import { codeLengthOf, type SendContext, sendCode } from './sends.ts'

export type SessionContext = SendContext & { sql: Pool; clock: () => Date; checker: CodeChecker }

/**
 * Sends the code that the browser asked for. The site's server may call as often as it likes: each code that was asked
 * for is sent once, and the session is marked in the transaction that accepts the message. A refusal is shown by the
 * widget.
 */
export async function sendForSession(context: SessionContext, widget: Widget, session: Session): Promise<Acceptance> {
  if (session.state === 'SENT') return { kind: 'accepted', uuid: session.messageUuid! }
  const outcome = await orRefusal(sendCode(context, widget, requestOf(session), onceOf(session)))
  if (outcome.kind === 'refused') await failSession(context.sql, session, shownFor(outcome))
  return outcome
}

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
    return { kind: 'refused', why: 'invalid', code: BAD_REQUEST, reason: error.message }
  }
}

function shownFor(refusal: Refusal): WidgetRefusal {
  if (refusal.why === 'too many') return refusedBy(widgetErrors.tooMany, refusal.reason, refusal.retryAfterSeconds)
  if (refusal.why === 'no funds') return refusedBy(widgetErrors.noFunds, refusal.reason)
  const isName = /(^|\.)senderName\b/.test(refusal.reason)
  return refusedBy(isName ? widgetErrors.noSender : BAD_REQUEST, refusal.reason)
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

/** Where a session stands. A server that did not ask for the code in time is noticed here. */
export async function viewSession(context: SessionContext, widget: Widget, session: Session): Promise<SessionView> {
  const { sql, clock } = context
  if (isLate(session)) {
    await failSession(sql, session, lateRefusal(widget))
    return viewSession(context, widget, { ...session, state: 'FAILED', error: widgetErrors.notAsked })
  }
  const { companyId, destination, verificationUuid } = session
  const [verification, secondsToResend] = await Promise.all([
    verificationUuid ? findVerification(sql, companyId, verificationUuid) : undefined,
    secondsToNextCode(sql, companyId, destination, widget.settings, clock()),
  ])
  const { triesLeft, secondsToExpire, confirmedAt } = verification ?? NO_CODE_YET
  const channelType = channelOf(session, verification)
  const codeLength = codeLengthOf(widget.settings, channelType)
  const state = confirmedAt ? 'CONFIRMED' : session.state
  const error = state === 'FAILED' ? { error: errorOf(session) } : {}
  return { state, ...error, channelType, codeLength, triesLeft, secondsToExpire, secondsToResend, confirmedAt }
}

const lateRefusal = ({ page: { isBuilder } }: Widget) =>
  refusedBy(
    widgetErrors.notAsked,
    `The site's server did not call widget/send within ${SEND_WITHIN_SECONDS} s${isBuilder ? '' : '; on a page of a site builder, set --builder on'}`,
  )

/** That of the newest message, which may be a fallback; of a code that was not sent yet, the one asked for. */
const channelOf = ({ state, channelType }: Session, verification: VerificationState | undefined) =>
  state === 'SENT' && verification ? (verification.channelType as VerifierChannel) : channelType

const errorOf = ({ error, retryAfterSeconds }: Session) => ({
  code: error!,
  ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
})

/** What a typed code is worth. One that was never sent is over. */
export async function typeCode({ checker }: SessionContext, session: Session, code: string): Promise<CheckStatus> {
  if (!session.verificationUuid) return 'EXPIRED'
  const { status } = await checker.check(session.companyId, session.verificationUuid, code)
  return status
}

/** The browser asks for one more code, perhaps over another channel. */
export async function askForAnother(
  context: SessionContext,
  { settings }: Widget,
  session: Session,
  channelType: VerifierChannel,
): Promise<WidgetRefusal | undefined> {
  if (!settings.channels.includes(channelType))
    return refusedBy(BAD_REQUEST, `channelType: the widget sends by ${settings.channels.join(', ')} only`)
  const seconds = await secondsToResend(context, settings, session)
  if (seconds > 0) return refusedBy(widgetErrors.tooMany, `The next code may be sent in ${seconds} s`, seconds)
  await askAgain(context.sql, session, channelType)
}

const secondsToResend = ({ sql, clock }: SessionContext, settings: VerifierSettings, session: Session) =>
  secondsToNextCode(sql, session.companyId, session.destination, settings, clock())

/** What the site's server is told: WAITING until the right code was typed. */
export type Outcome = { status: 'WAITING' | 'CONFIRMED' | 'EXPIRED' | 'NOT_FOUND'; destination?: string }

export async function outcomeOf(sql: Sql, session: Session | undefined): Promise<Outcome> {
  if (!session) return { status: 'NOT_FOUND' }
  if (session.isOver) return { status: 'EXPIRED' }
  const { companyId, verificationUuid, destination } = session
  const verification = verificationUuid ? await findVerification(sql, companyId, verificationUuid) : undefined
  return verification?.confirmedAt ? { status: 'CONFIRMED', destination } : { status: 'WAITING' }
}
