/**
 * One answer for all requests within an interval, so that any number of open pages causes one query. After a failed
 * query the next request queries again.
 */
export class SharedAnswer<T> {
  readonly #everyMs: number
  readonly #ask: () => Promise<T>
  #answer: Promise<T> | undefined
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(everyMs: number, ask: () => Promise<T>) {
    this.#everyMs = everyMs
    this.#ask = ask
  }

  get(): Promise<T> {
    if (this.#answer && performance.now() - this.#askedAt < this.#everyMs) return this.#answer
    this.#askedAt = performance.now()
    const answer = this.#ask()
    this.#answer = answer
    answer.catch(() => {
      if (this.#answer === answer) this.#answer = undefined
    })
    return answer
  }

  /** Call it after a change: the next request queries the database. */
  forget() {
    this.#answer = undefined
  }
}
