import { errorCodes } from '../../base/error-codes.ts'
import { plainWords } from '../../base/plain-words.ts'
import type { Sent } from '../calling-channel.ts'
import { type CallResult, retryAfterMs } from '../http-call.ts'
import type { Limits } from '../limits.ts'

export type Answered = Extract<CallResult, { kind: 'answered' }>

/** A wrong token, an empty purse: someone has to do something about it, so there is no hurry. */
const MISCONFIGURED_RETRY_MS = 5 * 60_000
const UNREACHABLE_RETRY_MS = 5000
const FOREIGN_RETRY_MS = 60_000
const LIMIT_RETRY_MS = 30_000
/** A limit that asks for more than this is no matter of waiting. */
const MOST_LIMIT_MS = 3600_000

/** The result when nobody answered. */
export function unanswered({ kind, reason }: Exclude<CallResult, Answered>): Sent {
  return kind === 'not sent'
    ? { kind: 'busy', reason, retryAfterMs: UNREACHABLE_RETRY_MS }
    : { kind: 'unknown', reason }
}

/** The result when a server is in trouble: what it did with the message is not known, unless it says when to return. */
export function inTrouble({ status, headers }: Answered, now: Date): Sent | undefined {
  if (status < 500) return undefined
  const reason = `Telegram answered ${status}`
  const afterMs = status === 503 ? retryAfterMs(headers, now) : undefined
  return afterMs === undefined ? { kind: 'unknown', reason } : { kind: 'throttled', reason, retryAfterMs: afterMs }
}

/**
 * The result of an answer that does not speak the API's language. A success may have been one; anything else comes
 * from someone between us and Telegram (a proxy, a firewall), who has not passed the message on.
 */
export function foreign({ status }: Answered): Sent {
  const reason = `an answer ${status} that is not Telegram's`
  if (status >= 200 && status < 300) return { kind: 'unknown', reason }
  return { kind: 'busy', reason, retryAfterMs: FOREIGN_RETRY_MS }
}

/** No message can go before the gateway's settings, or its purse, are put right. */
export const misconfigured = (reason: string): Sent => ({
  kind: 'throttled',
  reason,
  retryAfterMs: MISCONFIGURED_RETRY_MS,
})

export const refused = (errorCode: number, operatorError: string): Sent => ({
  kind: 'refused',
  errorCode,
  reason: `Telegram: ${operatorError}`,
  operatorError,
})

/** What Telegram said, without the secrets that its words, or those of someone between us, could repeat; cut. */
export function quoted(words: string, secrets: string[]): string {
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), words)
  return plainWords(clean)
}

/** The result when a subscriber, or everyone, is written to too fast. */
export function limited(limits: Limits, subscriber: string, askedMs = LIMIT_RETRY_MS): Sent {
  const reason = `Telegram asks to wait ${Math.ceil(askedMs / 1000)} s`
  if (askedMs > MOST_LIMIT_MS) return { kind: 'refused', errorCode: errorCodes.telegramLimit, reason }
  return { kind: limits.areForAll(subscriber) ? 'throttled' : 'busy', reason, retryAfterMs: askedMs }
}

/** A number of seconds in an answer, as milliseconds; nothing when it is no such number. */
export const secondsAsMs = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * 1000 : undefined
