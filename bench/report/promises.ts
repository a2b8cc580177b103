import { boundOf, type Figure, isMet, readable } from '../figures.ts'
import { lineAt, PADDING, picture, rectAt, type Theme, textAt, WIDTH } from './svg.ts'

/** A figure with a target. */
export type Promised = Figure & { target: NonNullable<Figure['target']> }

export const isPromise = (figure: Figure): figure is Promised => figure.target !== undefined

/** How many times better than its target: 1 meets it exactly, and less than 1 misses it. */
export function scoreOf({ value, target }: Promised): number {
  if ('least' in target) return value / target.least
  return value === 0 ? Number.POSITIVE_INFINITY : target.most / value
}

export const worstOf = (promises: Promised[]): Promised | undefined =>
  promises.toSorted((a, b) => scoreOf(a) - scoreOf(b))[0]

/** Scores beyond are drawn at the end of the scale. */
const MOST_SCORE = 4
const ROW = 24
const THICKNESS = 12
const TOP = 76
const SCALE = { from: PADDING + 116, to: WIDTH - PADDING - 196 }
const MIDDLE = (SCALE.from + SCALE.to) / 2

/** The worst promise of each bench, on a logarithmic scale around its target. */
export function promiseChart(theme: Theme, about: string, rows: { name: string; worst: Promised }[]): string {
  const bottom = TOP + rows.length * ROW
  const ticks = [1 / MOST_SCORE, 1 / 2, 1, 2, MOST_SCORE]
  return picture(theme, bottom + PADDING - 8, about, [
    textAt(PADDING, PADDING + 10, 'The worst promise of each bench', { size: 14, weight: 600, fill: theme.text }),
    textAt(WIDTH - PADDING, PADDING + 10, 'times better than its target', {
      size: 12,
      fill: theme.muted,
      anchor: 'end',
    }),
    ...ticks.flatMap(tick => [
      lineAt(placeOf(tick), TOP - 4, placeOf(tick), bottom, tick === 1 ? theme.muted : theme.line),
      textAt(placeOf(tick), TOP - 10, tickName(tick), { size: 11, fill: theme.muted, anchor: 'middle' }),
    ]),
    ...rows.flatMap(({ name, worst }, i) => drawRow(theme, name, worst, TOP + i * ROW)),
  ])
}

function drawRow(theme: Theme, name: string, worst: Promised, y: number): string[] {
  const end = placeOf(scoreOf(worst))
  const [x, width] = end < MIDDLE ? [end, MIDDLE - end] : [MIDDLE, end - MIDDLE]
  const baseline = y + ROW / 2 + 4
  const value = `${readable(worst.value)}, ${boundOf(worst.target)}`
  return [
    textAt(PADDING, baseline, name, { size: 12, fill: theme.text }),
    rectAt(x, y + (ROW - THICKNESS) / 2, Math.max(width, 2), THICKNESS, isMet(worst) ? theme.green : theme.red, 2),
    textAt(WIDTH - PADDING, baseline, value, { size: 12, anchor: 'end', ...inkOf(theme, worst) }),
  ]
}

/** A missed promise stands out by its weight, too, and not by its colour alone. */
const inkOf = (theme: Theme, worst: Promised) =>
  isMet(worst) ? { fill: theme.muted } : { fill: theme.text, weight: 600 as const }

function placeOf(score: number): number {
  const clipped = Math.min(Math.max(score, 1 / MOST_SCORE), MOST_SCORE)
  return MIDDLE + (Math.log(clipped) / Math.log(MOST_SCORE)) * ((SCALE.to - SCALE.from) / 2)
}

function tickName(tick: number): string {
  if (tick === 1) return 'target'
  return tick < 1 ? `1/${1 / tick}` : `${tick} times`
}
