import { readId } from '../../base/content/plain-words.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Sent } from '../calling-channel.ts'
import { type CallResult, objectIn, objectOf, retryAfterMs } from '../http-call.ts'

type AnsweredCall = Extract<CallResult, { kind: 'answered' }>
type CloudError = { code: number; subcode: unknown; isTransient: boolean }

/** Errors for all messages of the number or the account, with the wait in ms if the answer has none. */
const THROTTLED_MS: Record<number, number> = {
  2: 10_000, // temporarily unavailable
  4: 60_000, // too many calls of the application in this hour
  80007: 60_000, // too many calls for the account
  130429: 2000, // more messages a second than the number may send
  131016: 10_000, // temporarily unavailable
  131048: 300_000, // too many were blocked or reported as spam
  131057: 60_000, // the account is being maintained
}

/** One subscriber got too many messages; Meta allows one every six seconds. */
const PAIR_TOO_FAST = 131056
const PAIR_RETRY_MS = 6000

/** Errors of the gateway: a person must correct the token, a permission, the account or the number. */
const MISCONFIGURED = new Set([
  0, // the token
  3, // a capability or permission
  10, // a permission
  33, // the number was deleted
  190, // the token
  368, // the account is blocked
  131005, // a permission
  131031, // the account is locked
  131037, // the display name is not approved
  131042, // the account cannot pay
  131045, // the number's registration
  133010, // the number is not registered
])
const MISCONFIGURED_RETRY_MS = 60_000

/** Comes with 403, but is about the subscriber: messages to this country are not allowed. */
const COUNTRY_NOT_ALLOWED = 130497

const NOT_REACHED_RETRY_MS = 5000
const TRANSIENT_RETRY_MS = 10_000
const LEAST_RETRY_MS = 1000

/**
 * The result of a call. Meta asks clients to use the code of an error; without a code the status decides. The text of an
 * error is left out, because it can contain the token.
 */
export function resultOf(result: CallResult, now: Date): Sent {
  if (result.kind === 'not sent') return busy(result.reason, NOT_REACHED_RETRY_MS)
  if (result.kind === 'maybe sent') return { kind: 'unknown', reason: result.reason }
  const error = errorOf(result.body)
  const askedMs = retryAfterMs(result.headers, now)
  return (
    taken(result) ??
    inTrouble(result, error, askedMs) ??
    throttled(result, error, askedMs) ??
    tooFastForOne(error, askedMs) ??
    misconfigured(result, error) ??
    maybeTaken(result, error) ??
    notMetasWord(result, error) ??
    passing(error) ??
    refused(error!)
  )
}

const busy = (reason: string, retryAfterMs: number): Sent => ({ kind: 'busy', reason, retryAfterMs })

function errorOf(body: string): CloudError | undefined {
  const error = objectIn(objectOf(body).error)
  if (typeof error.code !== 'number') return undefined
  return { code: error.code, subcode: error.error_subcode, isTransient: error.is_transient === true }
}

function taken({ status, body }: AnsweredCall): Sent | undefined {
  if (status < 200 || status > 299) return undefined
  const { messages } = objectOf(body)
  const { id } = objectIn(Array.isArray(messages) ? messages[0] : undefined)
  const providerId = typeof id === 'string' ? readId(id) : undefined
  return providerId
    ? { kind: 'accepted', providerIds: [providerId] }
    : { kind: 'unknown', reason: 'taken without an id' }
}

/** After a server error the message may have been sent, with any error code, unless the answer has a time to retry. */
function inTrouble(
  { status }: AnsweredCall,
  error: CloudError | undefined,
  askedMs: number | undefined,
): Sent | undefined {
  if (status < 500) return undefined
  const reason = wordsFor(status, error)
  const isLater = status === 503 && askedMs !== undefined
  return isLater ? { kind: 'throttled', reason, retryAfterMs: atLeast(askedMs) } : { kind: 'unknown', reason }
}

function throttled(
  { status }: AnsweredCall,
  error: CloudError | undefined,
  askedMs: number | undefined,
): Sent | undefined {
  const ownMs = error && THROTTLED_MS[error.code]
  const isAsked = status === 429 && error?.code !== PAIR_TOO_FAST
  if (ownMs === undefined && !isAsked) return undefined
  return { kind: 'throttled', reason: wordsFor(status, error), retryAfterMs: atLeast(askedMs ?? ownMs) }
}

function tooFastForOne(error: CloudError | undefined, askedMs: number | undefined): Sent | undefined {
  if (error?.code === PAIR_TOO_FAST) return busy(wordsOf(error), atLeast(askedMs ?? PAIR_RETRY_MS))
}

const atLeast = (ms = TRANSIENT_RETRY_MS) => Math.max(ms, LEAST_RETRY_MS)

function misconfigured({ status }: AnsweredCall, error: CloudError | undefined): Sent | undefined {
  const isOurs =
    status === 401 || (status === 403 && error?.code !== COUNTRY_NOT_ALLOWED) || (error && isAboutUs(error))
  if (isOurs) return busy(wordsFor(status, error), MISCONFIGURED_RETRY_MS)
}

/** Meta answers a wrong id of the number with code 100 and subcode 33: "object does not exist". */
const isAboutUs = ({ code, subcode }: CloudError) =>
  MISCONFIGURED.has(code) || (code >= 200 && code <= 299) || (code === 100 && subcode === 33)

/** It is not known how much of the request was read. */
function maybeTaken({ status }: AnsweredCall, error: CloudError | undefined): Sent | undefined {
  if (status === 408) return { kind: 'unknown', reason: wordsFor(status, error) }
}

/** A redirect, or an error page that is not from Meta: the message was not read, and the address is probably wrong. */
function notMetasWord({ status }: AnsweredCall, error: CloudError | undefined): Sent | undefined {
  if (!error) return busy(wordsFor(status, error), MISCONFIGURED_RETRY_MS)
}

function passing(error: CloudError | undefined): Sent | undefined {
  if (error?.isTransient) return busy(wordsOf(error), TRANSIENT_RETRY_MS)
}

const refused = (error: CloudError): Sent => ({
  kind: 'refused',
  errorCode: errorCodes.refusedByChannel,
  reason: wordsOf(error),
  operatorError: String(error.code),
})

const wordsFor = (status: number, error: CloudError | undefined) =>
  error ? wordsOf(error) : `WhatsApp answered ${status}`

const wordsOf = ({ code }: CloudError) => `WhatsApp error ${code}`

/** The subscriber has no WhatsApp, or a version that is too old. */
const UNDELIVERABLE = '131026'

/** Our error code for a failure after the message was accepted. */
export const errorCodeOf = (operatorError: string | undefined): number =>
  operatorError === UNDELIVERABLE ? errorCodes.undelivered : errorCodes.refusedByChannel
