import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from './sql.ts'

const MEASURE_EVERY_MS = 1000
/** An answer that took longer tells too little about the moment at which it was given. */
const MOST_ROUND_TRIP_MS = 500
/** A clock that is off by more than this is wrong: an operator should know. */
export const MOST_OFF_MS = 5000

/** The moment by the database's clock. For a command, which asks once. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  return row!.now
}

/**
 * The database's clock, as this process knows it. Everything that opens, ends, charges or deletes goes by it: all
 * processes then agree on the time, and one whose own clock is wrong does no harm. It is asked once a second; in
 * between, and while the database is away, the time that has passed is added, which no change of our clock touches.
 */
export class DatabaseClock {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #ownClock: () => Date
  readonly #stopping = new AbortController()
  /** What is added to the milliseconds since the process began. */
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

  /** How far our own clock is ahead of the database's; 0 when it is right. */
  readonly offMs = (): number => (this.#isOff ? this.#offMs : 0)

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#following
  }

  async #follow() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await pause(MEASURE_EVERY_MS, undefined, { signal }).catch(() => {})
      // The other loops of the process say it when the database is away.
      if (!signal.aborted) await this.#measure(MOST_ROUND_TRIP_MS).catch(() => {})
    }
  }

  /** The answer is taken to be given in the middle between question and answer. */
  async #measure(mostRoundTripMs: number) {
    const asked = performance.now()
    const now = await databaseNow(this.#sql)
    const answered = performance.now()
    if (answered - asked > mostRoundTripMs) return
    this.#sinceMs = now.getTime() - (asked + answered) / 2
    this.#offMs = Math.round(this.#ownClock().getTime() - this.now().getTime())
    this.#tell()
  }

  /** Told when it begins and when it is over. */
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
