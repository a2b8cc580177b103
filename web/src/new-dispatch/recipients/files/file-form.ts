import { type Separator, separatorOf } from '../../../../../src/commands/send/csv.ts'

/** The format of a file of recipients. A draft of an earlier version names no sheet and means the first. */
export type FileForm =
  | { kind: 'csv'; encoding: Encoding; separator: Separator }
  | { kind: 'xlsx'; sheet?: number; sheets?: string[] }
export type Encoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1251'

/** The file cannot be read; `reason` says why. */
export class UnreadableFile extends Error {
  readonly reason: 'oldExcel' | 'empty' | 'broken' | 'tooLarge'
  constructor(reason: UnreadableFile['reason'], message = reason as string) {
    super(message)
    this.reason = reason
  }
}

const HEAD_BYTES = 64 * 1024

/**
 * Recognises a workbook by its first bytes. For other files it finds the encoding, from all bytes, and the separator.
 */
export async function recogniseForm(file: Blob): Promise<FileForm> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
  if (head.length === 0) throw new UnreadableFile('empty')
  if (beginsWith(head, [0x50, 0x4b, 0x03, 0x04])) return { kind: 'xlsx' }
  if (beginsWith(head, [0xd0, 0xcf, 0x11, 0xe0])) throw new UnreadableFile('oldExcel')
  const encoding = encodingByMark(head) ?? ((await isUtf8(file)) ? 'UTF-8' : 'Windows-1251')
  const [firstLine = ''] = new TextDecoder(encoding).decode(head).split(/[\r\n]/, 1)
  return { kind: 'csv', encoding, separator: separatorOf(firstLine) }
}

const beginsWith = (bytes: Uint8Array, start: number[]) => start.every((byte, at) => bytes[at] === byte)

function encodingByMark(head: Uint8Array): Encoding | undefined {
  if (beginsWith(head, [0xff, 0xfe])) return 'UTF-16LE'
  if (beginsWith(head, [0xfe, 0xff])) return 'UTF-16BE'
}

/** Reads the whole file, because the first byte that distinguishes the encodings may be anywhere. */
async function isUtf8(file: Blob): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const piece of piecesOf(file.stream())) decoder.decode(piece, { stream: true })
    decoder.decode()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** The pieces of a stream. Not every browser can iterate over a stream. */
export async function* piecesOf<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
