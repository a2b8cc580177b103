import type { Logger } from 'pino'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Pool } from '../../db/sql.ts'
import type { RunnableLane, UnsentMessage } from '../../domain/lanes/lane.ts'
import type { QueuedMessage } from '../../domain/messages/message.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import type { CodeBox } from '../../domain/verifications/code-box.ts'
import type { PendingReports } from '../recording/pending-reports.ts'
import type { Recorder } from '../recording/recorder.ts'
import { hasFew } from './lane-queue.ts'
import type { SendSpans } from './send-spans.ts'

/** A message of a chunk. `gatewayId`: an earlier attempt through this gateway may have submitted some of its parts. */
export type Attempt = QueuedMessage & { attempts: number; gatewayId?: number | undefined }

export type SenderContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  recorder: Recorder
  /** Decrypts the texts of verification codes. */
  codes?: CodeBox | undefined
  tracer?: Tracer | undefined
}

/** The state of a chunk while its messages are sent. */
export type Work = SenderContext & {
  lane: RunnableLane
  /** Results that the recorder has not written yet. */
  pending: PendingReports
  /** Messages to be sent later, each at its place in the lane. */
  later: UnsentMessage[]
  /** Messages that have a result, or are to be sent later. */
  decided: Set<string>
  /** Messages that occupy a place in the submission window until their result is recorded. */
  submitted: Set<string>
  spans: SendSpans | undefined
}

/** Gives a result to the recorder. A message of a large dispatch may wait for its receipt: this saves little elsewhere. */
export function record(work: Work, statusReport: StatusReport) {
  work.decided.add(statusReport.uuid)
  const places = work.submitted.delete(statusReport.uuid) ? 1 : 0
  const mayWait = work.lane.dispatchId !== null && !hasFew(work.lane)
  work.recorder.noteFor(work.pending, work.lane.companyId, statusReport, { places, mayWait })
}

export function refuseAll(work: Work, messages: Attempt[], errorCode: number): [] {
  for (const { uuid } of messages) record(work, { uuid, refused: { at: work.clock(), errorCode } })
  return []
}

export function sendLater(work: Work, message: Attempt, dueAt: Date) {
  work.decided.add(message.uuid)
  work.later.push(unsentMessageOf(message, dueAt))
}

/** The place of a message in its lane, from which it is sent again at `dueAt`. */
export const unsentMessageOf = ({ seq, attempts, gatewayId }: Attempt, dueAt: Date): UnsentMessage => ({
  seq,
  attempts,
  dueAt,
  ...(gatewayId ? { gatewayId } : {}),
})

/** Sender names without registration share a lane, where every message has its own name. */
export const senderNameOf = (lane: RunnableLane, message: Attempt) => message.senderName ?? lane.senderName
