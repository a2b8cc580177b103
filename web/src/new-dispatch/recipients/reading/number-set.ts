const FIRST_ROOM = 1 << 16
const GOLDEN = 0x9e3779b1

/**
 * A set of numbers in a typed array of doubles: at most 16 bytes for each number, while a Set of strings takes a
 * hundred. A number has at most 15 digits, so a double holds it exactly. Zero marks a free slot, because no number is
 * zero.
 */
export class NumberSet {
  #places = new Float64Array(FIRST_ROOM)
  #size = 0

  /** Adds a number. Returns whether it is new. */
  add(digits: string): boolean {
    if (this.#size * 2 >= this.#places.length) this.#grow()
    const isNew = put(this.#places, Number(digits))
    if (isNew) this.#size += 1
    return isNew
  }

  #grow() {
    const places = new Float64Array(this.#places.length * 2)
    for (const key of this.#places) if (key !== 0) put(places, key)
    this.#places = places
  }
}

/** The length of the table is a power of two. */
function put(places: Float64Array, key: number): boolean {
  const last = places.length - 1
  const low = key % 0x100000000
  const high = Math.floor(key / 0x100000000)
  const hash = Math.imul(low ^ Math.imul(high, GOLDEN), GOLDEN)
  let at = (hash ^ (hash >>> 15)) & last
  while (places[at] !== 0) {
    if (places[at] === key) return false
    at = (at + 1) & last
  }
  places[at] = key
  return true
}
