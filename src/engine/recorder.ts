import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isDatabaseAway } from '../base/database-losses.ts'
import type { Pool } from '../db/sql.ts'
import { type Finding, joinFindings, type RecordingContext } from '../domain/sending/finding.ts'
import { recordFindings } from '../domain/sending/recording.ts'

/**
 * Findings are written this long after the first of them, or earlier when many have come together; but never at once:
 * receipts that follow their submissions on the heel then find their batch still open, and make one step of two.
 */
const BATCH = 2000
const PIECE = 1000
const LINGER_MS = 40
const LEAST_LINGER_MS = 10
/** While more than this wait to be written, nothing new is submitted. */
export const MOST_WAITING = 6000
const RETRY_MS = 250
const PATIENCE_MS = 10_000
/** So often a batch is tried as a whole when the database is there and does not take it. */
const WHOLE_TRIES = 3

/** What was learned of one message, and whoever waits for it to be written. */
type Entry = { finding: Finding; written: PromiseWithResolvers<void> }
type Batch = { entries: Map<string, Entry>; since: number }
type Desk = { batch: Batch | undefined; writing: boolean; timer: NodeJS.Timeout | undefined }

/** The database does not take this finding, and never will: nobody needs to bring it again. */
export class SetAside extends Error {}

export type Recorder = {
  /**
   * Notes what was learned of a message; resolves when it is committed, rejects when that has been given up, with
   * `SetAside` when the finding itself is to blame.
   */
  note(companyId: number, finding: Finding): Promise<void>
  /** Resolves when there is room for more. */
  room(): Promise<void>
  /** We are about to stop: what cannot be written within a few seconds from now is given up. */
  hurry(): void
  /** Writes what is left. */
  stop(): Promise<void>
}

/**
 * Collects what the engine learns and writes it in batches, one transaction of a company at a time; what comes in
 * meanwhile becomes the next batch. What is learned of a message before its batch is written becomes one finding:
 * taken and delivered is one step, a receipt told twice is one receipt. While the database is away a batch is tried
 * again until it is written; meanwhile submission pauses. What a database that is there does not take is looked for by
 * halves and set aside, so that one bad finding never stops its company.
 */
export function createRecorder(context: {
  sql: Pool
  clock: () => Date
  billingZone: string
  log: Logger
  cascades?: RecordingContext['cascades']
}): Recorder {
  const desks = new Map<number, Desk>()
  const writing = new Set<Promise<void>>()
  let waiting = 0
  let giveUpAt = Number.POSITIVE_INFINITY
  let roomMade = Promise.withResolvers<void>()

  function note(companyId: number, finding: Finding): Promise<void> {
    const desk = deskOf(companyId)
    desk.batch ??= { entries: new Map(), since: performance.now() }
    const { entries } = desk.batch
    const known = entries.get(finding.uuid)
    if (known) {
      known.finding = joinFindings(known.finding, finding)
      return known.written.promise
    }
    const entry = { finding, written: Promise.withResolvers<void>() }
    entry.written.promise.catch(() => {}) // who noted something may be gone by the time it is given up
    entries.set(finding.uuid, entry)
    waiting += 1
    writeWhenReady(companyId, desk)
    return entry.written.promise
  }

  function deskOf(companyId: number): Desk {
    const desk = desks.get(companyId) ?? { batch: undefined, writing: false, timer: undefined }
    desks.set(companyId, desk)
    return desk
  }

  function writeWhenReady(companyId: number, desk: Desk) {
    if (desk.writing || !desk.batch) return
    const { entries, since } = desk.batch
    const age = performance.now() - since
    const linger = entries.size >= BATCH ? LEAST_LINGER_MS : LINGER_MS
    if (age >= linger) write(companyId, desk)
    else
      desk.timer ??= setTimeout(() => {
        desk.timer = undefined
        writeWhenReady(companyId, desk)
      }, LEAST_LINGER_MS)
  }

  function write(companyId: number, desk: Desk) {
    const batch = desk.batch!
    clearTimeout(desk.timer)
    Object.assign(desk, { batch: undefined, timer: undefined, writing: true })
    const mine = writeUntilDone(companyId, batch).then(() => {
      writing.delete(mine)
      desk.writing = false
      if (desk.batch) writeWhenReady(companyId, desk)
      else desks.delete(companyId)
    })
    writing.add(mine)
  }

  /** A piece at a time: while thousands of rows are made ready at once, no code can go out. */
  async function writeUntilDone(companyId: number, { entries }: Batch) {
    const list = [...entries.values()]
    for (let from = 0; from < list.length; from += PIECE) {
      const piece = list.slice(from, from + PIECE)
      const isWritten = await writeAll(companyId, piece, WHOLE_TRIES)
      for (const { written } of piece) {
        if (isWritten) written.resolve()
        else written.reject(new Error('the findings could not be recorded before the engine stopped'))
      }
      makeRoom(piece.length)
    }
  }

  function makeRoom(places: number) {
    waiting -= places
    if (waiting > MOST_WAITING) return
    roomMade.resolve()
    roomMade = Promise.withResolvers()
  }

  /** Whether all is written or set aside; not so when we had to give up before. */
  async function writeAll(companyId: number, list: Entry[], tries: number): Promise<boolean> {
    let left = tries
    while (performance.now() < giveUpAt) {
      const err = await failureToWrite(companyId, list)
      if (err === undefined) return true
      context.log.error({ err, companyId, findings: list.length }, 'findings.not_recorded')
      if (!isPassing(err) && --left === 0) return writeApart(companyId, list, err)
      await pause(RETRY_MS)
    }
    return false
  }

  async function failureToWrite(companyId: number, list: Entry[]): Promise<unknown> {
    try {
      const findings = list.map(({ finding }) => finding)
      const { sql, billingZone, clock, cascades } = context
      await recordFindings(sql, companyId, findings, { billingZone, now: clock(), ...(cascades ? { cascades } : {}) })
    } catch (err) {
      return err ?? new Error('nothing was said')
    }
  }

  async function writeApart(companyId: number, list: Entry[], err: unknown): Promise<boolean> {
    if (list.length === 1) return setAside(companyId, list[0]!, err)
    const half = Math.ceil(list.length / 2)
    return (await writeAll(companyId, list.slice(0, half), 1)) && (await writeAll(companyId, list.slice(half), 1))
  }

  function setAside(companyId: number, { finding, written }: Entry, err: unknown): true {
    const { uuid, ...learned } = finding
    const { code, message: reason } = err as { code?: string; message?: string }
    context.log.error(
      { companyId, messageUuid: uuid, learned: Object.keys(learned), code, reason },
      'finding.set_aside',
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
    room: async () => {
      while (waiting > MOST_WAITING) await roomMade.promise
    },
    async stop() {
      hurry()
      while (desks.size > 0) {
        for (const [companyId, desk] of desks) if (desk.batch && !desk.writing) write(companyId, desk)
        await Promise.all(writing)
      }
    },
  }
}

/**
 * Of the database's state, not of what we write, by the class of its SQLSTATE: read-only after a switch-over (25),
 * deadlocks and the like (40), out of disk or memory (53), locks (55), cancelled by somebody (57), broken disks (58).
 */
const isPassing = (err: unknown) =>
  isDatabaseAway(err) || /^(25|40|53|55|57|58)/.test((err as { code?: string }).code ?? '')
