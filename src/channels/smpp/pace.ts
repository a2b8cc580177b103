const FIRST_PAUSE_MS = 250
const MOST_PAUSE_MS = 8000
/** After so many accepted messages in a row, or a whole window, the pause has helped and the next one is short again. */
const FORGIVEN_AFTER = 20

/**
 * The window of a bind, slowed down as TCP slows down: it is halved when the operator throttles, and grows by one with
 * every window of accepted messages. During a pause nothing is submitted. Each pause is twice as long as the last, until
 * one has helped. Throttled answers during a pause belong to messages that were submitted before it, and change nothing.
 */
export class Pace {
  readonly #mostWindow: number
  #window: number
  #pauseMs = FIRST_PAUSE_MS
  #pausedUntil = 0
  #acceptedSince = 0

  constructor(mostWindow: number) {
    this.#mostWindow = mostWindow
    this.#window = mostWindow
  }

  get window(): number {
    return Math.floor(this.#window)
  }

  /** Free places in the window; none during a pause. */
  room(open: number, now: number): number {
    return now < this.#pausedUntil ? 0 : this.window - open
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  accepted(): void {
    this.#window = Math.min(this.#mostWindow, this.#window + 1 / this.#window)
    if (++this.#acceptedSince >= Math.min(FORGIVEN_AFTER, this.window)) this.#pauseMs = FIRST_PAUSE_MS
  }

  /** The operator throttled a message. Returns the length of the pause. */
  throttled(now: number): number {
    if (now < this.#pausedUntil) return this.#pausedUntil - now
    this.#window = Math.max(1, this.#window / 2)
    this.#pausedUntil = now + this.#pauseMs
    this.#pauseMs = Math.min(this.#pauseMs * 2, MOST_PAUSE_MS)
    this.#acceptedSince = 0
    return this.#pausedUntil - now
  }
}
