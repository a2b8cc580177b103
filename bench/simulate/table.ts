/** A table of Markdown, which is also readable on a terminal. */
export function tableOf(head: string[], rows: string[][]): string {
  const widths = head.map((cell, i) => Math.max(3, cell.length, ...rows.map(row => row[i]!.length)))
  const lineOf = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [lineOf(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(lineOf)].join('\n')
}

/** With three significant digits at most. */
export const shown = (value: number): string =>
  value >= 1000 ? Math.round(Number(value.toPrecision(3))).toLocaleString('en') : String(Number(value.toPrecision(2)))

/** 1000000 as "1 million". */
export function inWords(perDay: number): string {
  if (perDay >= 1e9) return `${shown(perDay / 1e9)} billion`
  if (perDay >= 1e6) return `${shown(perDay / 1e6)} million`
  return shown(perDay)
}
