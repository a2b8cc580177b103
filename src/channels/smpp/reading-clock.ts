/**
 * A clock for time-outs of the other side. It stands still while we do not read, because unread answers are not late.
 * From one reading to the next it moves by at most `mostStepMs`, so that the time in which this process was frozen or
 * busy does not count.
 */
export class ReadingClock {
  readonly #mostStepMs: number
  #timeMs = 0
  #readAt = performance.now()
  #isStopped = false

  constructor(mostStepMs: number) {
    this.#mostStepMs = mostStepMs
  }

  now(): number {
    const at = performance.now()
    if (!this.#isStopped) this.#timeMs += Math.min(at - this.#readAt, this.#mostStepMs)
    this.#readAt = at
    return this.#timeMs
  }

  stop(): void {
    this.now()
    this.#isStopped = true
  }

  resume(): void {
    this.now()
    this.#isStopped = false
  }

  get isStopped(): boolean {
    return this.#isStopped
  }
}
