import type { Events } from './events.ts'

/** Work of a shard: the results of a chunk that are to be recorded. */
type Write = { seconds: number; done: () => void }

/** A database server with some cores. While it is away its work waits, and work that it had begun starts again. */
export class Shard {
  readonly #events: Events
  readonly #cores: number
  #waiting: Write[] = []
  readonly #running = new Set<Write>()
  #isUp = true
  #losses = 0

  constructor(events: Events, cores: number) {
    this.#events = events
    this.#cores = cores
  }

  get isUp(): boolean {
    return this.#isUp
  }

  write(seconds: number, done: () => void) {
    this.#waiting.push({ seconds, done })
    this.#begin()
  }

  lose() {
    this.#isUp = false
    this.#losses += 1
    this.#waiting = [...this.#running, ...this.#waiting]
    this.#running.clear()
  }

  return() {
    this.#isUp = true
    this.#begin()
  }

  #begin() {
    while (this.#isUp && this.#running.size < this.#cores) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#running.add(next)
      const loss = this.#losses
      this.#events.after(next.seconds, () => {
        if (loss !== this.#losses) return // it was lost with the server
        this.#running.delete(next)
        next.done()
        this.#begin()
      })
    }
  }
}
