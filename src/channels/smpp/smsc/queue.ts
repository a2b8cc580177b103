/** First in, first out. It drops the removed items in large steps, so that a removal from a million items is cheap. */
export class Queue<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** The oldest item; it stays in the queue. */
  first(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head >= DROP_FROM && this.#head * 2 >= this.#items.length) this.#dropRemoved()
    return item
  }

  #dropRemoved() {
    this.#items = this.#items.slice(this.#head)
    this.#head = 0
  }
}

const DROP_FROM = 1000
