import { type Row, readRows } from '../../../../../src/commands/send/csv.ts'
import { type Encoding, type FileForm, piecesOf } from './file-form.ts'
import { readSheet } from './xlsx.ts'

/** The rows of a file, in pieces, so that memory does not depend on their number. */
export const rowsOf = (file: Blob, form: FileForm): AsyncIterable<Row> =>
  form.kind === 'xlsx' ? readSheet(file, form.sheet) : readRows(textOf(file, form.encoding), form.separator)

async function* textOf(file: Blob, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const piece of piecesOf(file.stream())) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}
