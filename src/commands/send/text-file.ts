import { createHash } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'

/** Encodings in which spreadsheets save CSV. */
export type Encoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1251'

export type TextFile = { encoding: Encoding; firstLine: string; digest: string }

const HEAD_BYTES = 64 * 1024

/** Reads a file to its end, in pieces, and tells how it is encoded, its first line and a digest of its bytes. */
export async function inspectText(source: AsyncIterable<Buffer>): Promise<TextFile> {
  const hash = createHash('sha256')
  const utf8 = createUtf8Check()
  let head = Buffer.alloc(0)
  for await (const piece of source) {
    hash.update(piece)
    utf8.push(piece)
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)])
  }
  refuseSpreadsheet(head)
  const encoding = encodingByMark(head) ?? encodingByZeros(head) ?? (utf8.end() ? 'UTF-8' : 'Windows-1251')
  const [firstLine = ''] = new TextDecoder(encoding).decode(head).split(/[\r\n]/, 1)
  return { encoding, firstLine, digest: hash.digest('hex') }
}

/** The text of a file in pieces, without the byte order mark. Bytes that the encoding does not have are refused. */
export async function* decoded(source: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (piece?: Buffer) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw new UsageError(`The file begins like ${encoding} and does not go on like it: save it as "CSV UTF-8".`)
    }
  }
  for await (const piece of source) {
    const text = decode(piece)
    if (text.includes('\0')) throw new UsageError('The file is no text: there are zero bytes in it.')
    if (encoding === 'Windows-1251' && text.includes(NOT_IN_WINDOWS_1251)) {
      throw new UsageError('The file is neither UTF-8 nor UTF-16 nor Windows-1251: save it as "CSV UTF-8".')
    }
    yield text
  }
  yield decode()
}

/** The character that the decoder returns for byte 98, the only undefined byte of Windows-1251. */
const NOT_IN_WINDOWS_1251 = '\u0098'

function createUtf8Check() {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isValid = true
  const check = (decode: () => unknown) => {
    if (!isValid) return
    try {
      decode()
    } catch {
      isValid = false
    }
  }
  return {
    push: (piece: Buffer) => check(() => decoder.decode(piece, { stream: true })),
    end: () => {
      check(() => decoder.decode())
      return isValid
    },
  }
}

const zipped = Buffer.from('PK\u0003\u0004')
const oldExcel = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

function refuseSpreadsheet(head: Buffer) {
  if ([zipped, oldExcel].some(start => head.subarray(0, start.length).equals(start))) {
    throw new UsageError('The file is a workbook of a spreadsheet program: save it as CSV.')
  }
}

function encodingByMark(head: Buffer): Encoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'UTF-16LE'
  if (head[0] === 0xfe && head[1] === 0xff) return 'UTF-16BE'
}

/** UTF-16 without a mark: digits and separators have a zero byte each, always on the same side. */
function encodingByZeros(head: Buffer): Encoding | undefined {
  let even = 0
  let odd = 0
  for (let at = 0; at < head.length; at++) {
    if (head[at] !== 0) continue
    if (at % 2 === 0) even += 1
    else odd += 1
  }
  if (odd > 0 && even === 0) return 'UTF-16LE'
  if (even > 0 && odd === 0) return 'UTF-16BE'
}
