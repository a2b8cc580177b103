/** A place of a pattern. `most`: the greatest number of words or digits. */
export type Place = { kind: 'words'; most: number } | { kind: 'number' } | { kind: 'digits'; most: number }

export const placeKinds = { number: 0, words: 1, digits: 2 } as const satisfies Record<Place['kind'], number>
const { number: NUMBER, words: WORDS, digits: DIGITS } = placeKinds
const KINDS = 3

/**
 * The rules of places for one character of a text. For each kind of place, 1 means yes: a place can begin with the
 * character, go on over it, or end after it, and the character increases the count. The rules are computed for all
 * kinds at once, and only on demand: in a usual text most characters are outside of places. White space is one space,
 * as `plainText` makes it.
 */
export class PlaceRules {
  readonly begins = new Uint8Array(KINDS)
  readonly goesOn = new Uint8Array(KINDS)
  readonly mayEnd = new Uint8Array(KINDS)
  readonly counts = new Uint8Array(KINDS)
  #text = ''
  #at = 0
  #isRead = false

  constructor() {
    this.goesOn[WORDS] = 1
    this.counts[DIGITS] = 1
  }

  moveTo(text: string, at: number) {
    this.#text = text
    this.#at = at
    this.#isRead = false
  }

  read(): this {
    if (!this.#isRead) this.#readCharacter(this.#text, this.#at)
    this.#isRead = true
    return this
  }

  #readCharacter(text: string, at: number) {
    const unit = text.charCodeAt(at)
    const before = text.charCodeAt(at - 1)
    const after = text.charCodeAt(at + 1)
    const isWord = Number(unit !== SPACE)
    this.begins[WORDS] = isWord
    this.mayEnd[WORDS] = Number(isWord && !(isHigh(unit) && isLow(after)))
    this.counts[WORDS] = Number(before === SPACE)

    const digit = Number(isDigit(unit))
    this.begins[NUMBER] = digit
    this.begins[DIGITS] = digit
    this.mayEnd[NUMBER] = digit
    this.mayEnd[DIGITS] = digit
    this.goesOn[NUMBER] = Number(digit || (isJoint(unit) && isDigit(before) && isDigit(after)))
    this.goesOn[DIGITS] = digit
  }
}

const SPACE = 0x20

function isDigit(unit: number): boolean {
  if (unit < 0x80) return unit >= 0x30 && unit <= 0x39
  return unit > 0x600 && DIGIT.test(String.fromCharCode(unit)) // no script below this code has its own digits
}
const DIGIT = /^\p{Nd}$/u

const isJoint = (unit: number) => unit === 0x2e || unit === 0x2c
const isHigh = (unit: number) => (unit & 0xfc00) === 0xd800
const isLow = (unit: number) => (unit & 0xfc00) === 0xdc00

export const mostOf = (place: Place) => (place.kind === 'number' ? Number.POSITIVE_INFINITY : place.most)
