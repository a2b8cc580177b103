import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { within } from '../base/concurrency/within.ts'
import { isConnectionRefused, isDatabaseAway } from '../base/database-losses.ts'
import type { Pool } from './sql.ts'

/** Gives the pool for heavy reads: searches, reports and statistics. */
export type Reading = {
  /** May miss the last changes. Reads once more from the primary when the replica was lost on the way, or hangs. */
  read<T>(work: (sql: Pool) => Promise<T>): Promise<T>
  /** A pool that has everything that is committed now: for a client that has seen a result and fetches its report. */
  upToDate(): Promise<Pool>
  state(): ReadingState
}

export type ReadingState = {
  isReplica: boolean
  /** How far the replica is behind the primary. Undefined without a replica, or when it cannot be measured. */
  lagMs: number | undefined
}

type Settings = {
  primary: Pool
  replica: Pool
  /** Opens a connection of its own to the server of `replica` (`connectBeside`). */
  openProbe(): Pool
  /** Closes the connections of `replica` that were opened before a moment (`hangUp`). */
  hangUp(openedBefore: number): void
  mostLagMs: number
  log: Logger
  everyMs?: number
}

const MEASURE_EVERY_MS = 1000
const ANSWER_MS = 3000
/** One missed measurement may be a server that is busy for a moment: then its reads would all fall on the primary. */
const SILENT_AFTER = 2
const CATCH_UP_MS = 1000
const LOOK_EVERY_MS = 50

/**
 * Reads from a replica while it is there and not too far behind, else from the primary. Once a second it compares the
 * position in the log that the replica has replayed with the positions that the primary had before. So a replica that
 * is cut off is noticed too, which its own clock could not show, and a replica of an idle primary is not behind.
 *
 * The measurement has a connection of its own, so it answers while all connections of the pool are in use. This tells a
 * read that waits for a free connection from a read on a server that hangs. When a measurement gets no answer, new reads go
 * to the primary. When the next one gets none either, over the same connection, all reads of this moment go there too, and
 * the connections are closed: a firewall may have dropped them, and a new one may work. If it has dropped only the connection of one read, the limit of silence of the pool closes it (`silenceMs`).
 */
export class ReplicaReading implements Reading {
  readonly #settings: Settings
  readonly #stopping = new AbortController()
  /** Positions of the primary that the replica has not reached, oldest first. */
  #ahead: { position: number; at: number }[] = []
  #isReplica = false
  #lagMs: number | undefined
  #probe: Pool | undefined
  /** Measurements without an answer, in a row. */
  #missed = 0
  /** Each rejects one read that waits for the replica. */
  readonly #reads = new Set<(error: ReplicaSilent) => void>()

  constructor(settings: Settings) {
    this.#settings = settings
    void this.#follow()
  }

  readonly state = (): ReadingState => ({ isReplica: this.#isReplica, lagMs: this.#lagMs })

  readonly read = async <T>(work: (sql: Pool) => Promise<T>): Promise<T> => {
    const { primary, replica } = this.#settings
    if (!this.#isReplica) return work(primary)
    const silence = Promise.withResolvers<never>()
    this.#reads.add(silence.reject)
    try {
      return await Promise.race([work(replica), silence.promise])
    } catch (error) {
      if (!isReplicaLost(error)) throw error
      if (!(error instanceof ReplicaSilent)) this.#use(false, error) // else the newest measurement decides
      return work(primary)
    } finally {
      this.#reads.delete(silence.reject)
    }
  }

  readonly upToDate = async (): Promise<Pool> => {
    const { primary, replica } = this.#settings
    if (!this.#isReplica) return primary
    const isCaughtUp = await this.#catchUp(await positionOf(primary)).catch(() => false)
    return isCaughtUp ? replica : primary
  }

  async #catchUp(position: number): Promise<boolean> {
    const { replica, everyMs = LOOK_EVERY_MS } = this.#settings
    for (const until = performance.now() + CATCH_UP_MS; performance.now() < until; await pause(everyMs)) {
      if ((await positionOf(replica)) >= position) return true
    }
    return false
  }

  stop(): void {
    this.#stopping.abort()
    this.#closeProbe()
  }

  /** A connection without an answer may be lost, so the next measurement opens another one. */
  #closeProbe() {
    void this.#probe?.end({ timeout: 0 })
    this.#probe = undefined
  }

  async #follow() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#measure()
      await pause(this.#settings.everyMs ?? MEASURE_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #measure() {
    const { primary, openProbe, mostLagMs } = this.#settings
    // Without the primary there is nothing to compare with, and nothing else to read from.
    const position = await positionOf(primary).catch(() => undefined)
    if (position !== undefined) this.#ahead.push({ position, at: performance.now() })
    if (this.#stopping.signal.aborted) return
    const askedAt = performance.now()
    try {
      this.#probe ??= openProbe()
      const replayed = await positionOf(this.#probe)
      this.#missed = 0
      this.#ahead = this.#ahead.filter(each => each.position > replayed)
      this.#lagMs = this.#ahead[0] ? performance.now() - this.#ahead[0].at : 0
      this.#use(this.#lagMs <= mostLagMs)
    } catch (error) {
      this.#lagMs = undefined
      this.#use(false, error)
      this.#missed += 1
      if (this.#missed >= SILENT_AFTER) this.#endReads(error, askedAt)
    }
    this.#ahead = this.#ahead.slice(0, MOST_POSITIONS)
  }

  #endReads(cause: unknown, openedBefore: number) {
    this.#closeProbe()
    for (const reject of this.#reads) reject(new ReplicaSilent('the replica did not answer', { cause }))
    this.#settings.hangUp(openedBefore)
  }

  /** Logged when it changes. */
  #use(isReplica: boolean, err?: unknown) {
    if (this.#stopping.signal.aborted || this.#isReplica === isReplica) return
    this.#isReplica = isReplica
    const { log } = this.#settings
    if (isReplica) log.info('replica.used')
    else log.warn({ err, lagMs: this.#lagMs }, 'replica.not_used')
  }
}

/** The oldest ones show the lag. */
const MOST_POSITIONS = 3600

/** A measurement failed, with any error: a refused password or certificate too. */
class ReplicaSilent extends Error {}

/** A replica cancels a statement that needs rows which the primary has removed (40001). */
const isReplicaLost = (error: unknown) =>
  error instanceof ReplicaSilent ||
  isDatabaseAway(error) ||
  isConnectionRefused(error) ||
  (error as { code?: string })?.code === '40001'

/** The place in the log as a number of bytes: written by a primary, replayed by a standby. */
async function positionOf(sql: Pool): Promise<number> {
  const asked = sql<{ position: number }[]>`
    select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0')::bigint
      as position`
  const [row] = await within(ANSWER_MS, asked)
  return row!.position
}
