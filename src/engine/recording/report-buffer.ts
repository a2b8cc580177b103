import { joinStatusReports, type StatusReport } from '../../domain/receipts/status-report.ts'
import type { PendingReports } from './pending-reports.ts'
import { PROMPT_MS, ReceiptPace } from './receipt-pace.ts'

/**
 * Status reports are written when none has come for `QUIET_MS`, at the latest `LINGER_MS` after the first, or at once
 * when there are `MANY`. The pause lets a receipt that follows its submission closely join it: the message then changes
 * its status once instead of twice. More than a `FEW` reports wait longer for the next ones, because the engine submits
 * single messages in bursts, and several bursts are cheaper to write together. When the operators report promptly, more
 * than a few submissions wait for their receipts even longer: an operator that waits for our acknowledgements reports
 * thousands of messages with a delay, although it delivered them at once.
 */
const QUIET_MS = 5
const QUIET_OF_MORE_MS = 20
const FEW = 10
const LINGER_MS = 40
const MANY = 2000
/** So many final statuses are written at once, because the operator waits for our acknowledgements. */
const MANY_FINAL = 500
/** Preparing thousands of rows at once would block the event loop, and delay verification codes. */
const MOST_AT_ONCE = 1000
/** Places of a batch for submissions that have waited long, however many receipts there are. */
const MOST_LATE = 300

/** All that is known of one message and not yet written. */
export type Entry = {
  statusReport: StatusReport
  /** The callers that wait until it is written. */
  waiting: PendingReports[]
  /** The callers that do not wait while the node of the company is away. */
  waitingSoon: PendingReports[]
  /** When the first status report of the message came. */
  since: number
  /** Places in the submission window that become free when it is written. */
  places: number
}

/** Status reports of one company that wait to be written. Reports of the same message are joined. */
export class ReportBuffer {
  /** Without a final status. */
  readonly #submitted = new Map<string, Entry>()
  /** With the final status that the operator reported. */
  readonly #final = new Map<string, Entry>()
  readonly #pace: ReceiptPace
  readonly #clock: () => number
  #lastAt = 0

  constructor(pace = new ReceiptPace(), clock: () => number = () => performance.now()) {
    this.#pace = pace
    this.#clock = clock
  }

  /** Adds a status report. It is joined with an earlier one of the same message. */
  add(statusReport: StatusReport): Entry {
    this.#lastAt = this.#clock()
    const { uuid } = statusReport
    const submitted = this.#submitted.get(uuid)
    if (submitted) return this.#joinSubmitted(submitted, statusReport)
    const final = this.#final.get(uuid)
    if (final) return join(final, statusReport)
    if (statusReport.final) this.#pace.alone(uuid, this.#lastAt)
    const entry = { statusReport, waiting: [], waitingSoon: [], since: this.#lastAt, places: 0 }
    const entries = statusReport.final ? this.#final : this.#submitted
    entries.set(uuid, entry)
    return entry
  }

  #joinSubmitted(entry: Entry, statusReport: StatusReport): Entry {
    join(entry, statusReport)
    if (!entry.statusReport.final) return entry
    this.#pace.joined()
    this.#submitted.delete(statusReport.uuid)
    this.#final.set(statusReport.uuid, entry)
    return entry
  }

  /** All entries that wait. */
  entries(): Entry[] {
    return [...this.#submitted.values(), ...this.#final.values()]
  }

  get size(): number {
    return this.#submitted.size + this.#final.size
  }

  /** Milliseconds until the next batch is to be written; undefined when the buffer is empty. */
  readyInMs(): number | undefined {
    if (this.size === 0) return undefined
    return Math.max(Math.min(this.#finalDueAt(), this.#submittedDueAt()) - this.#clock(), 0)
  }

  #finalDueAt(): number {
    if (this.#final.size === 0) return Number.POSITIVE_INFINITY
    return this.#final.size >= MANY_FINAL ? 0 : this.#quietAt(firstOf(this.#final))
  }

  #submittedDueAt(): number {
    const first = firstOf(this.#submitted)
    if (!first) return Number.POSITIVE_INFINITY
    if (this.#awaitsReceipts()) return first.since + PROMPT_MS
    return this.size >= MANY ? 0 : this.#quietAt(first)
  }

  #quietAt(first: Entry | undefined): number {
    const quietMs = this.size > FEW ? QUIET_OF_MORE_MS : QUIET_MS
    return Math.min(this.#lastAt + quietMs, (first?.since ?? this.#lastAt) + LINGER_MS)
  }

  /** How long submissions wait at least for their receipts. */
  #leastWaitMs(): number {
    if (this.#awaitsReceipts()) return PROMPT_MS
    return this.#final.size > 0 ? LINGER_MS : 0
  }

  /** Whether submissions wait for their receipts. A few are written soon, because they cost little. */
  #awaitsReceipts(): boolean {
    return this.size > FEW && this.#pace.isPrompt
  }

  /**
   * Removes the next batch. Final statuses come first: the operator waits for our acknowledgement before it sends more.
   * Some places are kept for submissions that have waited long, because a submission that is not written would be sent
   * again after a crash. Recent submissions stay, so that their receipts can still join them.
   */
  take(): Entry[] {
    const now = this.#clock()
    const longAgo = now - this.#leastWaitMs()
    const late = takeSome(this.#submitted, MOST_LATE, longAgo)
    const final = takeSome(this.#final, MOST_AT_ONCE - late.length)
    const others = takeSome(this.#submitted, MOST_AT_ONCE - late.length - final.length, longAgo)
    const submitted = [...late, ...others]
    for (const { statusReport, since } of submitted) this.#pace.written(statusReport.uuid, since, now)
    return [...final, ...submitted]
  }
}

function join(entry: Entry, statusReport: StatusReport): Entry {
  entry.statusReport = joinStatusReports(entry.statusReport, statusReport)
  return entry
}

const firstOf = (entries: Map<string, Entry>) => entries.values().next().value

function takeSome(entries: Map<string, Entry>, most: number, before = Number.POSITIVE_INFINITY): Entry[] {
  const taken: Entry[] = []
  for (const entry of entries.values()) {
    if (taken.length === most || entry.since > before) break
    taken.push(entry)
  }
  for (const { statusReport } of taken) entries.delete(statusReport.uuid)
  return taken
}
