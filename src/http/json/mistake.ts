import { type AppError, invalid } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import { firstVisible, MOST_LEVELS } from './scan.ts'

/** The position at which a text is no longer JSON, and the characters that are allowed there. */
export type Mistake = { at: number; expected: string }

/** `body: must be JSON: line 3, column 12: expected "," or "}", found "x"`. */
export function notJson(bytes: Buffer, { at, expected }: Mistake): AppError {
  const lineFrom = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1
  const column = bytes.toString('utf8', lineFrom, at).length + 1
  const place = `line ${linesBefore(bytes, lineFrom) + 1}, column ${column}`
  return invalid(`body: must be JSON: ${place}: expected ${expected}, found ${foundAt(bytes, at)}`)
}

function linesBefore(bytes: Buffer, to: number): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < to; at = bytes.indexOf(0x0a, at + 1)) lines += 1
  return lines
}

const LONGEST_CHARACTER_BYTES = 4

function foundAt(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return 'the end of the body'
  const [character] = bytes.toString('utf8', at, at + LONGEST_CHARACTER_BYTES)
  return character === '"' ? "'\"'" : `"${printable(character!)}"`
}

/** Finds the first mistake of a text that `JSON.parse` has refused, by reading it again character by character. */
export function firstMistake(bytes: Buffer): Mistake {
  try {
    const reader = new Reader(bytes)
    reader.value(0)
    reader.skipBlanks()
    if (reader.at < bytes.length) reader.fail('the end of the body')
    return { at: 0, expected: 'JSON' }
  } catch (mistake) {
    if (mistake instanceof Error) throw mistake
    return mistake as Mistake
  }
}

const code = (character: string) => character.charCodeAt(0)
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39
const ESCAPES = new Set([...'"\\/bfnrt'].map(code))

/** Reads JSON by its grammar without building values, and throws the first mistake. */
class Reader {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  fail(expected: string): never {
    throw { at: Math.min(this.at, this.#bytes.length), expected } satisfies Mistake
  }

  skipBlanks() {
    this.at = firstVisible(this.#bytes, this.at, this.#bytes.length)
  }

  value(depth: number) {
    if (depth > MOST_LEVELS) this.fail(`at most ${MOST_LEVELS} levels`)
    this.skipBlanks()
    const byte = this.#bytes[this.at]
    if (byte === code('{')) this.#object(depth)
    else if (byte === code('[')) this.#list(depth)
    else if (byte === code('"')) this.#string()
    else if (byte === code('-') || isDigit(byte)) this.#number()
    else if (!['true', 'false', 'null'].some(word => this.#take(word))) this.fail('a value')
  }

  #object(depth: number) {
    this.at += 1
    if (this.#takeNext('}')) return
    for (let isFirst = true; ; isFirst = false) {
      this.skipBlanks()
      if (this.#bytes[this.at] !== code('"')) this.fail(`a name in double quotes${isFirst ? ' or "}"' : ''}`)
      this.#string()
      if (!this.#takeNext(':')) this.fail('":"')
      this.value(depth + 1)
      if (this.#takeNext('}')) return
      if (!this.#takeNext(',')) this.fail('"," or "}"')
    }
  }

  #list(depth: number) {
    this.at += 1
    if (this.#takeNext(']')) return
    for (;;) {
      this.value(depth + 1)
      if (this.#takeNext(']')) return
      if (!this.#takeNext(',')) this.fail('"," or "]"')
    }
  }

  #string() {
    this.at += 1
    for (;;) {
      const byte = this.#bytes[this.at]
      if (byte === undefined) this.fail("'\"' at the end of the text")
      if (byte < 0x20) this.fail('an escape such as \\n in place of a control character')
      this.at += 1
      if (byte === code('"')) return
      if (byte === code('\\')) this.#escape()
    }
  }

  #escape() {
    const byte = this.#bytes[this.at]
    if (byte !== undefined && ESCAPES.has(byte)) this.at += 1
    else if (!this.#take('u')) this.fail('one of " \\ / b f n r t u after a backslash')
    else for (let i = 0; i < 4; i += 1) this.#hexDigit()
  }

  #hexDigit() {
    if (!/[\da-f]/i.test(String.fromCharCode(this.#bytes[this.at] ?? 0))) this.fail('four hexadecimal digits after \\u')
    this.at += 1
  }

  #number() {
    this.#take('-')
    if (!this.#take('0')) this.#digits()
    if (this.#take('.')) this.#digits()
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-')
      this.#digits()
    }
  }

  #digits() {
    if (!isDigit(this.#bytes[this.at])) this.fail('a digit')
    while (isDigit(this.#bytes[this.at])) this.at += 1
  }

  #takeNext(character: string): boolean {
    this.skipBlanks()
    return this.#take(character)
  }

  #take(word: string): boolean {
    if (this.#bytes.toString('latin1', this.at, this.at + word.length) !== word) return false
    this.at += word.length
    return true
  }
}
