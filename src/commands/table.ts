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
