/**
 * Waits until the clients that were just answered have sent their next requests. The cost of a group of requests hardly
 * depends on its size, and without this wait some clients are in one group and the others in the next.
 */
export class Gathering {
  #onArrival: (() => void) | undefined

  /** To be called for each new request. */
  arrived(): void {
    this.#onArrival?.()
  }

  /** Waits until enough requests are there, and at most `mostMs` after the answers were written. */
  async until(isEnough: () => boolean, mostMs: number): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(resolve, mostMs)
    this.#onArrival = () => {
      if (isEnough()) resolve()
    }
    this.#onArrival()
    await promise
    clearTimeout(late)
    this.#onArrival = undefined
  }
}
