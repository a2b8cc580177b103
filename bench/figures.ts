/** One line of a result. A figure with a target is a promise; the others are there to understand it. */
export type Figure = {
  what: string
  value: number
  unit: string
  target?: { least: number } | { most: number }
  /** Charts find the figure by it. */
  id?: string
}

/** What the command line may change. */
export type Options = { history?: number; dispatch?: number; rounds?: number; only?: string }

export type Bench = { name: string; about: string; run(options: Options): Promise<Figure[]> }

export const isMet = ({ value, target }: Figure): boolean =>
  !target || ('least' in target ? value >= target.least : value <= target.most)

export function printTable(figures: Figure[]) {
  const rows = figures.map(rowOf)
  const widths = [0, 1, 2, 3, 4].map(column => Math.max(...rows.map(row => row[column]!.length)))
  for (const [what, value, ...rest] of rows) {
    const cells = [what!.padEnd(widths[0]!), value!.padStart(widths[1]!)]
    console.log([...cells, ...rest.map((cell, i) => cell.padEnd(widths[i + 2]!))].join('  ').trimEnd())
  }
}

function rowOf(figure: Figure): string[] {
  const { what, value, unit, target } = figure
  const bound = target ? boundOf(target) : ''
  return [what, readable(value), unit, bound, bound ? (isMet(figure) ? 'met' : 'MISSED') : '']
}

export const boundOf = (target: NonNullable<Figure['target']>): string =>
  'least' in target ? `at least ${target.least}` : `at most ${target.most}`

export const readable = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export type Round = { ours: number; floor: number }

/**
 * Measures ours and the floor in turn. Other work of the machine disturbs both sides of a round alike, so the
 * ratio is the median of the rounds' own ratios; the first round warms up and does not count.
 */
export async function inTurn(rounds: number, ours: () => Promise<number>, floor: () => Promise<number>) {
  const measured: Round[] = []
  for (let i = 0; i <= rounds; i++) measured.push({ ours: await ours(), floor: await floor() })
  const counted = measured.slice(1)
  return {
    ours: median(counted.map(round => round.ours)),
    floor: median(counted.map(round => round.floor)),
    ratio: median(counted.map(round => round.ours / round.floor)),
  }
}
