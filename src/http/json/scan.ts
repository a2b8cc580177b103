import { invalid } from '../../base/errors.ts'

/** The deepest body of the APIs has nine levels, and `data` of a push has twenty of its own. */
export const MOST_LEVELS = 32

/** A list, an object or an item of a list needs far more memory than its two bytes in the text. */
const MOST_ITEMS = 3_000_000
/** An object with more names is slow to build and to search. No body of the APIs has nearly as many. */
const MOST_NAMES = 10_000
const ITEMS_FOR_ANY_SIZE = 10_000
const LEAST_BYTES_AN_ITEM = 6

/** The bytes of consecutive members without the commas around them, or of one large member. */
export type Piece = { from: number; to: number; large?: Container }

/** A list or object, from its opening bracket to its closing one, cut at commas of its own level. */
export type Container = { from: number; to: number; isList: boolean; pieces: Piece[] }

/** The position at which brackets do not match, and the characters that are allowed there. */
export type Misfit = { at: number; expected: string }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Scans the bytes of a JSON text before it is parsed. It refuses texts that would cost too much: too many levels or too
 * many items. For a large text it also records where the text can be cut into pieces. It reads only brackets, commas and
 * the ends of strings. The parser checks the rest.
 *
 * `scan` may be called several times, so that a long text does not block the event loop.
 */
export class JsonScan {
  misfit: Misfit | undefined
  /** The outermost list or object, if it is large. */
  large: Container | undefined

  readonly #bytes: Uint8Array
  readonly #mostItems: number
  /** A list or object of at least this many bytes is cut into pieces of about this size. */
  readonly #pieceBytes: number
  #at = 0
  #inString = false
  #items = 0
  /** Of the containers that are open, the outermost first; of the first `#depth` of them. */
  #depth = 0
  readonly #isList: boolean[] = []
  readonly #from: number[] = []
  readonly #lastComma: number[] = []
  readonly #commas: number[] = []
  readonly #pieceFrom: number[] = []
  /** Whether the last member is a large one. Then only blanks may follow before the next comma or bracket. */
  readonly #isAfterLarge: boolean[] = []
  readonly #pieces: (Piece[] | undefined)[] = []

  constructor(bytes: Uint8Array, pieceBytes: number) {
    this.#bytes = bytes
    this.#pieceBytes = pieceBytes
    this.#mostItems = Math.min(MOST_ITEMS, ITEMS_FOR_ANY_SIZE + bytes.length / LEAST_BYTES_AN_ITEM)
  }

  /** Scans this many bytes more. Returns whether the scan has ended: at the end of the text, or at brackets that do not match. */
  scan(count: number): boolean {
    const bytes = this.#bytes
    const until = Math.min(bytes.length, this.#at + count)
    let at = this.#inString ? this.#endOfString(this.#at, until) : this.#at
    while (at < until) {
      const byte = bytes[at]!
      at += 1
      if (byte === QUOTE) at = this.#endOfString(at, until)
      // Digits, letters, colons and most other bytes outside strings.
      else if (byte < COMMA || (byte > COMMA && byte < OPEN_LIST)) continue
      else if (byte === COMMA) this.#separate(at - 1)
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#open(at - 1, byte === OPEN_LIST)
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close(at - 1, byte === CLOSE_LIST)
      if (this.misfit) return true
    }
    this.#at = at
    if (at >= bytes.length && this.#depth > 0) this.#misfit(bytes.length)
    return at >= bytes.length
  }

  /** The position after the closing quote, or `until`. */
  #endOfString(from: number, until: number): number {
    const bytes = this.#bytes
    let at = from
    while (at < until) {
      const byte = bytes[at]!
      at += 1
      if (byte === QUOTE) {
        this.#inString = false
        return at
      }
      if (byte === BACKSLASH) at += 1
    }
    this.#inString = true
    return at
  }

  #open(at: number, isList: boolean) {
    if (this.#depth === MOST_LEVELS) throw invalid(`body: must be at most ${MOST_LEVELS} levels deep`)
    this.#count()
    const depth = this.#depth
    this.#isList[depth] = isList
    this.#from[depth] = at
    this.#lastComma[depth] = at
    this.#commas[depth] = 0
    this.#pieceFrom[depth] = at + 1
    this.#isAfterLarge[depth] = false
    this.#depth += 1
  }

  #separate(at: number) {
    this.#count()
    const depth = this.#depth - 1
    if (depth < 0) return
    this.#lastComma[depth] = at
    this.#commas[depth]! += 1
    if (this.#commas[depth]! >= MOST_NAMES && !this.#isList[depth])
      throw invalid(`body: an object must have at most ${MOST_NAMES} names`)
    if (at - this.#pieceFrom[depth]! >= this.#pieceBytes || this.#isAfterLarge[depth]) this.#cut(depth, at)
  }

  #cut(depth: number, at: number) {
    const from = this.#pieceFrom[depth]!
    if (this.#isAfterLarge[depth]) this.#requireBlanks(from, at)
    else this.#add(depth, { from, to: at })
    this.#isAfterLarge[depth] = false
    this.#pieceFrom[depth] = at + 1
  }

  #add(depth: number, piece: Piece) {
    const pieces = this.#pieces[depth] ?? []
    pieces.push(piece)
    this.#pieces[depth] = pieces
  }

  #requireBlanks(from: number, to: number) {
    const at = firstVisible(this.#bytes, from, to)
    if (at < to) this.#misfit(at)
  }

  #close(at: number, isList: boolean) {
    const depth = this.#depth - 1
    if (depth < 0 || this.#isList[depth] !== isList) return this.#misfit(at)
    const isLarge = at - this.#from[depth]! >= this.#pieceBytes
    if (isLarge) this.#cut(depth, at)
    this.#depth = depth
    if (!isLarge) return
    const container = { from: this.#from[depth]!, to: at + 1, isList, pieces: this.#pieces[depth] ?? [] }
    this.#pieces[depth] = undefined
    if (depth === 0) this.large = this.large ?? container
    else this.#setApart(depth - 1, container)
  }

  /** A large list or object is a piece of its own in the container around it. The members before it are another piece. */
  #setApart(depth: number, large: Container) {
    const before = this.#lastComma[depth]!
    if (this.#pieceFrom[depth]! <= before) this.#cut(depth, before)
    this.#add(depth, { from: before + 1, to: large.to, large })
    this.#pieceFrom[depth] = large.to
    this.#isAfterLarge[depth] = true
  }

  #count() {
    this.#items += 1
    if (this.#items > this.#mostItems) throw invalid('body: has too many lists, objects or items for its size')
  }

  #misfit(at: number) {
    const depth = this.#depth - 1
    const expected = depth < 0 ? 'the end of the body' : this.#isList[depth] ? '"," or "]"' : '"," or "}"'
    this.misfit ??= { at, expected }
  }
}

/** The position of the first byte that is no blank of JSON, or `to`. */
export function firstVisible(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at += 1
  return at
}
