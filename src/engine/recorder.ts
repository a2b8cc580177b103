import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import { type Finding, recordFindings } from '../domain/sending/recording.ts'

/**
 * Findings are written this long after the first of them, or earlier when many have come together; but never at once:
 * receipts that follow their submissions on the heel then find their batch still open, and make one step of two.
 */
const BATCH = 2000
const LINGER_MS = 40
const LEAST_LINGER_MS = 10
/** While more than this wait to be written, nothing new is submitted. */
export const MOST_WAITING = 6000
const RETRY_MS = 250
const PATIENCE_MS = 10_000

type Batch = { findings: Map<string, Finding>; done: PromiseWithResolvers<void>; since: number }
type Desk = { batch: Batch | undefined; writing: boolean; timer: NodeJS.Timeout | undefined }

export type Recorder = {
  /** Notes what was learned of a message; resolves when it is committed, rejects when that has been given up. */
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
 * taken and delivered is one step, a receipt told twice is one receipt. A batch that cannot be written is tried again
 * until it is; meanwhile submission pauses.
 */
export function createRecorder(context: { sql: Pool; clock: () => Date; billingZone: string; log: Logger }): Recorder {
  const desks = new Map<number, Desk>()
  const writing = new Set<Promise<void>>()
  let waiting = 0
  let giveUpAt = Number.POSITIVE_INFINITY
  let roomMade = Promise.withResolvers<void>()

  function note(companyId: number, finding: Finding): Promise<void> {
    const desk = deskOf(companyId)
    desk.batch ??= newBatch()
    const { findings, done } = desk.batch
    const known = findings.get(finding.uuid)
    if (!known) waiting += 1
    findings.set(finding.uuid, known ? merged(known, finding) : finding)
    if (!known) writeWhenReady(companyId, desk)
    return done.promise
  }

  function deskOf(companyId: number): Desk {
    const desk = desks.get(companyId) ?? { batch: undefined, writing: false, timer: undefined }
    desks.set(companyId, desk)
    return desk
  }

  function writeWhenReady(companyId: number, desk: Desk) {
    if (desk.writing || !desk.batch) return
    const { findings, since } = desk.batch
    const age = performance.now() - since
    const linger = findings.size >= BATCH ? LEAST_LINGER_MS : LINGER_MS
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

  async function writeUntilDone(companyId: number, { findings, done }: Batch) {
    const list = [...findings.values()]
    let isWritten = false
    while (!isWritten && performance.now() < giveUpAt) {
      try {
        const { sql, billingZone, clock } = context
        await recordFindings(sql, companyId, list, { billingZone, now: clock() })
        isWritten = true
      } catch (err) {
        context.log.error({ err, companyId, findings: list.length }, 'findings.not_recorded')
        await pause(RETRY_MS)
      }
    }
    waiting -= list.length
    if (isWritten) done.resolve()
    else done.reject(new Error('the findings could not be recorded before the engine stopped'))
    if (waiting > MOST_WAITING) return
    roomMade.resolve()
    roomMade = Promise.withResolvers()
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

function newBatch(): Batch {
  const batch = { findings: new Map(), done: Promise.withResolvers<void>(), since: performance.now() }
  batch.done.promise.catch(() => {}) // who noted something may be gone by the time it is given up
  return batch
}

/** The first word about an end counts; later ones are repeats. */
const merged = (known: Finding, more: Finding): Finding => ({ ...more, ...known })
