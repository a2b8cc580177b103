import { LRUCache } from 'lru-cache'
import type { Pool } from '../../db/sql.ts'
import type { Tariff } from '../pricing/tariff.ts'

const MOST_COMPANIES = 1000
const MOST_TARIFFS = 10_000
const TARIFF_MS = 60_000
/** The rows of more dispatches take longer to read than a second statement. */
const MOST_DISPATCHES = 50

/**
 * What earlier batches of results have read. It saves a round trip while the statuses of the company are locked. The next
 * batch of the company waits for this lock.
 */
export class RecentReads {
  readonly #dispatches = new LRUCache<number, number[]>({ max: MOST_COMPANIES })
  readonly #tariffs = new LRUCache<number, Tariff>({ max: MOST_TARIFFS, ttl: TARIFF_MS })

  /**
   * The dispatches of the last batch of a company that had any. The next batch is most likely about them, too. Only their
   * ids are kept: their rows must be read after the statuses are locked.
   */
  likelyDispatches(companyId: number): number[] {
    return this.#dispatches.get(companyId) ?? []
  }

  noteDispatches(companyId: number, dispatchIds: ReadonlySet<number>): void {
    if (dispatchIds.size === 0) return
    this.#dispatches.set(companyId, dispatchIds.size > MOST_DISPATCHES ? [] : [...dispatchIds])
  }

  /**
   * A tariff never changes: a new price is a new tariff. It is kept for a minute only, because after the failover to a standby
   * that lost the tariff its id may be given again.
   */
  tariff(tariffId: number): Tariff | undefined {
    return this.#tariffs.get(tariffId)
  }

  noteTariff(tariff: Tariff): void {
    this.#tariffs.set(tariff.tariffId, tariff)
  }
}

/** One for each pool, so that two databases in one process do not mix. */
const ofPools = new WeakMap<Pool, RecentReads>()

export function recentReadsOf(pool: Pool): RecentReads {
  const recent = ofPools.get(pool) ?? new RecentReads()
  ofPools.set(pool, recent)
  return recent
}
