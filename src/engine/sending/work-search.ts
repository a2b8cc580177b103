import type { Pool } from '../../db/sql.ts'
import type { Announcement } from '../../domain/lanes/announcements.ts'
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

/** A turn with announced queues makes no search if the last search is at most this old. An idle engine searches more often. */
const RECENT_MS = 150
/** With more announced queues a search costs less than reading them all. */
const MOST_ANNOUNCED = 20

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
  /** Queues with new messages, by a text that is the same for equal queues only. */
  #announced = new Map<string, Announcement>()
  #searchedAt = Number.NEGATIVE_INFINITY
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

  /** There are new messages in a queue: the next turn finds them without a search. Without `announcement` it must search. */
  announce(announcement?: Announcement) {
    if (announcement)
      this.#announced.set(
        `${announcement.priority} ${announcement.companyId} ${announcement.channelType}`,
        announcement,
      )
    else this.#searchedAt = Number.NEGATIVE_INFINITY
  }

  async find(now: Date): Promise<FoundWork> {
    const announced = [...this.#announced.values()]
    this.#announced.clear()
    this.#isOutdated = this.#aheadMs() > MOST_AHEAD_MS
    const isRecent = performance.now() < this.#searchedAt + RECENT_MS && announced.length <= MOST_ANNOUNCED
    const isEnough = this.#isOutdated || (isRecent && announced.length > 0)
    if (this.#found && isEnough) {
      this.#found = withAnnounced(this.#found, announced) // they stay until the next search
      return this.#found
    }
    const begunAt = performance.now()
    this.#searchedAt = begunAt
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

/** The queues of a search and the announced queues, each once. */
function withAnnounced({ queues, withLeases }: FoundWork, announced: Announcement[]): FoundWork {
  const all = new Map(queues)
  for (const { priority, companyId, channelType } of announced) {
    const known = all.get(priority) ?? []
    const isKnown = known.some(queue => queue.companyId === companyId && queue.channelType === channelType)
    if (!isKnown) all.set(priority, [...known, { companyId, channelType }])
  }
  return { queues: all, withLeases }
}
