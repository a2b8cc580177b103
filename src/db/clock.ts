import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from './sql.ts'

const MEASURE_EVERY_MS = 1000
/** The answer of a longer round trip is ignored, because its moment is not exact enough. */
const MOST_ROUND_TRIP_MS = 500
/** A clock that differs by more than this is wrong, and the process logs it. */
export const MOST_OFF_MS = 5000

/** The time of the database. For commands, which need it once. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  return row!.now
}

/**
 * The clock of the database in this process. Everything that opens, ends, charges or deletes uses it. So all processes
 * have the same time, and a machine with a wrong clock does no harm. It reads the time once a second. In between, and
 * while the database cannot be reached, it adds the elapsed time of the monotonic clock.
 */
export class DatabaseClock {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #ownClock: () => Date
  readonly #stopping = new AbortController()
  /** The time of the database is this plus `performance.now()`. */
  #sinceMs = 0
  #offMs = 0
  #isOff = false
  #following: Promise<void> | undefined

  private constructor({ sql, log, ownClock = () => new Date() }: ClockContext) {
    this.#sql = sql
    this.#log = log
    this.#ownClock = ownClock
  }

  static async follow(context: ClockContext): Promise<DatabaseClock> {
    const clock = new DatabaseClock(context)
    await clock.#measure(Number.POSITIVE_INFINITY)
    clock.#following = clock.#follow()
    return clock
  }

  readonly now = (): Date => new Date(this.#sinceMs + performance.now())

  /** How far the clock of this machine is ahead of the database; 0 when it is right. */
  readonly offMs = (): number => (this.#isOff ? this.#offMs : 0)

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#following
  }

  async #follow() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await pause(MEASURE_EVERY_MS, undefined, { signal }).catch(() => {})
      // Other loops of the process log that the database cannot be reached.
      if (!signal.aborted) await this.#measure(MOST_ROUND_TRIP_MS).catch(() => {})
    }
  }

  /** Assumes that the database read its clock in the middle of the round trip. */
  async #measure(mostRoundTripMs: number) {
    const asked = performance.now()
    const now = await databaseNow(this.#sql)
    const answered = performance.now()
    if (answered - asked > mostRoundTripMs) return
    this.#sinceMs = now.getTime() - (asked + answered) / 2
    this.#offMs = Math.round(this.#ownClock().getTime() - this.now().getTime())
    this.#tell()
  }

  /** Logged when it begins and when it ends. */
  #tell() {
    const isOff = Math.abs(this.#offMs) > MOST_OFF_MS
    if (isOff === this.#isOff) return
    this.#isOff = isOff
    if (isOff) this.#log.warn({ offMs: this.#offMs }, 'clock.off')
    else this.#log.info({ offMs: this.#offMs }, 'clock.right')
  }
}

export type ClockContext = {
  sql: Sql
  log: Logger
  /** The clock of this machine. */
  ownClock?: (() => Date) | undefined
}
