/** Ends the pause of a loop that waits for work. */
export class WakeUp {
  #waiting = Promise.withResolvers<void>()

  /** Resolves at the next call of `now`. */
  get next(): Promise<void> {
    return this.#waiting.promise
  }

  now(): void {
    this.#waiting.resolve()
    this.#waiting = Promise.withResolvers()
  }
}
