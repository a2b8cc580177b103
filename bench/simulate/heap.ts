/** A queue of which the first element is taken next. Elements that are alike are taken in the order in which they were added. */
export class Heap<T> {
  readonly #elements: { key: number; order: number; value: T }[] = []
  #added = 0

  /** The smallest key. */
  get firstKey(): number | undefined {
    return this.#elements[0]?.key
  }

  add(key: number, value: T) {
    this.#elements.push({ key, order: this.#added++, value })
    this.#rise(this.#elements.length - 1)
  }

  take(): T | undefined {
    const [first] = this.#elements
    const last = this.#elements.pop()
    if (first !== last && last) {
      this.#elements[0] = last
      this.#sink()
    }
    return first?.value
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#elements[a]!, this.#elements[b]!]
    return first.key === second.key ? first.order < second.order : first.key < second.key
  }

  #swap(a: number, b: number) {
    const elements = this.#elements
    ;[elements[a], elements[b]] = [elements[b]!, elements[a]!]
  }

  #rise(from: number) {
    for (let i = from; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!this.#isBefore(i, parent)) return
      this.#swap(i, parent)
      i = parent
    }
  }

  #sink() {
    for (let i = 0; ; ) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < this.#elements.length && this.#isBefore(child, least)) least = child
      }
      if (least === i) return
      this.#swap(i, least)
      i = least
    }
  }
}
