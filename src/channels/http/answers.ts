import { readId } from '../../base/content/plain-words.ts'
import type { Sent } from '../calling-channel.ts'
import { type CallResult, objectOf, retryAfterMs } from '../http-call.ts'
import { readError, refusalCodeOf } from './failures.ts'

type AnsweredCall = Extract<CallResult, { kind: 'answered' }>

/** The settings of the gateway are wrong: its messages wait until a person corrects them. */
const MISCONFIGURED_RETRY_MS = 60_000
const NOT_REACHED_RETRY_MS = 5000
const BROKEN_RETRY_MS = 10_000
/** The wait after a 429 without a time, or with a time of zero. */
const TOO_FAST_RETRY_MS = 1000
const MOST_PARTS = 255

/** The result of a call. docs/gateway-protocol.md has the same rules as a table. */
export function resultOf(called: CallResult, idempotent: boolean, now: Date): Sent {
  switch (called.kind) {
    case 'not sent':
      return { kind: 'busy', reason: called.reason, retryAfterMs: NOT_REACHED_RETRY_MS }
    case 'maybe sent':
      return { kind: idempotent ? 'lost' : 'unknown', reason: called.reason }
    case 'answered':
      return answered(called, idempotent, now)
  }
}

function answered(answer: AnsweredCall, idempotent: boolean, now: Date): Sent {
  const { status } = answer
  if (status >= 200 && status < 300) return accepted(answer) ?? broken('an answer without an id', idempotent)
  if (status === 429) return later(answer, retryAfterMs(answer.headers, now) ?? TOO_FAST_RETRY_MS)
  if (status === 409)
    return { kind: 'lost', reason: 'answer 409: the provider still works on it', retryAfterMs: TOO_FAST_RETRY_MS }
  if (status >= 500) return unavailable(answer, now) ?? broken(`answer ${status}`, idempotent)
  return refused(answer) ?? misconfigured(status)
}

function accepted({ body }: AnsweredCall): Sent | undefined {
  const { id, ids } = objectOf(body)
  const told = Array.isArray(ids) ? ids : [id]
  const providerIds = told.slice(0, MOST_PARTS + 1).flatMap(one => readId(one) ?? [])
  const isReadable = told.length > 0 && told.length <= MOST_PARTS && new Set(providerIds).size === told.length
  return isReadable ? { kind: 'accepted', providerIds } : undefined
}

/** A wait of zero is for this message alone; any other wait is for all messages. */
const later = ({ status }: AnsweredCall, waitMs: number): Sent =>
  waitMs > 0
    ? { kind: 'throttled', reason: `answer ${status}: throttled`, retryAfterMs: waitMs }
    : { kind: 'busy', reason: `answer ${status}`, retryAfterMs: TOO_FAST_RETRY_MS }

/** Only with `Retry-After` the message was certainly not accepted: a proxy also answers 503 after the server accepted it. */
function unavailable(answer: AnsweredCall, now: Date): Sent | undefined {
  const waitMs = answer.status === 503 ? retryAfterMs(answer.headers, now) : undefined
  return waitMs === undefined ? undefined : later(answer, waitMs)
}

/** The message may have been sent. An idempotent provider gets it again, after a long pause because it has a failure. */
const broken = (reason: string, idempotent: boolean): Sent =>
  idempotent ? { kind: 'lost', reason, retryAfterMs: BROKEN_RETRY_MS } : { kind: 'unknown', reason }

/** These statuses are about the gateway and never about one message, even if the body has an error of a message. */
const ABOUT_THE_GATEWAY = [401, 403, 404, 405, 410]

function refused({ status, body }: AnsweredCall): Sent | undefined {
  const { code, message } = readError(objectOf(body).error)
  if (code === undefined || status < 400 || ABOUT_THE_GATEWAY.includes(status)) return undefined
  return { kind: 'refused', errorCode: refusalCodeOf(code), reason: message ?? code, operatorError: code }
}

/** A redirect, missing rights, a wrong address, or an error that the protocol does not have. */
const misconfigured = (status: number): Sent => ({
  kind: 'busy',
  reason: `answer ${status}: the gateway's address or its right to send is wrong`,
  retryAfterMs: MISCONFIGURED_RETRY_MS,
})
