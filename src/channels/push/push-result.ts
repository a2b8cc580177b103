import type { CallResult } from '../http-call.ts'
import { retryAfterMs } from '../http-call.ts'

/** What became of a message at one address. */
export type PushResult =
  | { kind: 'accepted' }
  /** Refused, and so will be every other message to this address. */
  | { kind: 'gone'; reason: string; operatorError: string }
  | { kind: 'refused'; reason: string; operatorError?: string }
  | { kind: 'busy'; reason: string; retryAfterMs: number }
  /** Too fast, or not now: for this address, or for all of the service. */
  | { kind: 'later'; reason: string; retryAfterMs: number }
  /** The service was not called: it had asked to be left alone. */
  | { kind: 'paused'; reason: string; retryAfterMs: number }
  | { kind: 'unknown'; reason: string }

/** What an answer means, whoever gave it. */
export type Meaning = 'gone' | 'refused' | 'later' | 'misconfigured' | 'unknown'

/** Nothing mends itself in our settings: somebody has to come and look. */
export const MISCONFIGURED_MS = 300_000
/** A call that reached nobody. */
export const NOT_SENT_MS = 5000
/** What FCM asks for where it does not say how long. */
const LATER_MS = 60_000
/** "At once" is no answer to "too fast". */
const LEAST_LATER_MS = 1000

export type Answered = Extract<CallResult, { kind: 'answered' }>
export type Unanswered = Exclude<CallResult, Answered>

export const ofUnanswered = ({ kind, reason }: Unanswered): PushResult =>
  kind === 'not sent' ? { kind: 'busy', reason, retryAfterMs: NOT_SENT_MS } : { kind: 'unknown', reason }

/**
 * A server in trouble has surely not taken a message only when it says when to come back with it: 503 with
 * `Retry-After`. After any other failure of it, the message may be on its way.
 */
export function meaningOfTrouble({ status, headers }: Answered, now: Date): Meaning | undefined {
  if (status < 500) return undefined
  return status === 503 && retryAfterMs(headers, now) !== undefined ? 'later' : 'unknown'
}

/** `word` is the other side's own word for it. Its texts are not repeated: they may quote addresses and tokens. */
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
