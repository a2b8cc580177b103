import { isUtf8 } from 'node:buffer'
import { setImmediate as letOthersGo } from 'node:timers/promises'
import { invalid } from '../../base/errors.ts'
import { findBadText, type Step, textPath } from './bad-text.ts'
import { firstMistake, notJson } from './mistake.ts'
import { type Container, firstVisible, JsonScan, type Piece } from './scan.ts'

/** A body of at most this size is parsed at once, in about 2 ms. A larger body is parsed in pieces, each in about 1 ms. */
const usualSizes = { smallBytes: 256 * 1024, pieceBytes: 128 * 1024 }
const SCAN_BYTES = 1024 * 1024
/** After this much work on one body, the event loop serves other requests. */
const TURN_MS = 5

/**
 * Parses a JSON body. A large body is cut into pieces, and the event loop serves other requests between them. A worker thread
 * would not help: the transfer of the parsed value blocks the event loop for longer than parsing here (measured with a
 * body of 8 MB: one and a half to two times as long).
 */
export async function parseJson(bytes: Buffer, { smallBytes, pieceBytes } = usualSizes): Promise<unknown> {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw invalid('body: must be UTF-8')
  const scan = new JsonScan(bytes, pieceBytes)
  if (bytes.length <= smallBytes) return parseAtOnce(bytes, scan)
  const turn = new Turn()
  while (!scan.scan(SCAN_BYTES)) await turn.pass()
  if (scan.misfit) throw notJson(bytes, scan.misfit)
  const { large } = scan
  if (!large) return parseWhole(bytes)
  requireNothingAround(bytes, large)
  return new PieceParser(bytes, turn).container(large, [])
}

function parseAtOnce(bytes: Buffer, scan: JsonScan): unknown {
  scan.scan(bytes.length)
  return parseWhole(bytes)
}

function parseWhole(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  const value = parsed(text)
  if (value === NOT_JSON) throw notJson(bytes, firstMistake(bytes))
  const bad = findBadText(text, value)
  if (bad) throw noText(bad)
  return value
}

/** Replaces a large list or object while the text around it is parsed. */
const LARGE_STAND_IN = Buffer.from('[]')

const NOT_JSON = Symbol('no JSON')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NOT_JSON
  }
}

const noText = (path: Step[]) => invalid(`${textPath(path)}: has a character that is no text`)

function requireNothingAround(bytes: Buffer, { from, to }: Container) {
  const before = firstVisible(bytes, 0, from)
  if (before < from) throw notJson(bytes, firstMistake(Buffer.concat([bytes.subarray(0, from), LARGE_STAND_IN])))
  const after = firstVisible(bytes, to, bytes.length)
  if (after < bytes.length) throw notJson(bytes, { at: after, expected: 'the end of the body' })
}

/** Yields to the event loop after enough work. */
class Turn {
  #begun = performance.now()

  async pass() {
    if (performance.now() - this.#begun < TURN_MS) return
    await letOthersGo()
    this.#begun = performance.now()
  }
}

/** Parses the pieces that a scan found, each with `JSON.parse`. */
class PieceParser {
  readonly #bytes: Buffer
  readonly #turn: Turn

  constructor(bytes: Buffer, turn: Turn) {
    this.#bytes = bytes
    this.#turn = turn
  }

  async container(container: Container, path: Step[]): Promise<unknown> {
    const { isList, pieces } = container
    const list: unknown[] = []
    const object: Record<string, unknown> = {}
    for (const piece of pieces) {
      await this.#turn.pass()
      if (piece.large) {
        const name = this.#nameOf(piece, piece.large, container, path) ?? list.length
        const value = await this.container(piece.large, [...path, name])
        if (isList) list.push(value)
        else setOwn(object, name as string, value)
        continue
      }
      const members = this.#members(piece, container, [...path, ...(isList ? [list.length] : [])])
      if (isList) for (const item of members as unknown[]) list.push(item)
      else for (const name of Object.keys(members)) setOwn(object, name, (members as typeof object)[name])
    }
    return isList ? list : object
  }

  #members({ from, to }: Piece, { isList, pieces }: Container, path: Step[]): object {
    const text = this.#textInBrackets(from, to, isList)
    const members = parsed(text)
    if (members === NOT_JSON) throw this.#mistakeIn(text, from)
    // An empty piece: two commas in a row, or a comma before the closing bracket.
    const isEmpty = pieces.length > 1 && firstVisible(this.#bytes, from, to) === to
    if (isEmpty) throw notJson(this.#bytes, { at: to, expected: isList ? 'a value' : 'a name in double quotes' })
    const bad = findBadText(text, members)
    if (bad) throw noText(joined(path, bad, isList))
    return members as object
  }

  /** The name of a large member of an object. An item of a list has none. */
  #nameOf({ from }: Piece, large: Container, { isList }: Container, path: Step[]): string | undefined {
    const text = inBrackets(`${this.#bytes.toString('utf8', from, large.from)}${LARGE_STAND_IN}`, isList)
    const member = parsed(text)
    if (member === NOT_JSON) throw this.#mistakeIn(text, from)
    if (findBadText(text, member)) throw noText(path)
    return isList ? undefined : Object.keys(member as object)[0]
  }

  /** Concatenates bytes, because a concatenated string would be copied once more before it is parsed. */
  #textInBrackets(from: number, to: number, isList: boolean): string {
    const bytes = Buffer.allocUnsafe(to - from + 2)
    this.#bytes.copy(bytes, 1, from, to)
    bytes.write(isList ? '[' : '{', 0)
    bytes.write(isList ? ']' : '}', bytes.length - 1)
    return bytes.toString('utf8')
  }

  #mistakeIn(inBrackets: string, from: number) {
    const { at, expected } = firstMistake(Buffer.from(inBrackets))
    return notJson(this.#bytes, { at: from + at - 1, expected })
  }
}

const inBrackets = (text: string, isList: boolean) => (isList ? `[${text}]` : `{${text}}`)

/** Corrects the first index of a path inside a piece of a list, which counts from the start of the piece. */
function joined(path: Step[], within: Step[], isList: boolean): Step[] {
  const [first, ...rest] = within
  if (!isList || typeof first !== 'number') return [...path, ...within]
  return [...path.slice(0, -1), (path.at(-1) as number) + first, ...rest]
}

/** A member may be called `__proto__`: it must not become the object's prototype. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown) {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}
