import { LRUCache } from 'lru-cache'
import type { Pool } from '../../db/sql.ts'

const MOST_COMPANIES = 1000
const MOST_TARIFFS = 10_000
/** The rows of more dispatches take longer to read than a second statement. */
const MOST_DISPATCHES = 50

/**
 * What earlier batches of results have read. It saves a round trip while the account of the company is locked. Other
 * requests of the company wait for this lock, for example verification codes.
 */
export class Memory {
  readonly #dispatches = new LRUCache<number, number[]>({ max: MOST_COMPANIES })
  readonly #fixedTariffs = new LRUCache<number, true>({ max: MOST_TARIFFS })

  /** The dispatches of the last batch of a company. The next batch is most likely about them, too. */
  likelyDispatches(companyId: number): number[] {
    return this.#dispatches.get(companyId) ?? []
  }

  noteDispatches(companyId: number, dispatchIds: Iterable<number>): void {
    this.#dispatches.set(companyId, [...dispatchIds].slice(0, MOST_DISPATCHES))
  }

  /** Whether the price of a tariff is known to be fixed. A tariff never changes: a new price is a new tariff. */
  isFixed(tariffId: number): boolean {
    return this.#fixedTariffs.has(tariffId)
  }

  noteFixed(tariffId: number): void {
    this.#fixedTariffs.set(tariffId, true)
  }
}

/** One for each pool, so that two databases in one process do not mix. */
const memories = new WeakMap<Pool, Memory>()

export function memoryOf(pool: Pool): Memory {
  const memory = memories.get(pool) ?? new Memory()
  memories.set(pool, memory)
  return memory
}
