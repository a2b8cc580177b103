import type { Pool } from '../../db/sql.ts'
import type { Queue } from '../../domain/lanes/lane.ts'
import { companiesWithLeases, queuesByPriority } from '../../domain/lanes/lanes.ts'

export type FoundWork = {
  /** The queues that have messages to send, by priority. */
  queues: Map<number, Queue[]>
  /** The companies that may have leases to be taken over. */
  withLeases: number[]
}

/** Searches all companies for messages of these priorities. */
export async function searchAll(sql: Pool, priorities: number[], now: Date): Promise<FoundWork> {
  const [withLeases, queues] = await Promise.all([
    companiesWithLeases(sql, now),
    queuesByPriority(sql, priorities, now),
  ])
  return { queues, withLeases }
}

/** A search is paid for with this many times its duration: then searching takes at most a tenth of the time. */
const PRICE = 10
/** The shortest of so many searches counts: a search that waited for a busy database or a connection is not a slow search. */
const COMPARED = 8
/** Searches may be ahead of the time that is paid for by this much, so that new messages are found at once. */
const MOST_AHEAD_MS = 300
/** However long searches take, for example because a node does not answer, the next search is not later than this. */
const MOST_PAUSE_MS = 1000

/**
 * Limits the time that is spent on searches. One server answers within a millisecond, but a sharded database asks every
 * shard. A turn that comes too early gets the companies that the last search found: their lanes are read anew.
 */
export class WorkSearch {
  readonly #search: (now: Date) => Promise<FoundWork>
  readonly #durations: number[] = []
  #found: FoundWork | undefined
  /** The last turn came too early, so new messages may be waiting. */
  #isOutdated = false
  /** The moment until which searches are paid for. */
  #paidUntil = Number.NEGATIVE_INFINITY

  constructor(search: (now: Date) => Promise<FoundWork>) {
    this.#search = search
  }

  /** How long a loop without work waits before it searches again, if nothing wakes it up. */
  get pauseMs(): number {
    const ahead = this.#aheadMs()
    return Math.max(0, this.#isOutdated ? ahead - MOST_AHEAD_MS : ahead)
  }

  async find(now: Date): Promise<FoundWork> {
    this.#isOutdated = this.#aheadMs() > MOST_AHEAD_MS
    if (this.#found && this.#isOutdated) return this.#found
    const begunAt = performance.now()
    this.#found = await this.#search(now)
    this.#pay(begunAt, performance.now())
    return this.#found
  }

  #aheadMs(): number {
    return this.#paidUntil - performance.now()
  }

  #pay(begunAt: number, endedAt: number) {
    this.#durations.push(endedAt - begunAt)
    if (this.#durations.length > COMPARED) this.#durations.shift()
    const price = PRICE * Math.min(...this.#durations)
    this.#paidUntil = Math.min(Math.max(this.#paidUntil, begunAt) + price, endedAt + MOST_PAUSE_MS)
  }
}
