import { withoutFormula } from '../../../base/formula.ts'
import type { Language } from '../../../domain/people/person.ts'

export type Cell = string | number | null
export type CsvStyle = { separator: string; decimalComma: boolean }

/**
 * The separators that spreadsheets of the language expect. Russian spreadsheets have decimal commas and read `3.5` as 3
 * May.
 */
export const csvStyles: Record<Language, CsvStyle> = {
  en: { separator: ',', decimalComma: false },
  ru: { separator: ';', decimalComma: true },
}

export async function* csvOf(head: string[], pages: AsyncIterable<Cell[][]>, style: CsvStyle): AsyncGenerator<string> {
  const lineOf = (cells: readonly Cell[]) => csvLine(cells, style)
  yield UTF8_MARK + lineOf(head)
  for await (const page of pages) yield page.map(lineOf).join('')
}

/** The byte order mark of UTF-8. Without it Excel assumes an old encoding. */
export const UTF8_MARK = '\ufeff'

export const csvLine = (cells: readonly Cell[], style: CsvStyle) =>
  `${cells.map(cell => csvCell(cell, style)).join(style.separator)}\r\n`

function csvCell(value: Cell, { decimalComma }: CsvStyle): string {
  if (value === null) return ''
  if (typeof value === 'number') return decimalComma ? String(value).replace('.', ',') : String(value)
  const text = withoutFormula(value)
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
