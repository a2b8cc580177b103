import { joinStatusReports, type StatusReport } from '../../domain/receipts/status-report.ts'
import type { PendingReports } from './pending-reports.ts'
import type { Waited } from './receipt-pace.ts'

/**
 * Status reports are written when none has come for `QUIET_MS`, at the latest `LINGER_MS` after the first, or at once
 * when there are `MANY`. The pause lets a receipt that follows its submission closely join it: the message then changes
 * its status once instead of twice. More than a `FEW` reports wait longer for the next ones, because the engine submits
 * single messages in bursts, and several bursts are cheaper to write together.
 */
const QUIET_MS = 5
const QUIET_OF_MORE_MS = 20
const FEW = 10
const LINGER_MS = 40
/**
 * A receipt that ends the wait of its submission is written this long after, with the receipts that come meanwhile. The operator
 * sends more when it is acknowledged, so a longer pause sends fewer messages (docs/performance.md).
 */
const AWAITED_LINGER_MS = 5
const MANY = 2000
/** Preparing thousands of rows at once would block the event loop, and delay verification codes. */
const MOST_AT_ONCE = 1000
/** Places of a batch for submissions that have waited long, however many receipts there are. */
const MOST_LATE = 300
/**
 * How long a submission waits for a receipt that is likely to come soon. It keeps its place in the submission window
 * meanwhile. Without a pause of submissions, an operator would get messages faster than it reports them.
 */
const AWAIT_MS = 1000

/** All that is known of one message and not yet written. */
export type Entry = {
  statusReport: StatusReport
  /** The callers that wait until it is written. */
  waiting: PendingReports[]
  /** The callers that do not wait while the node of the company is away. */
  waitingSoon: PendingReports[]
  /** When the first status report of the message came, or earlier than that: the batch with it is ready sooner then. */
  since: number
  /** Places in the submission window that become free when it is written. */
  places: number
  /** Set for a submission that waits for its receipt. */
  onWaited: Waited | undefined
}

/** Status reports of one company that wait to be written. Reports of the same message are joined. */
export class ReportBuffer {
  /** Without a final status. */
  readonly #submitted = new Map<string, Entry>()
  /** With the final status that the operator reported. */
  readonly #final = new Map<string, Entry>()
  /** Submissions whose receipts are likely to come soon. They wait longer, so that their messages change once. */
  readonly #awaiting = new Map<string, Entry>()
  readonly #clock: () => number
  #lastAt = 0

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /**
   * Adds a status report. It is joined with an earlier one of the same message. `onWaited`: the report is a submission that
   * waits for its receipt.
   */
  add(statusReport: StatusReport, onWaited?: Waited): Entry {
    this.#lastAt = this.#clock()
    const { uuid } = statusReport
    for (const entries of [this.#submitted, this.#awaiting]) {
      const entry = entries.get(uuid)
      if (entry) return this.#joinSubmitted(entries, entry, statusReport)
    }
    const final = this.#final.get(uuid)
    if (final) return join(final, statusReport)
    const entry = { statusReport, waiting: [], waitingSoon: [], since: this.#lastAt, places: 0, onWaited }
    const entries = statusReport.final ? this.#final : onWaited ? this.#awaiting : this.#submitted
    entries.set(uuid, entry)
    return entry
  }

  #joinSubmitted(entries: Map<string, Entry>, entry: Entry, statusReport: StatusReport): Entry {
    join(entry, statusReport)
    if (!entry.statusReport.final) return entry
    entries.delete(statusReport.uuid)
    this.#final.set(statusReport.uuid, entry)
    if (entries === this.#awaiting) entry.since = this.#lastAt + AWAITED_LINGER_MS - LINGER_MS
    entry.onWaited?.(true)
    return entry
  }

  /** All entries that wait. */
  entries(): Entry[] {
    return [...this.#submitted.values(), ...this.#awaiting.values(), ...this.#final.values()]
  }

  get size(): number {
    return this.#submitted.size + this.#awaiting.size + this.#final.size
  }

  /** Submissions that wait for their receipts. */
  get awaiting(): number {
    return this.#awaiting.size
  }

  /** No report is to be written before a receipt comes or a submission has waited long enough. */
  get isAwaiting(): boolean {
    return this.#submitted.size + this.#final.size === 0
  }

  /** Milliseconds until the next batch is to be written; undefined when the buffer is empty. */
  readyInMs(): number | undefined {
    if (this.size === 0) return undefined
    this.#endAwaiting()
    const count = this.#submitted.size + this.#final.size
    if (count === 0) return Math.max(firstSince(this.#awaiting, this.#lastAt) + AWAIT_MS - this.#clock(), 0)
    if (count >= MANY) return 0
    const oldest = Math.min(firstSince(this.#submitted, this.#lastAt), firstSince(this.#final, this.#lastAt))
    const quietMs = count > FEW ? QUIET_OF_MORE_MS : QUIET_MS
    return Math.max(Math.min(this.#lastAt + quietMs, oldest + LINGER_MS) - this.#clock(), 0)
  }

  /** Submissions that have waited long enough are written like others. */
  #endAwaiting() {
    for (const entry of takeSome(this.#awaiting, Number.POSITIVE_INFINITY, this.#clock() - AWAIT_MS)) {
      entry.onWaited?.(false)
      entry.onWaited = undefined
      this.#submitted.set(entry.statusReport.uuid, entry)
    }
  }

  /**
   * Removes the next batch. Final statuses come first: the operator waits for our acknowledgement before it sends more.
   * Some places are kept for submissions that have waited long, because a submission that is not written would be sent
   * again after a crash. Recent submissions stay, so that their receipts can still join them.
   */
  take(): Entry[] {
    const longAgo = this.#final.size === 0 ? Number.POSITIVE_INFINITY : this.#clock() - LINGER_MS
    const late = takeSome(this.#submitted, MOST_LATE, longAgo)
    const final = takeSome(this.#final, MOST_AT_ONCE - late.length)
    const room = MOST_AT_ONCE - late.length - final.length
    return [...final, ...late, ...takeSome(this.#submitted, room, longAgo)]
  }
}

function join(entry: Entry, statusReport: StatusReport): Entry {
  entry.statusReport = joinStatusReports(entry.statusReport, statusReport)
  return entry
}

const firstSince = (entries: Map<string, Entry>, otherwise: number) => entries.values().next().value?.since ?? otherwise

function takeSome(entries: Map<string, Entry>, most: number, before = Number.POSITIVE_INFINITY): Entry[] {
  const taken: Entry[] = []
  for (const entry of entries.values()) {
    if (taken.length === most || entry.since > before) break
    taken.push(entry)
  }
  for (const { statusReport } of taken) entries.delete(statusReport.uuid)
  return taken
}
