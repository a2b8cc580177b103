import { pipeline, Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'
import { opensFormula } from '../../../base/formula.ts'
import type { Cell } from './csv.ts'

/**
 * Writes a spreadsheet while its rows are read: a zip archive of XML, in pieces, so that a million rows take no more
 * memory than a page of rows.
 */

/** Excel ends a sheet at 1,048,576 rows. Further rows go to the next sheet. */
const ROWS_OF_SHEET = 1_000_000

export async function* xlsxOf(
  head: string[],
  pages: AsyncIterator<Cell[][]>,
  rows: number,
  { rowsOfSheet = ROWS_OF_SHEET, sheetName = 'Messages' } = {},
): AsyncGenerator<Buffer> {
  const sheets = Math.max(1, Math.ceil(rows / rowsOfSheet))
  const zip = new Zip()
  for (const [name, text] of partsOf(sheets, sheetName)) yield* zip.add(name, [text])
  for (let sheet = 1; sheet <= sheets; sheet += 1)
    yield* zip.add(`xl/worksheets/sheet${sheet}.xml`, sheetOf(head, pages, sheet < sheets ? rowsOfSheet : Infinity))
  yield zip.end()
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** The files around the sheets. Style 1 is for the heading, style 2 for texts that must not be read as formulas. */
function partsOf(sheets: number, sheetName: string): [string, string][] {
  const each = (text: (sheet: number) => string) => Array.from({ length: sheets }, (_, i) => text(i + 1)).join('')
  return [
    [
      '[Content_Types].xml',
      `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>${each(sheet => `<Override PartName="/xl/worksheets/sheet${sheet}.xml" ContentType="${TYPE}.worksheet+xml"/>`)}</Types>`,
    ],
    [
      '_rels/.rels',
      `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${each(sheet => `<sheet name="${sheetName} ${sheet}" sheetId="${sheet}" r:id="rId${sheet}"/>`)}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${XML}<Relationships xmlns="${PACKAGE}/relationships">${each(sheet => `<Relationship Id="rId${sheet}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${sheet}.xml"/>`)}<Relationship Id="rId${sheets + 1}" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      'xl/styles.xml',
      `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" applyFont="1"/><xf quotePrefix="1"/></cellXfs></styleSheet>`,
    ],
  ]
}

/** Takes pages until the sheet is full, and keeps the remaining rows for the next sheet. */
async function* sheetOf(head: string[], pages: AsyncIterator<Cell[][]>, most: number): AsyncGenerator<string> {
  yield `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="${head.length}" width="20" customWidth="1"/></cols><sheetData>${rowOf(head, ' s="1"')}`
  for (let rows = 0; rows < most; ) {
    const page = await pages.next()
    if (page.done) break
    rows += page.value.length
    yield page.value.map(row => rowOf(row)).join('')
  }
  yield '</sheetData></worksheet>'
}

const rowOf = (cells: readonly Cell[], style?: string) =>
  `<row>${cells.map(cell => cellOf(cell, style)).join('')}</row>`

/** A text is never calculated. A text that begins like a formula stays a text also after a person edits it. */
function cellOf(value: Cell, style = ''): string {
  if (value === null) return '<c/>'
  if (typeof value === 'number') return `<c${style}><v>${value}</v></c>`
  const quoted = opensFormula.test(value) ? ' s="2"' : style
  return `<c${quoted} t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`
}

/** XML allows only these three control characters, and no half of a surrogate pair. */
const notInXml = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeXml = (text: string) =>
  text
    .toWellFormed()
    .replace(notInXml, '\ufffd')
    .replace(/[&<>]/g, sign => escapes[sign]!)

type Entry = { name: Buffer; crc: number; packed: number; size: number; offset: number }

/** The sizes follow each file, because they are not known before. */
class Zip {
  readonly #entries: Entry[] = []
  #offset = 0

  async *add(name: string, texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer> {
    const entry: Entry = { name: Buffer.from(name), crc: 0, packed: 0, size: 0, offset: this.#offset }
    this.#entries.push(entry)
    yield this.#passed(localHeader(entry))
    const deflate = createDeflateRaw({ level: 6 })
    pipeline(Readable.from(measured(texts, entry)), deflate, () => {}) // the loop below throws the error
    for await (const piece of deflate) {
      entry.packed += piece.length
      yield this.#passed(piece)
    }
    yield this.#passed(descriptor(entry))
  }

  end(): Buffer {
    const directory = Buffer.concat(this.#entries.map(centralHeader))
    const end = Buffer.alloc(22)
    end.writeUInt32LE(0x06054b50, 0)
    end.writeUInt16LE(this.#entries.length, 8)
    end.writeUInt16LE(this.#entries.length, 10)
    end.writeUInt32LE(directory.length, 12)
    end.writeUInt32LE(this.#offset, 16)
    return Buffer.concat([directory, end])
  }

  #passed(piece: Buffer): Buffer {
    this.#offset += piece.length
    return piece
  }
}

async function* measured(texts: Iterable<string> | AsyncIterable<string>, entry: Entry) {
  for await (const text of texts) {
    const bytes = Buffer.from(text)
    entry.crc = crc32(bytes, entry.crc)
    entry.size += bytes.length
    yield bytes
  }
}

const VERSION = 20
/** Flags: the sizes follow the file, names are in UTF-8. */
const FLAGS = 0x0808
const DEFLATED = 8
/** 1 January 1980, the earliest day of the format. The format requires a day. */
const DAY = 0x21

function localHeader({ name }: Entry): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(VERSION, 4)
  header.writeUInt16LE(FLAGS, 6)
  header.writeUInt16LE(DEFLATED, 8)
  header.writeUInt16LE(DAY, 12)
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, name])
}

function descriptor({ crc, packed, size }: Entry): Buffer {
  const sizes = Buffer.alloc(16)
  sizes.writeUInt32LE(0x08074b50, 0)
  sizes.writeUInt32LE(crc, 4)
  sizes.writeUInt32LE(packed, 8)
  sizes.writeUInt32LE(size, 12)
  return sizes
}

function centralHeader({ name, crc, packed, size, offset }: Entry): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(VERSION, 4)
  header.writeUInt16LE(VERSION, 6)
  header.writeUInt16LE(FLAGS, 8)
  header.writeUInt16LE(DEFLATED, 10)
  header.writeUInt16LE(DAY, 14)
  header.writeUInt32LE(crc, 16)
  header.writeUInt32LE(packed, 20)
  header.writeUInt32LE(size, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, name])
}
