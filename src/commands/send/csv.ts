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
  const parser = createParser(separator)
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

type Parser = { push(text: string): Row[]; end(): Row[] }

/** Reads one character after the other, so that a file may be cut into pieces anywhere. */
function createParser(separator: string): Parser {
  let place: 'plain' | 'quoted' | 'after quote' = 'plain'
  let rows: Row[] = []
  let fields: string[] = []
  let field = ''
  let isBegun = false // something of the field has been seen, if only its quotation mark
  let line = 1
  let firstLine = 1
  let length = 0
  let afterReturn = false

  function take(sign: string) {
    const isLineEnd = sign === '\r' || (sign === '\n' && !afterReturn)
    if (isLineEnd) line += 1
    if (++length > LONGEST_ROW) {
      throw new UsageError(`line ${firstLine}: the row is too long; perhaps a quotation mark is not closed.`)
    }
    if (place === 'quoted') takeQuoted(sign)
    else if (place === 'after quote' && sign === '"') reopen()
    else takePlain(sign, isLineEnd)
    afterReturn = sign === '\r'
  }

  function takeQuoted(sign: string) {
    if (sign === '"') place = 'after quote'
    else field += sign
  }

  /** Two quotation marks in a row stand for one. */
  function reopen() {
    field += '"'
    place = 'quoted'
  }

  function takePlain(sign: string, isLineEnd: boolean) {
    place = 'plain'
    if (isLineEnd) endRow()
    else if (sign === '\n')
      return // the second half of a line end
    else if (sign === separator) endField()
    else if (sign === '"' && !isBegun) open()
    else add(sign)
  }

  function open() {
    place = 'quoted'
    isBegun = true
  }

  function add(sign: string) {
    field += sign
    isBegun = true
  }

  function endField() {
    fields.push(field)
    field = ''
    isBegun = false
  }

  function endRow() {
    endField()
    if (fields.some(text => text.trim() !== '')) rows.push({ line: firstLine, fields })
    fields = []
    firstLine = line
    length = 0
  }

  function handOver(): Row[] {
    const done = rows
    rows = []
    return done
  }

  return {
    push(text) {
      for (const sign of text) take(sign)
      return handOver()
    },
    end() {
      if (place === 'quoted') throw new UsageError(`line ${firstLine}: a quotation mark is not closed.`)
      endRow()
      return handOver()
    },
  }
}
