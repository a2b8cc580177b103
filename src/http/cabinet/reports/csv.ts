import type { Language } from '../../../domain/people/person.ts'

export type Cell = string | number | null
export type CsvStyle = { separator: string; decimalComma: boolean }

/** As spreadsheets of the language read them: Russian ones take a comma for the decimal sign and `3.5` for a day of May. */
export const csvStyles: Record<Language, CsvStyle> = {
  en: { separator: ',', decimalComma: false },
  ru: { separator: ';', decimalComma: true },
}

export async function* csvOf(head: string[], pages: AsyncIterable<Cell[][]>, style: CsvStyle): AsyncGenerator<string> {
  const lineOf = (cells: readonly Cell[]) => csvLine(cells, style)
  yield UTF8_MARK + lineOf(head)
  for await (const page of pages) yield page.map(lineOf).join('')
}

/** At the beginning of a file, the mark of UTF-8: Excel takes it for an old encoding otherwise. */
export const UTF8_MARK = '\ufeff'

export const csvLine = (cells: readonly Cell[], style: CsvStyle) =>
  `${cells.map(cell => csvCell(cell, style)).join(style.separator)}\r\n`

/** A spreadsheet would calculate what begins like a formula; an apostrophe makes it text. */
function csvCell(value: Cell, { decimalComma }: CsvStyle): string {
  if (value === null) return ''
  if (typeof value === 'number') return decimalComma ? String(value).replace('.', ',') : String(value)
  const text = opensFormula.test(value) ? `'${value}` : value
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Also by the wide signs, which some spreadsheets read as the usual ones. */
export const opensFormula = /^[=+\-@\t\r\n＝＋－＠]/
