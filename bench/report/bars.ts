import { lineAt, PADDING, picture, rectAt, type Theme, textAt, WIDTH, widthOf } from './svg.ts'

/** A piece of a bar. Pieces with a name are in the legend. */
export type Piece = { name?: string; value: number; fill: string }
export type Bar = { label: string; pieces: Piece[]; text: string }
export type Panel = { title: string; note: string; bars: Bar[] }

const LABELS = 176
const FIRST_X = PADDING + LABELS
/** The value of a bar is written behind it. */
const VALUES = 104
const BARS_WIDTH = WIDTH - PADDING - VALUES - FIRST_X
const ROW = 30
const THICKNESS = 18
const HEADING = 34
const BETWEEN = 18
const LEGEND = 10
const SMALL = 11
/** Between two pieces of a bar. */
const GAP = 1.5

/** Panels of horizontal bars below each other. Each panel has a scale of its own, from zero. */
export function barChart(theme: Theme, about: string, panels: Panel[], hasPieceTexts = false): string {
  const parts: string[] = []
  let y = PADDING - 4
  for (const panel of panels) {
    parts.push(...drawPanel(theme, panel, y, hasPieceTexts))
    y += HEADING + panel.bars.length * ROW + BETWEEN
  }
  const legend = legendOf(panels)
  if (legend.length > 0) parts.push(...drawLegend(theme, legend, y))
  return picture(theme, y + (legend.length > 0 ? LEGEND : -BETWEEN) + PADDING - 8, about, parts)
}

function legendOf(panels: Panel[]): { name: string; fill: string }[] {
  const pieces = panels.flatMap(({ bars }) => bars.flatMap(bar => bar.pieces))
  const byName = new Map(pieces.flatMap(({ name, fill }) => (name === undefined ? [] : [[name, fill] as const])))
  return [...byName].map(([name, fill]) => ({ name, fill }))
}

/** Below the bars, at their left edge. */
function drawLegend(theme: Theme, legend: { name: string; fill: string }[], y: number): string[] {
  let x = FIRST_X
  return legend.flatMap(({ name, fill }) => {
    const parts = [rectAt(x, y, 10, 10, fill, 2), textAt(x + 16, y + 9, name, { size: 12, fill: theme.muted })]
    x += 16 + widthOf(name, 12) + 14
    return parts
  })
}

function drawPanel(theme: Theme, { title, note, bars }: Panel, y: number, hasPieceTexts: boolean): string[] {
  const most = Math.max(...bars.map(totalOf))
  const scale = most > 0 ? BARS_WIDTH / most : 0
  const bottom = y + HEADING + bars.length * ROW - (ROW - THICKNESS) / 2
  return [
    textAt(PADDING, y + 14, title, { size: 14, weight: 600, fill: theme.text }),
    textAt(WIDTH - PADDING, y + 14, note, { size: 12, fill: theme.muted, anchor: 'end' }),
    lineAt(FIRST_X - 0.5, y + HEADING - 4, FIRST_X - 0.5, bottom + 4, theme.line),
    ...bars.flatMap((bar, i) => drawBar(theme, bar, y + HEADING + i * ROW, scale, hasPieceTexts)),
  ]
}

function drawBar(theme: Theme, bar: Bar, y: number, scale: number, hasPieceTexts: boolean): string[] {
  const baseline = y + THICKNESS / 2 + 4.5
  const parts = [textAt(PADDING, baseline, bar.label, { fill: theme.text })]
  let x = FIRST_X
  for (const { value, fill } of bar.pieces) {
    const width = value * scale
    const isLast = bar.pieces.at(-1)?.fill === fill
    parts.push(rectAt(x, y, Math.max(isLast ? width : width - GAP, 1), THICKNESS, fill, 2))
    const text = value.toFixed(2)
    const isRoomy = hasPieceTexts && bar.pieces.length > 1 && width > widthOf(text, SMALL) + 10
    if (isRoomy) {
      const ink = theme.onFill[fill] ?? theme.text
      parts.push(textAt(x + width / 2, baseline - 0.5, text, { size: SMALL, fill: ink, anchor: 'middle' }))
    }
    x += width
  }
  return [...parts, textAt(x + 8, baseline, bar.text, { weight: 600, fill: theme.text })]
}

const totalOf = ({ pieces }: Bar) => pieces.reduce((sum, { value }) => sum + value, 0)
