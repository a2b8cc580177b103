import { LRUCache } from 'lru-cache'

const COUNTED_EVERY_MS = 10_000
const MOST_REMEMBERED = 10_000

/**
 * Counts clicks on one link from one address at most once in ten seconds, because each counted click writes a row and may
 * send a callback. Each process has its own limit, so several processes may count a click each.
 */
export class ClickLimit {
  /** The time of the last counted click, by link and address. */
  readonly #countedAt = new LRUCache<string, number>({ max: MOST_REMEMBERED })

  /** Whether a click counts. After a counted click, the next clicks do not count for ten seconds. */
  take(code: string, address: string, now: Date): boolean {
    const key = keyOf(code, address)
    const last = this.#countedAt.get(key)
    if (last !== undefined && Math.abs(now.getTime() - last) < COUNTED_EVERY_MS) return false
    this.#countedAt.set(key, now.getTime())
    return true
  }

  /** Forgets a click that could not be written. */
  giveBack(code: string, address: string) {
    this.#countedAt.delete(keyOf(code, address))
  }
}

const keyOf = (code: string, address: string) => `${code} ${address}`
