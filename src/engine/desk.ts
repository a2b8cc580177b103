import { type Finding, joinFindings } from '../domain/sending/finding.ts'

/**
 * Findings are written when nothing more has come for a moment, this long after the first of them, or earlier when
 * many have come together; but never at once: receipts that follow their submissions on the heel then still find them
 * here, and make one step of two.
 */
const QUIET_MS = 5
const LINGER_MS = 40
const MANY = 2000
/** While thousands of rows are made ready at once, no code can go out. */
const MOST_AT_ONCE = 1000

/** What was learned of one message, and whoever waits for it to be written. */
export type Entry = { finding: Finding; written: PromiseWithResolvers<void>; since: number }

export type Desk = {
  /** Adds to what is known of the message, or begins with it: then `isNew`. */
  add(finding: Finding): { entry: Entry; isNew: boolean }
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

  function add(finding: Finding) {
    lastAt = clock()
    const known = reported.get(finding.uuid) ?? submitted.get(finding.uuid)
    if (known) {
      known.finding = joinFindings(known.finding, finding)
      if (known.finding.final && submitted.delete(finding.uuid)) reported.set(finding.uuid, known)
      return { entry: known, isNew: false }
    }
    const entry = { finding, written: Promise.withResolvers<void>(), since: lastAt }
    if (finding.final) reported.set(finding.uuid, entry)
    else submitted.set(finding.uuid, entry)
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
   * Reports first: the operator waits for our word and tells nothing more before it has it. Submissions may still be
   * joined by their receipts, so those that have just come are left for the next time.
   */
  function take(): Entry[] {
    const taken = [...takeSome(reported, MOST_AT_ONCE)]
    const longAgo = taken.length === 0 ? Number.POSITIVE_INFINITY : clock() - LINGER_MS
    for (const entry of takeSome(submitted, MOST_AT_ONCE - taken.length, longAgo)) taken.push(entry)
    return taken
  }

  return { add, readyInMs, take }
}

const firstOf = (entries: Map<string, Entry>) => entries.values().next().value

function* takeSome(entries: Map<string, Entry>, most: number, before = Number.POSITIVE_INFINITY) {
  let left = most
  for (const [uuid, entry] of entries) {
    if (left-- === 0 || entry.since > before) return
    entries.delete(uuid)
    yield entry
  }
}
