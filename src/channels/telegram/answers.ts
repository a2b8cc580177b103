import { plainWords } from '../../base/content/plain-words.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Sent } from '../calling-channel.ts'
import { type CallResult, retryAfterMs } from '../http-call.ts'
import type { Limits } from '../limits.ts'

export type Answered = Extract<CallResult, { kind: 'answered' }>

/** The wait when the token is wrong or the account has no money: a person must correct it. */
const MISCONFIGURED_RETRY_MS = 5 * 60_000
const UNREACHABLE_RETRY_MS = 5000
const FOREIGN_RETRY_MS = 60_000
const LIMIT_RETRY_MS = 30_000
/** If Telegram asks for a longer wait than this, the message is refused. */
const MOST_LIMIT_MS = 3600_000

/** The result of a call without an answer. */
export function unanswered({ kind, reason }: Exclude<CallResult, Answered>): Sent {
  return kind === 'not sent'
    ? { kind: 'busy', reason, retryAfterMs: UNREACHABLE_RETRY_MS }
    : { kind: 'unknown', reason }
}

/** The result of a server error: the message may have been sent, unless the answer has a time to retry. */
export function inTrouble({ status, headers }: Answered, now: Date): Sent | undefined {
  if (status < 500) return undefined
  const reason = `Telegram answered ${status}`
  const afterMs = status === 503 ? retryAfterMs(headers, now) : undefined
  return afterMs === undefined ? { kind: 'unknown', reason } : { kind: 'throttled', reason, retryAfterMs: afterMs }
}

/**
 * The result of an answer that is not in the format of the API. With a status of success the message may have been sent.
 * Any other answer comes from a proxy or a firewall, which has not forwarded the message.
 */
export function foreign({ status }: Answered): Sent {
  const reason = `an answer ${status} that is not Telegram's`
  if (status >= 200 && status < 300) return { kind: 'unknown', reason }
  return { kind: 'busy', reason, retryAfterMs: FOREIGN_RETRY_MS }
}

/** No message can be sent before the settings or the balance of the gateway are corrected. */
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

/** The text of the answer, shortened and without secrets, which Telegram or a proxy could repeat. */
export function quoted(words: string, secrets: string[]): string {
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), words)
  return plainWords(clean)
}

/** The result when Telegram limits a subscriber or the whole bot. */
export function limited(limits: Limits, subscriber: string, askedMs = LIMIT_RETRY_MS): Sent {
  const reason = `Telegram asks to wait ${Math.ceil(askedMs / 1000)} s`
  if (askedMs > MOST_LIMIT_MS) return { kind: 'refused', errorCode: errorCodes.telegramLimit, reason }
  return { kind: limits.areForAll(subscriber) ? 'throttled' : 'busy', reason, retryAfterMs: askedMs }
}

/** The seconds in an answer, as milliseconds; undefined if the value is no number of seconds. */
export const secondsAsMs = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * 1000 : undefined
