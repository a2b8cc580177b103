import { Heap } from './heap.ts'

/** Things that happen at a time. */
export class Events {
  readonly #queue = new Heap<() => void>()
  /** Seconds since the beginning. */
  now = 0

  at(seconds: number, happen: () => void) {
    this.#queue.add(seconds, happen)
  }

  after(seconds: number, happen: () => void) {
    this.at(this.now + seconds, happen)
  }

  /** Repeats it as long as it is not told to stop. The first time is now. */
  every(seconds: number, happen: () => void) {
    this.at(this.now, () => {
      happen()
      this.after(seconds, () => this.every(seconds, happen))
    })
  }

  /** Lets everything happen up to this time. */
  runUntil(end: number) {
    for (let next = this.#queue.firstKey; next !== undefined && next <= end; next = this.#queue.firstKey) {
      this.now = next
      this.#queue.take()?.()
    }
    this.now = end
  }
}
