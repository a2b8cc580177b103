type Limits = { most: number; forMs: number; clock: () => number }

/**
 * Keeps at most `most` entries, each for at least half of `forMs` unless there are too many, and while the map is used, for
 * no longer than `forMs`. Two maps take turns: when the young one is half the time old or has half the entries, the old one
 * is forgotten as a whole. So no entry needs a time or a place in a list.
 */
export class RecentMap<Key, Value> {
  readonly #limits: Limits
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()
  #youngSince: number

  constructor(limits: Limits) {
    this.#limits = limits
    this.#youngSince = limits.clock()
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: Key): Value | undefined {
    this.#forget()
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: Key, value: Value): void {
    this.#forget()
    this.#old.delete(key)
    this.#young.set(key, value)
  }

  delete(key: Key): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #forget() {
    const { most, forMs, clock } = this.#limits
    const age = clock() - this.#youngSince
    if (age < forMs / 2 && this.#young.size < most / 2) return
    this.#old = age < forMs ? this.#young : new Map()
    this.#young = new Map()
    this.#youngSince = clock()
  }
}
