import { boundOf, type Figure, isMet, readable } from '../bench/figures.ts'

/** The result of one part of a proof. A figure with a target is a promise. */
export type Outcome = { name: string; figures: Figure[]; skipped?: string; failed?: string }

export const isKept = ({ figures, failed }: Outcome): boolean => failed === undefined && figures.every(isMet)

/** A run that skipped everything has proved nothing. */
export function exitCodeOf(outcomes: Outcome[]): number {
  const isAnyProved = outcomes.some(({ skipped }) => skipped === undefined)
  return isAnyProved && outcomes.every(isKept) ? 0 : 1
}

/** One line for each outcome, one column for each figure. A broken promise has an exclamation mark. */
export function tableOf(outcomes: Outcome[]): string {
  const columns = [...new Set(outcomes.flatMap(({ figures }) => figures.map(({ what }) => what)))]
  const lines = [['', ...columns, ''], ...outcomes.map(outcome => cellsOf(outcome, columns))]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  const write = (line: string[]) => line.map((cell, i) => padded(cell, widths[i]!, i === 0 || i > columns.length))
  return lines.map(line => write(line).join('  ').trimEnd()).join('\n')
}

const padded = (cell: string, width: number, isText: boolean) => (isText ? cell.padEnd(width) : cell.padStart(width))

function cellsOf({ name, figures, skipped, failed }: Outcome, columns: string[]): string[] {
  const found = columns.map(column => figures.find(({ what }) => what === column))
  const cells = found.map(figure => (figure ? `${readable(figure.value)}${isMet(figure) ? '' : '!'}` : ''))
  return [name, ...cells, skipped ? `skipped: ${skipped}` : failed ? `failed: ${failed}` : '']
}

/** Every broken promise as a sentence. */
export const brokenPromises = (outcomes: Outcome[]): string[] =>
  outcomes.flatMap(({ name, figures, failed }) => [
    ...(failed === undefined ? [] : [`${name}: ${failed}`]),
    ...figures
      .filter(figure => !isMet(figure))
      .map(({ what, value, target }) => `${name}: ${what} is ${readable(value)}, promised is ${boundOf(target!)}`),
  ])

/** Prints the table and the broken promises, and returns the exit code. */
export function report(outcomes: Outcome[]): number {
  console.log(`\n${tableOf(outcomes)}`)
  for (const sentence of brokenPromises(outcomes)) console.log(`BROKEN: ${sentence}`)
  const code = exitCodeOf(outcomes)
  console.log(code === 0 ? 'Every promise is kept.' : 'Not every promise is kept.')
  return code
}
