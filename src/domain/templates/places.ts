/** What a place of a pattern stands for. `most`: how many words, or digits. */
export type Place = { kind: 'words'; most: number } | { kind: 'number' } | { kind: 'digits'; most: number }

type Question = (text: string, at: number) => boolean

/** Of a kind of place: whether it can begin with a character, go on over it, end behind it, and count it. */
export type PlaceRules = { begins: Question; goesOn: Question; mayEnd: Question; counts: Question }

const isDigit: Question = (text, at) => {
  const unit = text.charCodeAt(at)
  if (unit < 0x80) return unit >= 0x30 && unit <= 0x39
  return unit > 0x600 && DIGIT.test(text[at]!) // below it no script has digits of its own
}
const DIGIT = /^\p{Nd}$/u

const isSpace: Question = (text, at) => text.charCodeAt(at) === 0x20
const isJoint: Question = (text, at) => text[at] === '.' || text[at] === ','
const isHalf: Question = (text, at) => isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1))
const isHigh = (unit: number) => (unit & 0xfc00) === 0xd800
const isLow = (unit: number) => (unit & 0xfc00) === 0xdc00

/** White space is one space, as `plainText` makes it. */
export const placeRules: Record<Place['kind'], PlaceRules> = {
  words: {
    begins: (text, at) => !isSpace(text, at),
    goesOn: () => true,
    mayEnd: (text, at) => !isSpace(text, at) && !isHalf(text, at),
    counts: (text, at) => isSpace(text, at - 1),
  },
  number: {
    begins: isDigit,
    goesOn: (text, at) => isDigit(text, at) || (isJoint(text, at) && isDigit(text, at - 1) && isDigit(text, at + 1)),
    mayEnd: isDigit,
    counts: () => false,
  },
  digits: { begins: isDigit, goesOn: isDigit, mayEnd: isDigit, counts: () => true },
}

export const mostOf = (place: Place) => (place.kind === 'number' ? Number.POSITIVE_INFINITY : place.most)
