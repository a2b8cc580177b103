import type { Row } from '../../../../src/commands/send/csv.ts'
import { isHeading } from './columns.ts'
import { recogniseForm, UnreadableFile } from './file-form.ts'
import { rowsOf } from './rows.ts'
import type { Look } from './tasks.ts'

const LOOKED_AT = 20
const SHOWN_SAMPLES = 2
const MOST_COLUMNS = 50

/** How the file is written, its columns, and what the first rows have. */
export async function lookAt(file: Blob): Promise<Look> {
  const form = await recogniseForm(file)
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
