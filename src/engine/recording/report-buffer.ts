import { joinStatusReports, type StatusReport } from '../../domain/sending/status-report.ts'

/**
 * Status reports are written when nothing more has come for a moment, this long after the first of them, or earlier when
 * many have come together; but never at once: receipts that follow their submissions on the heel then still find them
 * here, and make one step of two.
 */
const QUIET_MS = 5
const LINGER_MS = 40
const MANY = 2000
/** While thousands of rows are made ready at once, no code can go out. */
const MOST_AT_ONCE = 1000
/** So many of these are kept for submissions that have waited long, however many receipts there are. */
const MOST_LATE = 300

/** What was learned of one message, and whoever waits for it to be written. */
export type Entry = {
  statusReport: StatusReport
  written: PromiseWithResolvers<void>
  since: number
  /** Places in the window of submissions that are free when it is written. */
  places: number
}

export type Desk = {
  /** Adds to what is known of the message, or begins with it: then `isNew`. */
  add(statusReport: StatusReport): { entry: Entry; isNew: boolean }
  /** Milliseconds until it is time to write; undefined when there is nothing. */
  readyInMs(): number | undefined
  /** What is to be written next. */
  take(): Entry[]
}

/** What was learned of a company's messages and is not being written yet. */
export function createDesk(clock: () => number = () => performance.now()): Desk {
  const submitted = new Map<string, Entry>()
  const reported = new Map<string, Entry>()
  let lastAt = 0

  function add(statusReport: StatusReport) {
    lastAt = clock()
    const known = reported.get(statusReport.uuid) ?? submitted.get(statusReport.uuid)
    if (known) {
      known.statusReport = joinStatusReports(known.statusReport, statusReport)
      if (known.statusReport.final && submitted.delete(statusReport.uuid)) reported.set(statusReport.uuid, known)
      return { entry: known, isNew: false }
    }
    const entry = { statusReport, written: Promise.withResolvers<void>(), since: lastAt, places: 0 }
    if (statusReport.final) reported.set(statusReport.uuid, entry)
    else submitted.set(statusReport.uuid, entry)
    return { entry, isNew: true }
  }

  function readyInMs() {
    const count = submitted.size + reported.size
    if (count === 0) return undefined
    if (count >= MANY) return 0
    const oldest = Math.min(firstOf(submitted)?.since ?? lastAt, firstOf(reported)?.since ?? lastAt)
    return Math.max(Math.min(lastAt + QUIET_MS, oldest + LINGER_MS) - clock(), 0)
  }

  /**
   * Reports first: the operator waits for our word and tells nothing more before it has it. But for submissions that
   * have waited long: what is not written would go out again after a crash. Those that have just come may still be
   * joined by their receipts, and are left for the next time.
   */
  function take(): Entry[] {
    const longAgo = reported.size === 0 ? Number.POSITIVE_INFINITY : clock() - LINGER_MS
    const late = [...takeSome(submitted, MOST_LATE, longAgo)]
    const reports = [...takeSome(reported, MOST_AT_ONCE - late.length)]
    const room = MOST_AT_ONCE - late.length - reports.length
    return [...reports, ...late, ...takeSome(submitted, room, longAgo)]
  }

  return { add, readyInMs, take }
}

const firstOf = (entries: Map<string, Entry>) => entries.values().next().value

function* takeSome(entries: Map<string, Entry>, most: number, before = Number.POSITIVE_INFINITY): Generator<Entry> {
  let left = most
  for (const [uuid, entry] of entries) {
    if (left-- === 0 || entry.since > before) return
    entries.delete(uuid)
    yield entry
  }
}
