import { brandIds, brandOf, type Operator } from './brand.ts'
import type { PortedNumbers } from './ported.ts'
import { type Region, regionOf, wholeCountry } from './region.ts'
import { CODE_SIZE, type PlanRange } from './register.ts'

/** Where a number lives. Shared by all numbers of the same operator and region: look, do not change. */
export interface Place {
  readonly brandId: number
  readonly operator: string
  readonly region: string
  readonly zone: string
}

const CODES = 1_000
const NOWHERE = 0
const NOT_PORTED = 0

/** The code of a Russian number: 916 of 79161234567. */
export const codeOf = (number: number): number => Math.floor(number / CODE_SIZE) % CODES

/**
 * The whole numbering plan in memory, never changed once built. The ranges lie in typed arrays, ascending, with the
 * first index of each code: finding one is a binary search among the ranges of its code (some 200 in the register).
 */
export class Numbering {
  readonly version: number
  readonly #starts = new Uint32Array(CODES + 1)
  readonly #firsts: Uint32Array
  readonly #lasts: Uint32Array
  readonly #placeOf: Uint32Array
  readonly #places: readonly (Place | undefined)[]
  readonly #ported: (PortedNumbers | undefined)[] = Array.from({ length: CODES })

  /** `ranges` do not overlap; `ported` is by code. */
  constructor(
    version: number,
    ranges: readonly PlanRange[],
    ported: ReadonlyMap<number, PortedNumbers>,
    brandOfOperator: (operator: Operator) => number,
  ) {
    this.version = version
    this.#firsts = new Uint32Array(ranges.length)
    this.#lasts = new Uint32Array(ranges.length)
    this.#placeOf = new Uint32Array(ranges.length)
    this.#places = this.#addRanges(ranges, new PlaceTable(brandOfOperator))
    for (const [code, numbers] of ported) this.#ported[code] = numbers
  }

  #addRanges(ranges: readonly PlanRange[], table: PlaceTable) {
    for (const [i, range] of ranges.toSorted((a, b) => a.first - b.first).entries()) {
      this.#firsts[i] = range.first % CODE_SIZE
      this.#lasts[i] = range.last % CODE_SIZE
      this.#placeOf[i] = table.indexOf(range)
      this.#starts[codeOf(range.first) + 1]! += 1
    }
    for (let code = 0; code < CODES; code += 1) this.#starts[code + 1]! += this.#starts[code]!
    return table.places
  }

  /** The place of a Russian number of 11 digits; nothing when no range has it. */
  lookup(digits: string): Place | undefined {
    const code = numberIn(digits, 1, 4)
    const subscriber = numberIn(digits, 4, 11)
    const portedTo = this.#ported[code]?.brandOf(subscriber) ?? NOT_PORTED
    return this.#places[this.#rangePlace(code, subscriber) + portedTo]
  }

  #rangePlace(code: number, subscriber: number): number {
    const start = this.#starts[code]!
    const i = lastNotAbove(this.#firsts, start, this.#starts[code + 1]!, subscriber)
    return i >= start && subscriber <= this.#lasts[i]! ? this.#placeOf[i]! : NOWHERE
  }
}

function numberIn(digits: string, start: number, end: number): number {
  let number = 0
  for (let i = start; i < end; i += 1) number = number * 10 + digits.charCodeAt(i) - 48
  return number
}

/** The index of the last value within [start, end) that is not above `limit`; start - 1 when all are. */
function lastNotAbove(ascending: Uint32Array, start: number, end: number, limit: number): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * Every place once, so that a lookup makes no objects. At the index of a range's place lies the place itself, and
 * brandId further on what it becomes for a number ported to that brand: the region stays. A ported number without
 * a range exists all the same, somewhere in the country.
 */
class PlaceTable {
  readonly places: (Place | undefined)[] = [undefined, ...portedPlaces(wholeCountry)]
  readonly #brandOfOperator: (operator: Operator) => number
  readonly #indexes = new Map<string, number>()

  constructor(brandOfOperator: (operator: Operator) => number) {
    this.#brandOfOperator = brandOfOperator
  }

  indexOf({ operator, region }: PlanRange): number {
    const key = `${operator.inn};${operator.name};${region}`
    const known = this.#indexes.get(key)
    if (known !== undefined) return known
    const added = this.#add(operator, regionOf(region))
    this.#indexes.set(key, added)
    return added
  }

  #add(operator: Operator, region: Region): number {
    const own = placeOf(this.#brandOfOperator(operator), operator.name, region)
    return this.places.push(own, ...portedPlaces(region)) - 1 - Object.keys(brandIds).length
  }
}

const portedPlaces = (region: Region): Place[] =>
  Object.values(brandIds).map(brandId => placeOf(brandId, brandOf(brandId)!, region))

const placeOf = (brandId: number, operator: string, { name, zone }: Region): Place => ({
  brandId,
  operator,
  region: name,
  zone,
})
