/**
 * One answer for everybody who asks within a moment: however many pages are open, the database is asked once in that
 * time. A question that failed is asked again by the next.
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

  /** Something was changed: the next question goes to the database. */
  forget() {
    this.#answer = undefined
  }
}
