import { printable } from '../base/printable.ts'

/** Rows as an aligned table for people; control characters in a cell are written out. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const cells = [head, ...rows.map(row => row.map(cell => printable(String(cell ?? '-'))))]
  const widths = head.map((_, column) => Math.max(...cells.map(row => row[column]!.length)))
  return cells
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One thing in detail: a line for each of its fields, the values aligned. */
export const details = (fields: [string, string | number | null | undefined][]): string => {
  const width = Math.max(...fields.map(([name]) => name.length)) + 2
  return fields.map(([name, value]) => `${name.padEnd(width)}${printable(String(value ?? '-'))}`).join('\n')
}

/** The line below a list that is not complete. */
export const moreNote = (shown: number, total: number): string =>
  total > shown ? `\n${(total - shown).toLocaleString('en')} more: --limit shows more.` : ''
