import type { Row } from '../../../../../src/commands/send/csv.ts'
import { type CellFormat, readCellFormats, shownMoment, shownNumber } from './cell-formats.ts'
import { piecesOf, UnreadableFile } from './file-form.ts'

const MOST_SHEETS = 100

/** The names of the sheets in the order of their tabs. */
export async function sheetNames(file: Blob): Promise<string[]> {
  const workbook = await smallPart(file, (await readDirectory(file)).get('xl/workbook.xml'))
  return sheetTags(workbook).map(tag => plainText(attribute(tag, 'name') ?? ''))
}

const sheetTags = (workbook: string) =>
  [...workbook.matchAll(/<(?:\w+:)?sheet\b[^>]*>/g)].slice(0, MOST_SHEETS).map(([tag]) => tag)

/**
 * Reads a sheet of a workbook (Office Open XML) in pieces while it is unpacked. Only the table of shared texts stays in
 * memory, as bytes. Dates and numbers are written as the sheet shows them.
 */
export async function* readSheet(file: Blob, place = 0): AsyncGenerator<Row> {
  const entries = await readDirectory(file)
  const workbook = await smallPart(file, entries.get('xl/workbook.xml'))
  const sheet = entries.get(await partOfSheet(file, entries, sheetTags(workbook)[place] ?? ''))
  if (!sheet) throw new UnreadableFile('broken', 'The workbook has no sheet')
  const shared = new SharedTexts()
  const texts = entries.get('xl/sharedStrings.xml')
  if (texts) await readSharedTexts(file, texts, shared)
  const formats = readCellFormats(await smallPart(file, entries.get('xl/styles.xml'), LARGEST_STYLES))
  const is1904 = /\bdate1904="(?:1|true)"/.test(workbook)
  yield* rowsIn(file, sheet, { shared, formats, is1904 })
}

// The archive ----------------------------------------------------------------------------------------------------------

type Entry = { method: number; packedBytes: number; offset: number }

const END_BYTES = 22
const LONGEST_COMMENT = 0xffff
const MOST_ENTRIES = 10_000

/** The directory of a zip archive is at the end of the file. */
async function readDirectory(file: Blob): Promise<Map<string, Entry>> {
  const tail = new DataView(await file.slice(-(END_BYTES + LONGEST_COMMENT)).arrayBuffer())
  let end = tail.byteLength - END_BYTES
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1
  if (end < 0) throw new UnreadableFile('broken', 'The archive has no directory')
  const count = tail.getUint16(end + 10, true)
  const sizeBytes = tail.getUint32(end + 12, true)
  const start = tail.getUint32(end + 16, true)
  if (count > MOST_ENTRIES || start + sizeBytes > file.size) throw new UnreadableFile('broken')
  return entriesIn(await file.slice(start, start + sizeBytes).arrayBuffer(), count)
}

function entriesIn(bytes: ArrayBuffer, count: number): Map<string, Entry> {
  const view = new DataView(bytes)
  const entries = new Map<string, Entry>()
  for (let at = 0, read = 0; read < count && at + 46 <= view.byteLength; read++) {
    const nameBytes = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(new Uint8Array(bytes, at + 46, nameBytes))
    entries.set(name.replaceAll('\\', '/'), {
      method: view.getUint16(at + 10, true),
      packedBytes: view.getUint32(at + 20, true),
      offset: view.getUint32(at + 42, true),
    })
    at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

async function* textIn(file: Blob, { method, packedBytes, offset }: Entry): AsyncGenerator<string> {
  const head = new DataView(await file.slice(offset, offset + 30).arrayBuffer())
  if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) throw new UnreadableFile('broken')
  const start = offset + 30 + head.getUint16(26, true) + head.getUint16(28, true)
  const packed = file.slice(start, start + packedBytes).stream()
  const stream = method === 0 ? packed : packed.pipeThrough(new DecompressionStream('deflate-raw'))
  const decoder = new TextDecoder()
  try {
    for await (const piece of piecesOf(stream)) yield decoder.decode(piece, { stream: true })
  } catch {
    throw new UnreadableFile('broken', 'The archive is damaged')
  }
}

const LONGEST_SMALL_PART = 1_000_000
const LARGEST_STYLES = 20_000_000

async function smallPart(file: Blob, entry: Entry | undefined, longest = LONGEST_SMALL_PART): Promise<string> {
  let text = ''
  if (!entry) return text
  for await (const piece of textIn(file, entry)) {
    text += piece
    if (text.length > longest) throw new UnreadableFile('broken')
  }
  return text
}

async function partOfSheet(file: Blob, entries: Map<string, Entry>, tag: string): Promise<string> {
  const id = attribute(tag, 'r:id')
  const relations = await smallPart(file, entries.get('xl/_rels/workbook.xml.rels'))
  const [relation] = [...relations.matchAll(/<Relationship\b[^>]*>/g)].filter(([tag]) => tag.includes(`Id="${id}"`))
  const target = /\bTarget="([^"]+)"/.exec(relation?.[0] ?? '')?.[1] ?? 'worksheets/sheet1.xml'
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`
}

// XML ------------------------------------------------------------------------------------------------------------------

type Handler = { open(name: string, tag: string): void; close(name: string): void; text(text: string): void }

/** Longer than any tag or cell of a real sheet. */
const LONGEST_TOKEN = 1_000_000

/** Reads the XML of workbooks in pieces: tags and text, without custom entities. */
function createXmlReader(handler: Handler) {
  let rest = ''
  return (piece: string) => {
    const xml = rest + piece
    let at = 0
    for (;;) {
      const start = xml.indexOf('<', at)
      const end = start < 0 ? -1 : xml.indexOf('>', start)
      if (end < 0) break
      if (start > at) handler.text(xml.slice(at, start))
      readTag(xml.slice(start + 1, end), handler)
      at = end + 1
    }
    rest = xml.slice(at)
    if (rest.length > LONGEST_TOKEN) throw new UnreadableFile('broken')
  }
}

function readTag(tag: string, handler: Handler) {
  const first = tag[0]
  if (first === '?' || first === '!') return
  if (first === '/') return handler.close(localName(tag.slice(1).trim()))
  const isEmpty = tag.endsWith('/')
  const nameEnd = tag.search(/[\s/]/)
  const name = localName(nameEnd < 0 ? tag : tag.slice(0, nameEnd))
  handler.open(name, tag)
  if (isEmpty) handler.close(name)
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const plainText = (xml: string) =>
  xml.includes('&')
    ? xml.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
        if (name) return named[name] ?? whole
        const point = hex ? Number.parseInt(hex, 16) : Number(decimal)
        return point <= 0x10ffff ? String.fromCodePoint(point) : whole
      })
    : xml

// Shared texts ---------------------------------------------------------------------------------------------------------

const MOST_TEXT_BYTES = 512 * 1024 * 1024

/** Texts by number, stored as consecutive bytes. Strings would need several times the memory. */
class SharedTexts {
  #bytes = new Uint8Array(1 << 16)
  #ends = new Uint32Array(1 << 12)
  #used = 0
  #count = 0
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder()

  add(text: string) {
    const room = text.length * 3
    if (this.#used + room > MOST_TEXT_BYTES) throw new UnreadableFile('tooLarge')
    if (this.#used + room > this.#bytes.length) this.#bytes = larger(this.#bytes, this.#used + room)
    if (this.#count === this.#ends.length) this.#ends = larger(this.#ends, this.#count + 1)
    this.#used += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#used)).written
    this.#ends[this.#count++] = this.#used
  }

  at(index: number): string {
    if (!(index >= 0 && index < this.#count)) return ''
    const start = this.#ends[index - 1] ?? 0
    return this.#decoder.decode(this.#bytes.subarray(start, this.#ends[index]))
  }
}

function larger<T extends Uint8Array | Uint32Array>(array: T, least: number): T {
  const Kind = array.constructor as new (length: number) => T
  const grown = new Kind(Math.max(least, array.length * 2))
  grown.set(array)
  return grown
}

async function readSharedTexts(file: Blob, entry: Entry, shared: SharedTexts) {
  let text = ''
  let isText = false
  let isReading = 0 // inside a pronunciation, which is not shown
  const read = createXmlReader({
    open(name) {
      if (name === 'si') text = ''
      else if (name === 't') isText = isReading === 0
      else if (name === 'rPh') isReading += 1
    },
    close(name) {
      if (name === 'si') shared.add(text)
      else if (name === 't') isText = false
      else if (name === 'rPh') isReading -= 1
    },
    text(xml) {
      if (isText) text += plainText(xml)
    },
  })
  for await (const piece of textIn(file, entry)) read(piece)
}

// Rows -----------------------------------------------------------------------------------------------------------------

const MOST_COLUMNS = 1000

type Book = { shared: SharedTexts; formats: CellFormat[]; is1904: boolean }

async function* rowsIn(file: Blob, entry: Entry, book: Book): AsyncGenerator<Row> {
  let rows: Row[] = []
  let line = 0
  let fields: string[] = []
  let column = -1
  let type = ''
  let style = 0
  let value = ''
  let isValue = false

  const read = createXmlReader({
    open(name, tag) {
      if (name === 'c') {
        column = columnOf(tag) ?? column + 1
        type = attribute(tag, 't') ?? 'n'
        style = Number(attribute(tag, 's') ?? 0)
        value = ''
      } else if (name === 'v' || name === 't') isValue = true
      else if (name === 'row') {
        line = Number(attribute(tag, 'r') ?? line + 1)
        fields = []
        column = -1
      }
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'c') place()
      else if (name === 'row' && fields.some(field => field.trim() !== '')) rows.push({ line, fields })
    },
    text(xml) {
      if (isValue) value += plainText(xml)
    },
  })

  function place() {
    if (column >= MOST_COLUMNS) return
    while (fields.length < column) fields.push('')
    fields[column] = shownCell(type, value, style, book)
  }

  for await (const piece of textIn(file, entry)) {
    read(piece)
    yield* rows
    rows = []
  }
}

function shownCell(type: string, value: string, style: number, { shared, formats, is1904 }: Book): string {
  if (type === 's') return shared.at(Number(value))
  if (type === 'n') return shownNumber(value, formats[style] ?? { kind: 'general' }, is1904)
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'd') return shownMoment(value, true, !/T00:00/.test(value) && value.includes('T'))
  // A formula error such as #N/A must not be sent, so it counts as empty.
  return type === 'e' ? '' : value
}

const attribute = (tag: string, name: string): string | undefined => {
  const start = tag.indexOf(` ${name}="`)
  if (start < 0) return undefined
  const from = start + name.length + 3
  return tag.slice(from, tag.indexOf('"', from))
}

/** `B7` is column 1. */
function columnOf(tag: string): number | undefined {
  const place = attribute(tag, 'r')
  if (place === undefined) return undefined
  let column = 0
  for (let at = 0; at < place.length; at++) {
    const letter = place.charCodeAt(at) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  return column - 1
}
