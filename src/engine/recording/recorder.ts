import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isPassing } from '../../base/database-losses.ts'
import type { Pool } from '../../db/sql.ts'
import { recordStatusReports } from '../../domain/sending/recording.ts'
import type { RecordingContext, StatusReport } from '../../domain/sending/status-report.ts'
import { SubmissionWindow } from '../sending/submission-window.ts'
import { createDesk, type Desk, type Entry } from './report-buffer.ts'
import { SetAside } from './set-aside.ts'

const RETRY_MS = 250
const PATIENCE_MS = 10_000
/** So often a batch is tried as a whole when the database is there and does not take it. */
const WHOLE_TRIES = 3

export type Recorder = {
  /**
   * Notes what was learned of a message; resolves when it is committed, rejects when that has been given up, with
   * `SetAside` when the status report itself is to blame. `places` in the window are free from then on.
   */
  note(companyId: number, statusReport: StatusReport, places?: number): Promise<void>
  /** What is handed over and not recorded yet. */
  window: SubmissionWindow
  /** We are about to stop: what cannot be written within a few seconds from now is given up. */
  hurry(): void
  /** Writes what is left. */
  stop(): Promise<void>
}

/**
 * Collects what the engine learns and writes it in batches, one transaction of a company at a time; what comes in
 * meanwhile becomes the next batch. What is learned of a message before it is written becomes one status report:
 * taken and delivered is one step, a receipt told twice is one receipt. While the database is away a batch is tried
 * again until it is written; meanwhile submission pauses. What a database that is there does not take is looked for by
 * halves and set aside, so that one bad status report never stops its company.
 */
export function createRecorder(context: {
  sql: Pool
  clock: () => Date
  billingZone: string
  log: Logger
  cascades?: RecordingContext['cascades']
}): Recorder {
  const desks = new Map<number, { desk: Desk; cleared: Promise<void> }>()
  const window = new SubmissionWindow()
  let giveUpAt = Number.POSITIVE_INFINITY

  function note(companyId: number, statusReport: StatusReport, places = 0): Promise<void> {
    const desk = desks.get(companyId)?.desk ?? createDesk()
    const { entry, isNew } = desk.add(statusReport)
    entry.places += places
    if (isNew) entry.written.promise.catch(() => {}) // who noted something may be gone by the time it is given up
    if (!desks.has(companyId)) desks.set(companyId, { desk, cleared: clear(companyId, desk) })
    return entry.written.promise
  }

  async function clear(companyId: number, desk: Desk) {
    for (let readyInMs = desk.readyInMs(); readyInMs !== undefined; readyInMs = desk.readyInMs()) {
      if (readyInMs > 0) await pause(readyInMs)
      else await write(companyId, desk.take())
    }
    desks.delete(companyId)
  }

  async function write(companyId: number, list: Entry[]) {
    const isWritten = await writeAll(companyId, list, WHOLE_TRIES)
    for (const { written } of list) {
      if (isWritten) written.resolve()
      else written.reject(new Error('the status reports could not be recorded before the engine stopped'))
    }
    window.leave(list.reduce((sum, { places }) => sum + places, 0))
  }

  /** Whether all is written or set aside; not so when we had to give up before. */
  async function writeAll(companyId: number, list: Entry[], tries: number): Promise<boolean> {
    let left = tries
    while (performance.now() < giveUpAt) {
      const err = await failureToWrite(companyId, list)
      if (err === undefined) return true
      context.log.error({ err, companyId, statusReports: list.length }, 'statusReports.not_recorded')
      if (!isPassing(err) && --left === 0) return writeApart(companyId, list, err)
      await pause(RETRY_MS)
    }
    return false
  }

  async function failureToWrite(companyId: number, list: Entry[]): Promise<unknown> {
    try {
      const statusReports = list.map(({ statusReport }) => statusReport)
      const { sql, billingZone, clock, cascades } = context
      await recordStatusReports(sql, companyId, statusReports, {
        billingZone,
        now: clock(),
        ...(cascades ? { cascades } : {}),
      })
    } catch (err) {
      return err ?? new Error('nothing was said')
    }
  }

  async function writeApart(companyId: number, list: Entry[], err: unknown): Promise<boolean> {
    if (list.length === 1) return setAside(companyId, list[0]!, err)
    const half = Math.ceil(list.length / 2)
    return (await writeAll(companyId, list.slice(0, half), 1)) && (await writeAll(companyId, list.slice(half), 1))
  }

  function setAside(companyId: number, { statusReport, written }: Entry, err: unknown): true {
    const { uuid, ...learned } = statusReport
    const { code, message: reason } = err as { code?: string; message?: string }
    context.log.error(
      { companyId, messageUuid: uuid, learned: Object.keys(learned), code, reason },
      'statusReport.set_aside',
    )
    written.reject(new SetAside(`what was learned of message ${uuid} cannot be written`))
    return true
  }

  // What cannot be written by then is not lost: its leases run out and whoever takes them over sends it again.
  function hurry() {
    giveUpAt = Math.min(giveUpAt, performance.now() + PATIENCE_MS)
  }

  return {
    note,
    hurry,
    window,
    async stop() {
      hurry()
      while (desks.size > 0) await Promise.all([...desks.values()].map(({ cleared }) => cleared))
    },
  }
}
