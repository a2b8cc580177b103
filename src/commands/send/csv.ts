import { UsageError } from '../../base/errors.ts'

/** A row of a CSV file, and the line on which it begins. */
export type Row = { line: number; fields: string[] }

/**
 * The rows of a CSV file in UTF-8, its heading among them, without the empty ones. Fields are separated by commas or
 * semicolons, whichever the first line has more of; one in quotation marks may contain both, and line ends.
 */
export async function* readRows(source: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let parser: Parser | undefined
  let begun = ''
  for await (const piece of decoded(source)) {
    begun += piece
    if (!parser && !/[\r\n]/.test(begun)) continue
    parser ??= createParser(separatorOf(begun))
    yield* parser.push(begun)
    begun = ''
  }
  parser ??= createParser(separatorOf(begun))
  yield* parser.push(begun)
  yield* parser.end()
}

/** Without the byte order mark that spreadsheets put in front. */
async function* decoded(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece?: Buffer) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw new UsageError('The file is not written in UTF-8: save it as "CSV UTF-8".')
    }
  }
  for await (const piece of source) {
    const text = decode(piece)
    if (text.includes('\0')) throw new UsageError('The file is no text: there are zero bytes in it.')
    yield text
  }
  yield decode()
}

function separatorOf(text: string): string {
  const bare = text.split(/[\r\n]/, 1)[0]!.replaceAll(/"[^"]*"/g, '')
  return bare.split(';').length > bare.split(',').length ? ';' : ','
}

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
  let afterReturn = false

  function take(sign: string) {
    const isLineEnd = sign === '\r' || (sign === '\n' && !afterReturn)
    if (isLineEnd) line += 1
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
