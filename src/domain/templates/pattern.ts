import { invalidField } from '../../base/errors.ts'
import { mostOf, type Place, PlaceRules, placeKinds } from './places.ts'

/**
 * The language of template patterns. A pattern is a text with places. A place stands for a part that differs from
 * message to message:
 *
 *   %w        one word: characters other than white space
 *   %w{1,n}   one to n words, with white space between them
 *   %d        a number: digits, also with a point or comma between them (`1499.90`)
 *   %d{1,n}   one to n digits
 *
 * Everything else stands for itself, also a single `%`. Capital and small letters differ. A pattern must fit the whole
 * text. White space of any kind and length counts as one space, and is ignored at both ends.
 */
export type Pattern = { readonly pieces: readonly Piece[] }

export type Piece = Literal | Place
/** `fallbacks` are computed at the first use, because `fitPattern` never runs for most patterns. */
export type Literal = { kind: 'literal'; units: Uint16Array; fallbacks?: Uint16Array }

export const MOST_PATTERN_CHARACTERS = 2000
const MOST_PLACES = 50
export const MOST_REPEATS = 100
/** A pattern of many long places gives staff little text to review, and takes long to match. */
export const MOST_WORDS = 200

/** A place in a pattern, with its bounds, valid or not. */
const PLACE = /%([wd])(\{[^{}]*\})?/g
const BOUNDS = /^\{1,([1-9]\d{0,2})\}$/

/** Refuses a bad new pattern. Patterns that were stored under wider limits are still matched. */
export function refuseBadPattern(pattern: string) {
  const places = compilePattern(pattern).pieces.filter(piece => piece.kind === 'words')
  const words = places.reduce((sum, { most }) => sum + most, 0)
  if (words > MOST_WORDS) {
    throw invalidField('pattern', `its places must stand for at most ${MOST_WORDS} words in all, not ${words}`)
  }
}

export function compilePattern(pattern: string): Pattern {
  if (pattern.length > MOST_PATTERN_CHARACTERS) {
    throw invalidField('pattern', `must have at most ${MOST_PATTERN_CHARACTERS} characters`)
  }
  const plain = plainText(pattern)
  if (plain === '') throw invalidField('pattern', 'must not be empty')

  const pieces: Piece[] = []
  let end = 0
  for (const place of plain.matchAll(PLACE)) {
    pieces.push(literal(plain.slice(end, place.index)), placeOf(place[1]!, place[2]))
    end = place.index + place[0].length
  }
  pieces.push(literal(plain.slice(end)))
  if (pieces.length > 2 * MOST_PLACES + 1) throw invalidField('pattern', `must have at most ${MOST_PLACES} places`)
  return { pieces: pieces.filter(piece => piece.kind !== 'literal' || piece.units.length > 0) }
}

function placeOf(letter: string, bounds: string | undefined): Place {
  const most = bounds === undefined ? 1 : Number(BOUNDS.exec(bounds)?.[1] ?? 0)
  if (most < 1 || most > MOST_REPEATS) {
    throw invalidField('pattern', `%${letter}${bounds} must be %${letter}{1,n} with n from 1 to ${MOST_REPEATS}`)
  }
  if (letter === 'w') return { kind: 'words', most }
  return bounds === undefined ? { kind: 'number' } : { kind: 'digits', most }
}

/** The places of a pattern as they are written, in order. */
export const placesIn = (pattern: string): string[] => pattern.match(PLACE) ?? []

/** The pattern with a value at each place. */
export function fillPlaces(pattern: string, values: readonly string[]): string {
  let next = 0
  return pattern.replaceAll(PLACE, () => values[next++]!)
}

/** Units are compared as numbers, because this needs no new string for each character. */
function literal(text: string): Literal {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at)
  return { kind: 'literal', units }
}

/** Makes texts that look the same equal: accents are joined to their letters, and any white space becomes one space. */
export const plainText = (text: string) => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** The work done so far. A step reads one character of the text. */
export type Effort = { steps: number }

/**
 * The texts at the places of the pattern, in order, if the text fits it. Undefined if it does not. The text must come
 * from `plainText`, which runs once for all patterns.
 *
 * The function goes through the pieces. For each piece it finds all positions where the piece can end, each with the
 * latest position where the piece can begin. A piece reads a character at most twice, so the steps are at most twice
 * the number of characters times the number of pieces, for any text. Most texts differ at the first literal and take a
 * few steps. A regular expression would try the combinations of places one after the other.
 */
export function fitPattern({ pieces }: Pattern, text: string, effort: Effort = { steps: 0 }): string[] | undefined {
  const ways: Ways[] = []
  let starts = [0]
  for (const piece of pieces) {
    const way =
      piece.kind === 'literal' ? followLiteral(piece, text, starts, effort) : fill(piece, text, starts, effort)
    if (way.ends.length === 0) return undefined
    ways.push(way)
    starts = way.ends
  }
  return starts.at(-1) === text.length ? valuesOf(pieces, ways, text) : undefined
}

/** The positions where a piece can end, in rising order, and the position where it then begins. */
type Ways = { ends: number[]; begins: number[] }

/** Follows the pieces back from the end of the text. */
function valuesOf(pieces: readonly Piece[], ways: Ways[], text: string): string[] {
  const values: string[] = []
  let end = text.length
  for (let i = pieces.length - 1; i >= 0; i--) {
    const { ends, begins } = ways[i]!
    const begin = begins[placeIn(ends, end)]!
    if (pieces[i]!.kind !== 'literal') values.push(text.slice(begin, end))
    end = begin
  }
  return values.reverse()
}

function placeIn(rising: number[], value: number): number {
  let low = 0
  let high = rising.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rising[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Finds the literal in the text by the Knuth-Morris-Pratt algorithm, and keeps only matches that begin at one of
 * `starts`.
 */
function followLiteral(literal: Literal, text: string, starts: number[], effort: Effort): Ways {
  const { units } = literal
  literal.fallbacks ??= fallbacksOf(units)
  const { fallbacks } = literal
  const ways: Ways = { ends: [], begins: [] }
  const lastStart = starts.at(-1)!
  let next = 0
  let matched = 0
  let steps = 0
  for (let at = starts[0]!; at < text.length && at - matched <= lastStart; at++) {
    const unit = text.charCodeAt(at)
    steps++
    while (matched > 0 && unit !== units[matched]) {
      steps++
      matched = fallbacks[matched - 1]!
    }
    if (unit === units[matched]) matched++
    if (matched < units.length) continue

    const begin = at + 1 - matched
    while (starts[next]! < begin) next++
    if (starts[next] === begin) {
      ways.begins.push(begin)
      ways.ends.push(at + 1)
    }
    matched = fallbacks[matched - 1]!
  }
  effort.steps += steps
  return ways
}

/** The Knuth-Morris-Pratt table: for each prefix, the length of its longest proper prefix that is also its suffix. */
function fallbacksOf(units: Uint16Array): Uint16Array {
  const fallbacks = new Uint16Array(units.length)
  let matched = 0
  for (let at = 1; at < units.length; at++) {
    while (matched > 0 && units[at] !== units[matched]) matched = fallbacks[matched - 1]!
    if (units[at] === units[matched]) matched++
    fallbacks[at] = matched
  }
  return fallbacks
}

/**
 * Reads the text from the first start on. The place always begins at the latest possible start, because that leaves the
 * most room: it reaches every end that an earlier start reaches.
 */
function fill(place: Place, text: string, starts: number[], effort: Effort): Ways {
  const ways: Ways = { ends: [], begins: [] }
  const rules = new PlaceRules()
  const kind = placeKinds[place.kind]
  const most = mostOf(place)
  const first = starts[0]!
  let next = 0
  let begin = -1
  let taken = 0
  let at = first
  for (; at < text.length && (begin >= 0 || next < starts.length); at++) {
    const isStart = starts[next] === at
    if (isStart) next++
    rules.moveTo(text, at)
    if (isStart && rules.read().begins[kind]) {
      begin = at
      taken = 1
    } else if (begin >= 0) {
      taken += rules.read().counts[kind]!
      if (taken > most || !rules.goesOn[kind]) begin = -1
    }
    if (begin >= 0 && rules.mayEnd[kind]) {
      ways.ends.push(at + 1)
      ways.begins.push(begin)
    }
  }
  effort.steps += at - first
  return ways
}
