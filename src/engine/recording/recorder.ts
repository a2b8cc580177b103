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
import { WakeUp } from '../sending/wake-up.ts'
import { PendingReports } from './pending-reports.ts'
import { ReceiptPace, type Waited } from './receipt-pace.ts'
import { type Entry, ReportBuffer } from './report-buffer.ts'
import { SetAside } from './set-aside.ts'

const RETRY_MS = 250
/** After `hurry`, how long the recorder still tries to write. */
const PATIENCE_MS = 10_000
/** How often a whole batch is tried that a reachable database refuses, before its halves are tried. */
const WHOLE_TRIES = 3
/** While the node of a company is away, so many reports that come again are kept. */
const MOST_KEPT = 10_000

export type RecorderContext = {
  sql: Pool
  clock: () => Date
  billingZone: string
  log: Logger
  cascades?: RecordingContext['cascades']
  tracer?: Tracer | undefined
}

/** The status reports of a company that are not written yet. */
type Company = {
  buffer: ReportBuffer
  /** The batches that are being written: one, or two while the first is committed. */
  writing: Set<Entry[]>
  /** The error that tells that the node of the company is away. */
  away: unknown
  /** Wakes the recorder that waits for receipts alone. */
  wakeUp: WakeUp
  /** Resolves when all status reports are written. */
  emptied: Promise<void>
}

const newCompany = (): Company => ({
  buffer: new ReportBuffer(),
  writing: new Set(),
  away: undefined,
  wakeUp: new WakeUp(),
  emptied: Promise.resolve(),
})

/**
 * Collects status reports and writes them in batches: one transaction at a time for each company, while the next batch
 * collects. The next transaction begins while the one before is committed, so that it does not wait for the callers of the
 * one before, which submit further messages then. It asks for the lock of the statuses no earlier, so that others get it
 * first.
 *
 * A database that cannot be reached is tried again until it is back; submission pauses meanwhile, because the submission
 * window is full. When a reachable database refuses a batch, the recorder halves the batch until it has found the bad
 * status report and sets that one aside, so that it never stops its company.
 */
export class Recorder {
  /** Messages that were submitted and are not recorded yet. */
  readonly window = new SubmissionWindow()
  readonly #context: RecorderContext
  readonly #pace = new ReceiptPace()
  /** By company, while it has status reports to write. */
  readonly #companies = new Map<number, Company>()
  #giveUpAt = Number.POSITIVE_INFINITY

  constructor(context: RecorderContext) {
    this.#context = context
  }

  /** Submitted messages that are not recorded yet, except messages that wait for their receipts. */
  get unrecorded(): number {
    const awaiting = [...this.#companies.values()].reduce((sum, { buffer }) => sum + buffer.awaiting, 0)
    return this.window.open - awaiting
  }

  /**
   * Resolves when the status report is committed. Rejects with `SetAside` when it can never be written, and with another
   * error when the recorder stopped before.
   */
  note(companyId: number, statusReport: StatusReport): Promise<void> {
    return noteOne(pending => this.noteFor(pending, companyId, statusReport))
  }

  /**
   * For a status report that comes again if it is not written: its cause stays in the database, or the operator repeats
   * it. In a Citus cluster it rejects while the node of the company is away, so that the caller goes on with companies of
   * other nodes. The report is still written when the node is back, before timers of the message can end it.
   */
  noteSoon(companyId: number, statusReport: StatusReport): Promise<void> {
    return noteOne(pending => this.noteSoonFor(pending, companyId, statusReport))
  }

  /**
   * The same as `note`, for one of many reports. When it is written, `places` of the submission window become free.
   * `mayWait`: a submission may wait for its receipt if the gateway is known for prompt receipts.
   */
  noteFor(
    pending: PendingReports,
    companyId: number,
    statusReport: StatusReport,
    { places = 0, mayWait = false }: { places?: number; mayWait?: boolean } = {},
  ): void {
    const onWaited = mayWait ? this.#pace.waitFor(statusReport) : undefined
    const { company, entry } = this.#add(companyId, statusReport, onWaited)
    if (company.away === undefined) entry.places += places
    else this.window.leave(places)
    pending.begin()
    entry.waiting.push(pending)
  }

  /** The same as `noteSoon`, for one of many reports. */
  noteSoonFor(pending: PendingReports, companyId: number, statusReport: StatusReport): void {
    const known = this.#companies.get(companyId)
    const isRefused = known?.away !== undefined && known.buffer.size >= MOST_KEPT
    const { company, entry } = isRefused ? { company: known, entry: undefined } : this.#add(companyId, statusReport)
    pending.begin()
    if (entry && company.away === undefined) entry.waitingSoon.push(pending)
    else pending.failed(statusReport.uuid, company.away)
  }

  #add(companyId: number, statusReport: StatusReport, onWaited?: Waited): { company: Company; entry: Entry } {
    let company = this.#companies.get(companyId)
    if (company) {
      const { buffer } = company
      const wasAwaiting = buffer.isAwaiting
      const entry = buffer.add(statusReport, onWaited)
      if (wasAwaiting && !buffer.isAwaiting) company.wakeUp.now()
      return { company, entry }
    }
    company = newCompany()
    const entry = company.buffer.add(statusReport, onWaited)
    this.#companies.set(companyId, company)
    company.emptied = this.#empty(companyId, company)
    return { company, entry }
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

  async #empty(companyId: number, company: Company) {
    const { buffer } = company
    let committed: Promise<void> | undefined
    for (;;) {
      const readyInMs = buffer.readyInMs()
      if (readyInMs === undefined) {
        if (committed === undefined) break
        await committed
        committed = undefined
      } else if (buffer.isAwaiting) await awake(company.wakeUp.next, readyInMs)
      else if (readyInMs > 0) await pause(readyInMs)
      else {
        const committing = Promise.withResolvers<void>()
        const written = this.#write(companyId, company, buffer.take(), committing.resolve)
        await Promise.race([committing.promise, written])
        await committed // of the batch before: at most two are under way
        committed = written
      }
    }
    this.#companies.delete(companyId)
  }

  async #write(companyId: number, company: Company, batch: Entry[], onCommit: () => void) {
    company.writing.add(batch)
    const isWritten = await this.#writeAll(companyId, company, batch, WHOLE_TRIES, onCommit)
    company.writing.delete(batch)
    const stopped = new Error('the status reports could not be recorded before the engine stopped')
    for (const entry of batch) {
      if (isWritten) resolve(entry)
      else reject(entry, stopped)
    }
    this.window.leave(batch.reduce((sum, { places }) => sum + places, 0))
  }

  /** True when every status report is written or set aside; false when the recorder gave up before. */
  async #writeAll(
    companyId: number,
    company: Company,
    batch: Entry[],
    tries: number,
    onCommit?: () => void,
  ): Promise<boolean> {
    let left = tries
    while (performance.now() < this.#giveUpAt) {
      const err = await this.#tryToWrite(companyId, batch, onCommit)
      company.away = isNodeAway(err) ? err : undefined
      if (company.away !== undefined) this.#releaseOthers(company)
      if (err === undefined) return true
      this.#context.log.error({ err, companyId, statusReports: batch.length }, 'status_reports.not_recorded')
      if (!isPassing(err) && --left === 0) return this.#writeHalves(companyId, company, batch, err)
      await pause(RETRY_MS)
    }
    return false
  }

  /**
   * The node of the company is away, maybe for long: callers that need not wait are told so, and its places in the
   * submission window go to companies of other nodes. No new messages of the company can be submitted meanwhile.
   */
  #releaseOthers({ away, writing, buffer }: Company) {
    for (const entry of [...[...writing].flat(), ...buffer.entries()]) {
      for (const pending of entry.waitingSoon) pending.failed(entry.statusReport.uuid, away)
      entry.waitingSoon = []
      this.window.leave(entry.places)
      entry.places = 0
    }
  }

  /** The error, or undefined when the batch is committed. */
  async #tryToWrite(companyId: number, batch: Entry[], onCommit?: () => void): Promise<unknown> {
    try {
      const { sql, billingZone, clock, cascades, tracer } = this.#context
      const statusReports = batch.map(({ statusReport }) => statusReport)
      const context = { billingZone, now: clock(), ...(cascades ? { cascades } : {}) }
      const changes = await recordStatusReports(sql, companyId, statusReports, context, onCommit)
      if (tracer) traceEnds(tracer, companyId, changes, clock())
    } catch (err) {
      return err ?? new Error('an error without a reason')
    }
  }

  async #writeHalves(companyId: number, company: Company, batch: Entry[], err: unknown): Promise<boolean> {
    const [first] = batch
    if (first && batch.length === 1) return this.#setAside(companyId, first, err)
    const half = Math.ceil(batch.length / 2)
    return (
      (await this.#writeAll(companyId, company, batch.slice(0, half), 1)) &&
      (await this.#writeAll(companyId, company, batch.slice(half), 1))
    )
  }

  #setAside(companyId: number, entry: Entry, err: unknown): true {
    const { uuid, ...learned } = entry.statusReport
    const { code, message: reason } = err as { code?: string; message?: string }
    const fields = { companyId, messageUuid: uuid, learned: Object.keys(learned), code, reason }
    this.#context.log.error(fields, 'status_report.set_aside')
    reject(entry, new SetAside(`the status report of message ${uuid} cannot be written`))
    return true
  }
}

/** Waits for so long, or until it is woken up. */
async function awake(wakeUp: Promise<void>, ms: number) {
  const timer = new AbortController()
  await Promise.race([wakeUp, pause(ms, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
}

/** One report with a promise of its own. A rejection that no caller waits for is no error of the process. */
function noteOne(noteFor: (pending: PendingReports) => void): Promise<void> {
  const pending = new PendingReports()
  noteFor(pending)
  const written = pending.ended().then(() => {
    for (const error of pending.failures.values()) throw error
  })
  written.catch(() => {})
  return written
}

function resolve({ waiting, waitingSoon }: Entry) {
  for (const pending of waiting) pending.written()
  for (const pending of waitingSoon) pending.written()
}

/** The rest of its batch is resolved later: the entry must then have no callers any more. */
function reject(entry: Entry, error: Error) {
  const { waiting, waitingSoon, statusReport } = entry
  entry.waiting = []
  entry.waitingSoon = []
  for (const pending of [...waiting, ...waitingSoon]) pending.failed(statusReport.uuid, error)
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
