import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isNodeAway, isPassing } from '../../base/database-losses.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Pool } from '../../db/sql.ts'
import type { StatusChange } from '../../domain/messages/messages.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import type { RecordingContext } from '../../domain/recording/context.ts'
import { recordStatusReports } from '../../domain/recording/recording.ts'
import { SubmissionWindow } from '../sending/submission-window.ts'
import { type Entry, ReportBuffer } from './report-buffer.ts'
import { SetAside } from './set-aside.ts'

const RETRY_MS = 250
/** After `hurry`, how long the recorder still tries to write. */
const PATIENCE_MS = 10_000
/** How often a whole batch is tried that a reachable database refuses, before its halves are tried. */
const WHOLE_TRIES = 3

export type RecorderContext = {
  sql: Pool
  clock: () => Date
  billingZone: string
  log: Logger
  cascades?: RecordingContext['cascades']
  tracer?: Tracer | undefined
}

/**
 * Collects status reports and writes them in batches: one transaction at a time for each company, while the next batch
 * collects. A database that cannot be reached is tried again until it is back; submission pauses meanwhile, because the
 * submission window is full. When a reachable database refuses a batch, the recorder halves the batch until it has found
 * the bad status report and sets that one aside, so that it never stops its company.
 */
export class Recorder {
  /** Messages that were submitted and are not recorded yet. */
  readonly window = new SubmissionWindow()
  readonly #context: RecorderContext
  /** By company, while it has status reports to write. `emptied` resolves when all of them are written. */
  readonly #companies = new Map<number, { buffer: ReportBuffer; emptied: Promise<void> }>()
  /** By company whose node is away: the error that told so. */
  readonly #away = new Map<number, unknown>()
  #giveUpAt = Number.POSITIVE_INFINITY

  constructor(context: RecorderContext) {
    this.#context = context
  }

  /**
   * Resolves when the status report is committed. Rejects with `SetAside` when it can never be written, and with another
   * error when the recorder stopped before. Then `places` of the submission window become free.
   */
  note(companyId: number, statusReport: StatusReport, places = 0): Promise<void> {
    const entry = this.#add(companyId, statusReport)
    entry.places += places
    entry.isUnique = true
    return entry.written.promise
  }

  /**
   * For a status report whose cause stays in the database until it is written, and is found again. In a Citus cluster it
   * rejects while the node of the company is away, so that the caller goes on with the companies of other nodes.
   */
  noteFound(companyId: number, statusReport: StatusReport): Promise<void> {
    const away = this.#away.get(companyId)
    return away === undefined ? this.#add(companyId, statusReport).written.promise : Promise.reject(away)
  }

  #add(companyId: number, statusReport: StatusReport): Entry {
    const buffer = this.#companies.get(companyId)?.buffer ?? new ReportBuffer()
    const { entry, isNew } = buffer.add(statusReport)
    if (isNew) entry.written.promise.catch(() => {}) // the caller may not wait for it any more
    if (!this.#companies.has(companyId))
      this.#companies.set(companyId, { buffer, emptied: this.#empty(companyId, buffer) })
    return entry
  }

  /** The engine is about to stop: a batch that cannot be written within a few seconds is given up. */
  hurry(): void {
    // Nothing is lost: the leases of these messages run out, and the worker that takes them over sends them again.
    this.#giveUpAt = Math.min(this.#giveUpAt, performance.now() + PATIENCE_MS)
  }

  /** Writes all status reports that are left. */
  async stop(): Promise<void> {
    this.hurry()
    while (this.#companies.size > 0) await Promise.all([...this.#companies.values()].map(({ emptied }) => emptied))
  }

  async #empty(companyId: number, buffer: ReportBuffer) {
    for (let readyInMs = buffer.readyInMs(); readyInMs !== undefined; readyInMs = buffer.readyInMs()) {
      if (readyInMs > 0) await pause(readyInMs)
      else await this.#write(companyId, buffer.take())
    }
    this.#companies.delete(companyId)
    this.#away.delete(companyId)
  }

  async #write(companyId: number, batch: Entry[]) {
    const isWritten = await this.#writeAll(companyId, batch, WHOLE_TRIES)
    for (const { written } of batch) {
      if (isWritten) written.resolve()
      else written.reject(new Error('the status reports could not be recorded before the engine stopped'))
    }
    this.window.leave(batch.reduce((sum, { places }) => sum + places, 0))
  }

  /** True when every status report is written or set aside; false when the recorder gave up before. */
  async #writeAll(companyId: number, batch: Entry[], tries: number): Promise<boolean> {
    let left = tries
    while (performance.now() < this.#giveUpAt) {
      const err = await this.#tryToWrite(companyId, batch)
      if (isNodeAway(err)) this.#leaveFound(companyId, batch, err)
      else this.#away.delete(companyId)
      if (err === undefined) return true
      this.#context.log.error({ err, companyId, statusReports: batch.length }, 'status_reports.not_recorded')
      if (!isPassing(err) && --left === 0) return this.#writeHalves(companyId, batch, err)
      await pause(RETRY_MS)
    }
    return false
  }

  /** The callers that find their cause again do not wait for the node. */
  #leaveFound(companyId: number, batch: Entry[], err: unknown) {
    this.#away.set(companyId, err)
    const found = batch.filter(({ isUnique }) => !isUnique)
    for (const { written } of [...found, ...(this.#companies.get(companyId)?.buffer.takeFoundAgain() ?? [])]) {
      written.reject(err)
    }
  }

  /** The error, or undefined when the batch is committed. */
  async #tryToWrite(companyId: number, batch: Entry[]): Promise<unknown> {
    try {
      const { sql, billingZone, clock, cascades, tracer } = this.#context
      const statusReports = batch.map(({ statusReport }) => statusReport)
      const context = { billingZone, now: clock(), ...(cascades ? { cascades } : {}) }
      const changes = await recordStatusReports(sql, companyId, statusReports, context)
      if (tracer) traceEnds(tracer, companyId, changes, clock())
    } catch (err) {
      return err ?? new Error('an error without a reason')
    }
  }

  async #writeHalves(companyId: number, batch: Entry[], err: unknown): Promise<boolean> {
    const [first] = batch
    if (first && batch.length === 1) return this.#setAside(companyId, first, err)
    const half = Math.ceil(batch.length / 2)
    return (
      (await this.#writeAll(companyId, batch.slice(0, half), 1)) &&
      (await this.#writeAll(companyId, batch.slice(half), 1))
    )
  }

  #setAside(companyId: number, { statusReport, written }: Entry, err: unknown): true {
    const { uuid, ...learned } = statusReport
    const { code, message: reason } = err as { code?: string; message?: string }
    const fields = { companyId, messageUuid: uuid, learned: Object.keys(learned), code, reason }
    this.#context.log.error(fields, 'status_report.set_aside')
    written.reject(new SetAside(`the status report of message ${uuid} cannot be written`))
    return true
  }
}

/** The life of a message ends with its final status. */
function traceEnds(tracer: Tracer, companyId: number, changes: StatusChange[], endedAt: Date) {
  for (const { uuid, to, errorCode } of changes) {
    if (to === 'SENT' || !tracer.isTraced(uuid)) continue
    const attributes = {
      'tidings.company_id': companyId,
      'tidings.status': to,
      'tidings.error_code': errorCode ?? undefined,
    }
    tracer.whole(uuid, { startedAt: timeOfUuid7(uuid), endedAt, attributes, isFailed: to === 'FAILED' })
  }
}
