import { CODE_SIZE } from './register.ts'

const BRAND_SLOTS = 16
const SLOTS_PER_NUMBER = 1.6
const FREE = 0

/** Subscriber and brand of a ported number in one integer below 2^28; never 0, as brands begin at 1. */
export const packPorted = (number: number, brandId: number): number => (number % CODE_SIZE) * BRAND_SLOTS + brandId

/**
 * The ported numbers of one code: an open hash table in one typed array, 6.4 bytes a number. A lookup costs about one
 * miss of the processor's cache, where a binary search among millions costs twenty.
 */
export class PortedNumbers {
  readonly #slots: Uint32Array

  constructor(packed: Uint32Array) {
    this.#slots = new Uint32Array(Math.ceil(packed.length * SLOTS_PER_NUMBER) + 1)
    for (const value of packed) this.#slots[this.#slotOf(Math.floor(value / BRAND_SLOTS))] = value
  }

  /** The brand that the subscriber went to, or 0. */
  brandOf(subscriber: number): number {
    return this.#slots[this.#slotOf(subscriber)]! % BRAND_SLOTS
  }

  /** The slot that holds the subscriber, or the free one where it would be. There is always a free slot. */
  #slotOf(subscriber: number): number {
    const slots = this.#slots
    let slot = Math.floor((spread(subscriber) * slots.length) / 2 ** 32)
    while (slots[slot] !== FREE && Math.floor(slots[slot]! / BRAND_SLOTS) !== subscriber) {
      slot = slot + 1 === slots.length ? 0 : slot + 1
    }
    return slot
  }
}

/** Spreads neighbours evenly over 32 bits (multiplication by the golden ratio). */
const spread = (subscriber: number) => Math.imul(subscriber, 0x9e3779b1) >>> 0
