import type { CallResult } from '../http-call.ts'
import { retryAfterMs } from '../http-call.ts'

/** The result of a message at one address. */
export type PushResult =
  | { kind: 'accepted' }
  /** Refused, as every other message to this address will be. */
  | { kind: 'gone'; reason: string; operatorError: string }
  | { kind: 'refused'; reason: string; operatorError?: string }
  | { kind: 'busy'; reason: string; retryAfterMs: number }
  /** Throttled or unavailable: this address, or the whole service. */
  | { kind: 'later'; reason: string; retryAfterMs: number }
  /** The service was not called, because it is paused. */
  | { kind: 'paused'; reason: string; retryAfterMs: number }
  | { kind: 'unknown'; reason: string }

/** The result of an answer, for all services. */
export type Meaning = 'gone' | 'refused' | 'later' | 'misconfigured' | 'unknown'

/** The wait when our settings are wrong: a person must correct them. */
export const MISCONFIGURED_MS = 300_000
/** The wait after a call that did not reach the service. */
export const NOT_SENT_MS = 5000
/** The wait that FCM asks for if its answer has none. */
const LATER_MS = 60_000
/** The least wait after a throttled message. */
const LEAST_LATER_MS = 1000

export type Answered = Extract<CallResult, { kind: 'answered' }>
export type Unanswered = Exclude<CallResult, Answered>

export const ofUnanswered = ({ kind, reason }: Unanswered): PushResult =>
  kind === 'not sent' ? { kind: 'busy', reason, retryAfterMs: NOT_SENT_MS } : { kind: 'unknown', reason }

/**
 * Only 503 with `Retry-After` means that the server has certainly not accepted the message. After any other error of the
 * server the message may be delivered.
 */
export function meaningOfTrouble({ status, headers }: Answered, now: Date): Meaning | undefined {
  if (status < 500) return undefined
  return status === 503 && retryAfterMs(headers, now) !== undefined ? 'later' : 'unknown'
}

/** `word` is the error code of the service. Its texts are left out, because they may contain addresses and tokens. */
export function ofMeaning(meaning: Meaning, service: string, word: string, headers: Headers, now: Date): PushResult {
  switch (meaning) {
    case 'gone':
      return { kind: 'gone', reason: `${service} does not know the address any more: ${word}`, operatorError: word }
    case 'refused':
      return { kind: 'refused', reason: `${service} refused the message: ${word}`, operatorError: word }
    case 'later':
      return { kind: 'later', reason: `${service} asks to come later: ${word}`, retryAfterMs: laterMs(headers, now) }
    case 'misconfigured':
      return { kind: 'busy', reason: `${service} refuses our credentials: ${word}`, retryAfterMs: MISCONFIGURED_MS }
    case 'unknown':
      return { kind: 'unknown', reason: `${service} failed: ${word}` }
  }
}

export const laterMs = (headers: Headers, now: Date) => Math.max(retryAfterMs(headers, now) ?? LATER_MS, LEAST_LATER_MS)
