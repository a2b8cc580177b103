import {
  type BatchResult,
  type CallbackBatch,
  FAILURES_UNTIL_PROBE,
  type Receiver,
  type ReceiverKey,
} from '../../domain/callbacks/callback.ts'
import type { Signer } from '../../domain/callbacks/signature.ts'
import { type PostResult, type Target, targetOf } from './request.ts'

/** A receiver that this engine serves now, because it has the lease of the receiver. */
export type Session = Receiver & {
  /** On the clock of `performance.now()`: until then no other engine can have taken the receiver over. */
  safeUntil: number
  /** On the same clock: after it the session ends if other receivers wait. */
  sliceEnd: number
  /** The receiver was paused when the session began, and has accepted no request since. */
  beganPaused: boolean
  /** Too many requests failed in a row: the next request is a probe, some time later. */
  paused: boolean
  /** How many events the next round reads. */
  roundEvents: number
  batches: OpenBatch[]
}

export type OpenBatch = CallbackBatch & {
  receiver: string
  target: Target | undefined
  sign: Signer
  /** The receiver accepted events of this batch that the database does not show as accepted yet. */
  unsaved: boolean
  /** Events of a message were postponed in this round. */
  refused: boolean
  tried: number
  taken: number
  slowestMs: number
  last?: { statusCode: number; answer: string }
  failure?: { statusCode?: number; answer?: string; error?: string; tookMs: number }
}

/** An event that is to be sent. `index` is its place in the batch. */
export type PendingEvent = { batch: OpenBatch; index: number; messageUuid: string }

/** The events of one request: one event of the partner API, or an array of the messaging API for one address. */
export type CallbackRequest = [PendingEvent, ...PendingEvent[]]

/** Events that the first round of a session reads. Later rounds depend on how fast the receiver is. */
export const FIRST_ROUND_EVENTS = 250

export function newSession(receiver: Receiver, safeUntil: number, sliceEnd: number): Session {
  return {
    ...receiver,
    safeUntil,
    sliceEnd,
    beganPaused: receiver.failures >= FAILURES_UNTIL_PROBE,
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

type Answered = Extract<PostResult, { kind: 'answered' }>

/** One accepted request is enough: the receiver counts as reachable again, also if other requests failed meanwhile. */
export function recordAccepted(
  session: Session,
  request: CallbackRequest,
  { statusCode, answer }: Answered,
  tookMs: number,
) {
  session.failures = 0
  session.paused = false
  session.beganPaused = false
  for (const { batch, index } of request) {
    batch.done[index] = true
    batch.unsaved = true
    batch.tried += 1
    batch.taken += 1
    batch.last = { statusCode, answer }
    batch.slowestMs = Math.max(batch.slowestMs, tookMs)
  }
}

export function recordRefused(session: Session, request: CallbackRequest, result: PostResult, tookMs: number) {
  session.failures += 1
  session.paused ||= session.failures >= FAILURES_UNTIL_PROBE
  for (const { batch } of request) {
    batch.tried += 1
    batch.failure ??= {
      tookMs,
      ...(result.kind === 'answered' && { statusCode: result.statusCode, answer: result.answer }),
      ...(result.kind === 'failed' && { error: result.error }),
    }
  }
}

/** Leaves the events of a message for the next attempt of the batch. */
export function postpone(batch: OpenBatch, messageUuid: string) {
  batch.held.add(messageUuid)
  batch.refused = true
}

/** The result of the round for one batch, as the database stores it. */
export function resultOf(batch: OpenBatch, now: Date, retryAt: Date): BatchResult {
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
