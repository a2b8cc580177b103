import { UsageError } from '../../base/errors.ts'

/** A row of a CSV file, and the line on which it begins. */
export type Row = { line: number; fields: string[] }

export const separators = [',', ';', '\t'] as const
export type Separator = (typeof separators)[number]

/**
 * Longer than any real row: most likely a quotation mark is not closed, and the rest of the file would be one field.
 */
const LONGEST_ROW = 100_000

/**
 * The rows of a CSV file, its heading among them, without the empty ones. A field in quotation marks may contain
 * separators and line ends. The line `sep=;`, which spreadsheets put in front, is no row.
 */
export async function* readRows(text: AsyncIterable<string>, separator: Separator): AsyncGenerator<Row> {
  const parser = new Parser(separator)
  for await (const piece of text) yield* parser.push(piece).filter(isNoHint)
  yield* parser.end().filter(isNoHint)
}

const isNoHint = ({ line, fields }: Row) => line > 1 || !hint.test(fields[0]!)
const hint = /^sep=(.?)$/i

/** The most frequent separator of the first line outside quotation marks, or the separator that the line declares. */
export function separatorOf(firstLine: string): Separator {
  const named = separators.find(separator => firstLine.toLowerCase() === `sep=${separator}`)
  if (named) return named
  const bare = firstLine.replaceAll(/"[^"]*"/g, '')
  const counted = separators.map(separator => ({ separator, count: bare.split(separator).length }))
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).separator
}

/** A row as a line of a CSV file. */
export const csvLine = (fields: string[], separator: Separator): string =>
  `${fields.map(text => (/["\r\n,;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(separator)}\r\n`

/** Reads one character after the other, so that a file may be cut into pieces anywhere. */
class Parser {
  readonly #separator: string
  #place: 'plain' | 'quoted' | 'after quote' = 'plain'
  #rows: Row[] = []
  #fields: string[] = []
  #field = ''
  /** Whether the field has any character, if only its quotation mark. */
  #isBegun = false
  #line = 1
  #firstLine = 1
  #length = 0
  #isAfterReturn = false

  constructor(separator: string) {
    this.#separator = separator
  }

  /** Returns the rows that end in this piece. */
  push(text: string): Row[] {
    for (const sign of text) this.#take(sign)
    return this.#takeRows()
  }

  /** Returns the last row. */
  end(): Row[] {
    if (this.#place === 'quoted') throw new UsageError(`line ${this.#firstLine}: a quotation mark is not closed.`)
    this.#endRow()
    return this.#takeRows()
  }

  #take(sign: string) {
    const isLineEnd = sign === '\r' || (sign === '\n' && !this.#isAfterReturn)
    if (isLineEnd) this.#line += 1
    if (++this.#length > LONGEST_ROW) {
      throw new UsageError(`line ${this.#firstLine}: the row is too long; perhaps a quotation mark is not closed.`)
    }
    if (this.#place === 'quoted') this.#takeQuoted(sign)
    else if (this.#place === 'after quote' && sign === '"') this.#reopen()
    else this.#takePlain(sign, isLineEnd)
    this.#isAfterReturn = sign === '\r'
  }

  #takeQuoted(sign: string) {
    if (sign === '"') this.#place = 'after quote'
    else this.#field += sign
  }

  /** Two quotation marks in a row stand for one. */
  #reopen() {
    this.#field += '"'
    this.#place = 'quoted'
  }

  #takePlain(sign: string, isLineEnd: boolean) {
    this.#place = 'plain'
    if (isLineEnd) this.#endRow()
    else if (sign === '\n')
      return // the second half of a line end
    else if (sign === this.#separator) this.#endField()
    else if (sign === '"' && !this.#isBegun) this.#open()
    else this.#add(sign)
  }

  #open() {
    this.#place = 'quoted'
    this.#isBegun = true
  }

  #add(sign: string) {
    this.#field += sign
    this.#isBegun = true
  }

  #endField() {
    this.#fields.push(this.#field)
    this.#field = ''
    this.#isBegun = false
  }

  #endRow() {
    this.#endField()
    if (this.#fields.some(text => text.trim() !== '')) this.#rows.push({ line: this.#firstLine, fields: this.#fields })
    this.#fields = []
    this.#firstLine = this.#line
    this.#length = 0
  }

  #takeRows(): Row[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }
}
