import type { Row } from '../../../../../src/commands/send/csv.ts'
import { type FileForm, recogniseForm, UnreadableFile } from '../files/file-form.ts'
import { rowsOf } from '../files/rows.ts'
import { sheetNames } from '../files/xlsx.ts'
import { isHeading } from './columns.ts'
import type { Look } from './tasks.ts'

const LOOKED_AT = 20
const SHOWN_SAMPLES = 2
const MOST_COLUMNS = 50

/**
 * The format of the file, its columns, and samples from the first rows. For a workbook: its first sheet with
 * recipients.
 */
export async function lookAt(file: Blob, sheet?: number): Promise<Look> {
  const form = await recogniseForm(file)
  if (form.kind === 'csv') return lookAtRows(file, form)
  const sheets = await sheetNames(file)
  const places = sheet === undefined ? [...sheets.keys()] : [sheet]
  for (const place of places.slice(0, -1)) {
    const look = await lookAtRows(file, { ...form, sheet: place, sheets }).catch(isEmpty)
    if (look) return look
  }
  return lookAtRows(file, { ...form, sheet: places.at(-1) ?? 0, sheets })
}

/** Skips sheets without recipients, such as a title page. */
function isEmpty(error: unknown): undefined {
  if (!(error instanceof UnreadableFile) || error.reason !== 'empty') throw error
}

async function lookAtRows(file: Blob, form: FileForm): Promise<Look> {
  const rows: Row[] = []
  for await (const row of rowsOf(file, form)) if (rows.push(row) > LOOKED_AT) break
  const [first] = rows
  if (!first) throw new UnreadableFile('empty')
  const hasHeading = isHeading(first.fields)
  const content = hasHeading ? rows.slice(1) : rows
  if (content.length === 0) throw new UnreadableFile('empty')
  const width = Math.min(MOST_COLUMNS, Math.max(...rows.map(({ fields }) => fields.length)))
  const columns = Array.from({ length: width }, (_, at) => ({
    name: hasHeading ? (first.fields[at] ?? '').trim().slice(0, 100) : '',
    samples: content
      .map(({ fields }) => (fields[at] ?? '').trim().slice(0, 60))
      .filter(text => text !== '')
      .slice(0, SHOWN_SAMPLES),
  }))
  return { form, columns, hasHeading }
}
