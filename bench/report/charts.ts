import { type Figure, readable } from '../figures.ts'
import { type Bar, barChart } from './bars.ts'
import { isPromise, promiseChart, worstOf } from './promises.ts'
import type { Results } from './results.ts'
import { type Theme, themes } from './svg.ts'

export const CHARTS = ['peers', 'cost', 'waiting', 'promises'] as const
export type ChartName = (typeof CHARTS)[number]

/** The files of all charts whose figures were measured, each for light and for dark pages. */
export function chartsOf(results: Results): Map<string, string> {
  const files = new Map<string, string>()
  for (const name of CHARTS) {
    for (const [tone, theme] of Object.entries(themes)) {
      const svg = drawings[name](theme, results)
      if (svg !== undefined) files.set(`${name}-${tone}.svg`, svg)
    }
  }
  return files
}

export const hasChart = (name: ChartName, results: Results): boolean =>
  drawings[name](themes.light, results) !== undefined

export const figureOf = ({ measured }: Results, id: string): Figure | undefined =>
  measured.flatMap(({ figures }) => figures).find(figure => figure.id === id)

/** The figures of the parts of a message's processor time: `{ API: 0.2, engine: 0.2, database: 0.3 }`. */
export function partsOf({ measured }: Results, id: string): { part: string; value: number }[] {
  const start = `${id}.time.`
  return measured
    .flatMap(({ figures }) => figures)
    .flatMap(figure =>
      figure.id?.startsWith(start) ? { part: figure.id.slice(start.length), value: figure.value } : [],
    )
}

/** The systems in the order of every chart and table. */
export const systems = [
  { id: 'kannel.singles', label: 'Kannel, singles' },
  { id: 'tidings.singles', label: 'Tidings, singles' },
  { id: 'tidings.dispatch', label: 'Tidings, a dispatch' },
]

const drawings: Record<ChartName, (theme: Theme, results: Results) => string | undefined> = {
  peers: drawPeers,
  cost: drawCost,
  waiting: drawWaiting,
  promises: drawPromises,
}

function drawPeers(theme: Theme, results: Results): string | undefined {
  const bars = (measure: string, unit: string): Bar[] =>
    systems.flatMap(({ id, label }) => {
      const figure = figureOf(results, `${id}.${measure}`)
      const fill = id.startsWith('tidings') ? theme.accent : theme.grey
      return figure ? { label, pieces: [{ value: figure.value, fill }], text: `${readable(figure.value)}${unit}` } : []
    })
  const [delivered, time] = [bars('delivered', ''), bars('time', ' ms')]
  if (delivered.length < 2) return undefined
  return barChart(theme, 'Messages delivered a second, and processor time for one message: Tidings beside Kannel', [
    { title: 'Messages delivered a second', note: 'longer is better', bars: delivered },
    { title: 'Processor time for one message', note: 'shorter is better; the database included', bars: time },
  ])
}

function drawCost(theme: Theme, results: Results): string | undefined {
  const fills: Record<string, string> = {
    API: theme.accent,
    engine: theme.sky,
    database: theme.green,
    bearerbox: theme.grey,
    smsbox: theme.greyLight,
  }
  const bars = systems.flatMap(({ id, label }) => {
    const parts = partsOf(results, id)
    const total = figureOf(results, `${id}.time`)
    if (parts.length === 0 || !total) return []
    const pieces = parts.map(({ part, value }) => ({ name: legendName(part), value, fill: fills[part] ?? theme.grey }))
    return { label, pieces, text: `${readable(total.value)} ms` }
  })
  if (bars.length === 0) return undefined
  const panel = { title: 'Processor time for one message, by part', note: 'milliseconds, shorter is better', bars }
  return barChart(theme, 'Processor time for one message by part', [panel], true)
}

const legendName = (part: string) => (part.endsWith('box') ? `Kannel: ${part}` : part)

/** From zero to p50, and on to p99. */
function drawWaiting(theme: Theme, results: Results): string | undefined {
  const bar = (id: string, label: string): Bar[] => {
    const [half, most] = [figureOf(results, `${id}.p50`), figureOf(results, `${id}.p99`)]
    if (!half || !most) return []
    const pieces = [
      { name: 'p50', value: half.value, fill: theme.accent },
      { name: 'p99', value: Math.max(0, most.value - half.value), fill: theme.sky },
    ]
    return [{ label, pieces, text: `${readable(half.value)} / ${readable(most.value)}` }]
  }
  const panels = [
    {
      title: 'A lone message, from its request to the operator',
      note: 'milliseconds, shorter is better',
      bars: [...bar('kannel.lone', 'Kannel'), ...bar('tidings.lone', 'Tidings')],
    },
    {
      title: 'The answer to a request, 64 connections at full load',
      note: 'milliseconds, shorter is better',
      bars: [...bar('kannel.singles', 'Kannel'), ...bar('tidings.singles', 'Tidings')],
    },
  ].filter(({ bars }) => bars.length > 0)
  return panels.length > 0 ? barChart(theme, 'Times of lone messages and of answers', panels) : undefined
}

function drawPromises(theme: Theme, { measured }: Results): string | undefined {
  const rows = measured.flatMap(({ key, figures }) => {
    const worst = worstOf(figures.filter(isPromise))
    return worst ? { name: key, worst } : []
  })
  return rows.length > 0 ? promiseChart(theme, 'The worst promise of each bench beside its target', rows) : undefined
}
