/** Rows as an aligned table for people. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const cells = [head, ...rows.map(row => row.map(cell => String(cell ?? '-')))]
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
