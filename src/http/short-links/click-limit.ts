const COUNTED_EVERY_MS = 10_000
const MOST_REMEMBERED = 10_000

/**
 * A flood of clicks on one link from one address counts once in ten seconds: each click is a row, and may be a callback
 * to the client. Kept in this process alone: several of them count a flood several times at most.
 */
export class ClickLimit {
  /** By link and address, the time of the last click that counted; the oldest first. */
  readonly #countedAt = new Map<string, number>()

  /** Whether a click counts; if so, the next ones do not for a while. */
  take(code: string, address: string, now: Date): boolean {
    const key = keyOf(code, address)
    const last = this.#countedAt.get(key)
    if (last !== undefined && Math.abs(now.getTime() - last) < COUNTED_EVERY_MS) return false
    this.#countedAt.delete(key)
    this.#countedAt.set(key, now.getTime())
    if (this.#countedAt.size > MOST_REMEMBERED) this.#forgetOldest()
    return true
  }

  /** The click could not be written after all. */
  giveBack(code: string, address: string) {
    this.#countedAt.delete(keyOf(code, address))
  }

  #forgetOldest() {
    const [oldest] = this.#countedAt.keys()
    this.#countedAt.delete(oldest!)
  }
}

const keyOf = (code: string, address: string) => `${code} ${address}`
