const COUNTED_EVERY_MS = 10_000
const MOST_REMEMBERED = 10_000

/**
 * Counts clicks on one link from one address at most once in ten seconds, because each counted click writes a row and may
 * send a callback. Each process has its own limit, so several processes may count a click each.
 */
export class ClickLimit {
  /** The time of the last counted click, by link and address. The oldest first. */
  readonly #countedAt = new Map<string, number>()

  /** Whether a click counts. After a counted click, the next clicks do not count for ten seconds. */
  take(code: string, address: string, now: Date): boolean {
    const key = keyOf(code, address)
    const last = this.#countedAt.get(key)
    if (last !== undefined && Math.abs(now.getTime() - last) < COUNTED_EVERY_MS) return false
    this.#countedAt.delete(key)
    this.#countedAt.set(key, now.getTime())
    if (this.#countedAt.size > MOST_REMEMBERED) this.#forgetOldest()
    return true
  }

  /** Forgets a click that could not be written. */
  giveBack(code: string, address: string) {
    this.#countedAt.delete(keyOf(code, address))
  }

  #forgetOldest() {
    const [oldest] = this.#countedAt.keys()
    this.#countedAt.delete(oldest!)
  }
}

const keyOf = (code: string, address: string) => `${code} ${address}`
