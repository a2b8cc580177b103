import {
  type CallbackBatch,
  type CallbackPass,
  FAILURES_UNTIL_PROBE,
  type Receiver,
  type ReceiverKey,
} from '../../domain/callbacks/callback.ts'
import type { Signer } from '../../domain/callbacks/signature.ts'
import { type Answer, type Target, targetOf } from './request.ts'

/** A receiver in our hands. */
export type Session = Receiver & {
  /** By performance.now(): until when nobody else can have taken it over. */
  safeUntil: number
  sliceEnd: number
  /** It was paused when it came to us, and has taken nothing since. */
  cameToUsPaused: boolean
  /** It failed too often: a probe later, nothing now. */
  paused: boolean
  roundEvents: number
  batches: OpenBatch[]
}

export type OpenBatch = CallbackBatch & {
  receiver: string
  target: Target | undefined
  sign: Signer
  /** Something was taken that the database does not know yet. */
  unsaved: boolean
  /** A message is left behind in this pass. */
  refused: boolean
  tried: number
  taken: number
  slowestMs: number
  last?: { statusCode: number; answer: string }
  failure?: { statusCode?: number; answer?: string; error?: string; tookMs: number }
}

/** An event on its way: a place in a batch. */
export type Item = { batch: OpenBatch; index: number }

/** What one request carries: one event of the partner API, or an array of the messaging API for one address. */
export type Parcel = Item[]

/** Events of one receiver in memory at once, until it is known how quickly it takes them. */
export const FIRST_ROUND_EVENTS = 250

export function newSession(receiver: Receiver, safeUntil: number, sliceEnd: number): Session {
  return {
    ...receiver,
    safeUntil,
    sliceEnd,
    cameToUsPaused: receiver.failures >= FAILURES_UNTIL_PROBE,
    paused: false,
    roundEvents: FIRST_ROUND_EVENTS,
    batches: [],
  }
}

export const keyOf = ({ companyId, receiver }: ReceiverKey) => `${companyId} ${receiver}`
export const shownOf = ({ companyId, receiver }: ReceiverKey) => ({ companyId, receiver })

export const openBatch = (batch: CallbackBatch, { receiver }: Session, sign: Signer): OpenBatch => ({
  ...batch,
  receiver,
  target: targetOf(batch.url),
  sign,
  unsaved: false,
  refused: false,
  tried: 0,
  taken: 0,
  slowestMs: 0,
})

type Answered = Extract<Answer, { kind: 'answered' }>

/** The receiver is well again, whatever else failed meanwhile. */
export function noteTaken(session: Session, parcel: Parcel, { statusCode, answer }: Answered, tookMs: number) {
  session.failures = 0
  session.paused = false
  session.cameToUsPaused = false
  for (const { batch, index } of parcel) {
    batch.done[index] = true
    batch.unsaved = true
    batch.tried += 1
    batch.taken += 1
    batch.last = { statusCode, answer }
    batch.slowestMs = Math.max(batch.slowestMs, tookMs)
  }
}

export function noteRefused(session: Session, parcel: Parcel, answer: Answer, tookMs: number) {
  session.failures += 1
  session.paused ||= session.failures >= FAILURES_UNTIL_PROBE
  for (const { batch } of parcel) {
    batch.tried += 1
    batch.failure ??= {
      tookMs,
      ...(answer.kind === 'answered' && { statusCode: answer.statusCode, answer: answer.answer }),
      ...(answer.kind === 'failed' && { error: answer.error }),
    }
  }
}

/** Leaves a message's events behind until the next try. */
export function hold(batch: OpenBatch, messageUuid: string) {
  batch.held.add(messageUuid)
  batch.refused = true
}

/** What became of a batch, for the database. */
export function passOf(batch: OpenBatch, now: Date, retryAt: Date): CallbackPass {
  return {
    batch,
    ...(batch.refused && { retryAt }),
    ...((batch.failure || (batch.tried > 0 && batch.done.every(Boolean))) && {
      attempt: {
        attemptedAt: now,
        triedEvents: batch.tried,
        deliveredEvents: batch.taken,
        ...(batch.failure ?? { ...batch.last, tookMs: batch.slowestMs }),
      },
    }),
  }
}
