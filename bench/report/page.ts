import { boundOf, type Figure, isMet, readable } from '../figures.ts'
import { type ChartName, figureOf, hasChart, partsOf, systems } from './charts.ts'
import { commandOf, type Entry } from './plan.ts'
import { durationOf } from './progress.ts'
import { isPromise } from './promises.ts'
import type { Measured, Results } from './results.ts'

/** Texts that are written by hand: the page with its `{{slots}}`, and the attempts that did not help. */
export type Texts = { text: string; tried: string }

/** The page from the results. Every figure of it comes from them. */
export function pageOf(plan: Entry[], results: Results, { text, tried }: Texts): string {
  const slots: Record<string, string> = {
    summary: summaryOf(plan, results),
    commands: results.commands.map(command => `\`${command}\``).join(', then '),
    machine: machineOf(results),
    cost: costOf(results),
    singles: singlesOf(results),
    killed: killedOf(results),
    promises: promisesOf(results),
    benches: benchesOf(plan, results),
    tried: tried.trim(),
    ...Object.fromEntries(Object.keys(chartTexts).map(name => [`chart ${name}`, chartOf(name as ChartName, results)])),
  }
  return text.replaceAll(/\{\{(.*?)\}\}/g, (_, name: string) => {
    const content = slots[name]
    if (content === undefined) throw new Error(`The page has no part "${name}"`)
    return content
  })
}

// Summary -------------------------------------------------------------------------------------------------------------

function summaryOf(plan: Entry[], results: Results): string {
  const promises = results.measured.flatMap(({ figures }) => figures.filter(isPromise))
  const missed = promises.filter(figure => !isMet(figure)).length
  const unmeasured = plan.filter(entry => !isMeasured(results, entry)).length
  return [
    ...besideKannel(results),
    `- **${promises.length - missed} of ${promises.length} promises are met**, and ${missed} ${missed === 1 ? 'is' : 'are'} missed.`,
    ...busyOf(results),
    ...(unmeasured === 0 ? [] : [`- ${unmeasured} of ${plan.length} runs were not measured. Each says why below.`]),
  ].join('\n')
}

/** Other programs used more than this share of the cores: the figures are of a busy machine. */
const BUSY = 0.1

function busyOf({ measured }: Results): string[] {
  const busy = measured.filter(({ busyBefore }) => busyBefore > BUSY)
  if (busy.length === 0) return []
  const names = busy.map(({ key }) => `\`${key}\``).join(', ')
  return [`- **The machine was busy**: other programs worked before ${names}. A quiet machine gives other figures.`]
}

function besideKannel(results: Results): string[] {
  const kannel = valuesOf(results, 'kannel.singles')
  return systems.slice(1).flatMap(({ id, label }) => {
    const ours = valuesOf(results, id)
    if (!kannel || !ours) return []
    const delivered = `${readable(ours.delivered)} messages a second, ${readable(ours.delivered / kannel.delivered)} times Kannel`
    const time = `${readable(ours.time)} ms of processor time for one message, ${readable(ours.time / kannel.time)} of Kannel`
    return `- **${label}**: ${delivered}; ${time}.`
  })
}

function valuesOf(results: Results, id: string): { delivered: number; time: number } | undefined {
  const [delivered, time] = [figureOf(results, `${id}.delivered`), figureOf(results, `${id}.time`)]
  return delivered && time ? { delivered: delivered.value, time: time.value } : undefined
}

// Machine and charts --------------------------------------------------------------------------------------------------

const machineOf = ({ machine, begunAt }: Results): string =>
  tableOf(
    ['', ''],
    [['Date', `${begunAt.slice(0, 16).replace('T', ' ')} UTC`], ...Object.entries(machine)].map(row => row.map(cell)),
  )

const chartTexts: Record<ChartName, string> = {
  peers: 'Messages delivered a second and processor time for one message, Tidings beside Kannel',
  cost: 'Processor time for one message by part',
  waiting: 'p50 and p99 of a lone message and of answers under load',
  promises: 'The worst promise of each bench beside its target',
}

/** GitHub and browsers take the picture that fits the colours of the page. */
function chartOf(name: ChartName, results: Results): string {
  if (!hasChart(name, results)) return '*Not measured.*'
  return [
    '<picture>',
    `  <source media="(prefers-color-scheme: dark)" srcset="performance/${name}-dark.svg">`,
    `  <img src="performance/${name}-light.svg" width="720" alt="${chartTexts[name]}">`,
    '</picture>',
  ].join('\n')
}

// Peers ---------------------------------------------------------------------------------------------------------------

function singlesOf(results: Results): string {
  const measures = {
    accepted: 'Accepted a second',
    delivered: 'Delivered a second',
    p50: 'Answer, p50, ms',
    p99: 'Answer, p99, ms',
    memory: 'Memory, MiB',
  }
  const rows = [...systems, { id: 'tidings.behind', label: 'Tidings, singles behind a million' }].flatMap(
    ({ id, label }) => {
      const values = Object.keys(measures).map(name => figureOf(results, `${id}.${name}`)?.value)
      return values.every(value => value === undefined) ? [] : [[label, ...values.map(shown)]]
    },
  )
  return rows.length > 0 ? tableOf(['', ...Object.values(measures)], rows) : missingOf(results, 'peers-speed')
}

/** Parts of Kannel are other parts than ours, so each has a column of its own. */
function costOf(results: Results): string {
  const costs = systems.map(({ id, label }) => ({
    label,
    parts: partsOf(results, id),
    total: figureOf(results, `${id}.time`),
  }))
  const names = [...new Set(costs.flatMap(({ parts }) => parts.map(({ part }) => part)))]
  if (names.length === 0) return missingOf(results, 'peers-speed')
  const rows = costs.flatMap(({ label, parts, total }) =>
    total
      ? [[label, ...names.map(name => shown(parts.find(({ part }) => part === name)?.value)), shown(total.value)]]
      : [],
  )
  return tableOf(['ms of processor time', ...names, 'all'], rows)
}

function killedOf(results: Results): string {
  const measures = {
    accepted: 'Accepted before',
    unsent: 'Never sent',
    twice: 'Sent twice',
    unreported: 'Receipt lost',
  }
  const rows = ['Kannel', 'Tidings'].map(name => {
    const values = Object.keys(measures).map(
      measure => figureOf(results, `${name.toLowerCase()}.killed.${measure}`)?.value,
    )
    return [name, ...values.map(shown)]
  })
  if (!figureOf(results, 'tidings.killed.accepted')) return missingOf(results, 'peers-crash')
  return tableOf(['Messages', ...Object.values(measures)], rows)
}

const missingOf = ({ measured }: Results, key: string) =>
  `*Not measured${reasonOf(measured.find(one => one.key === key))}.*`

const reasonOf = (one: Measured | undefined): string => (one?.failed === undefined ? '' : `: ${one.failed}`)

// Promises and benches ------------------------------------------------------------------------------------------------

function promisesOf({ measured }: Results): string {
  const rows = measured.flatMap(({ key, figures }) =>
    figures.filter(isPromise).map((figure, i) => [i === 0 ? `\`${key}\`` : '', ...promiseCells(figure)]),
  )
  return tableOf(['Bench', 'Promise', 'Target', 'Measured', ''], rows)
}

const promiseCells = (figure: Figure): string[] => [
  cell(figure.what),
  figure.target ? boundOf(figure.target) : '',
  textOf(figure),
  figure.target ? (isMet(figure) ? 'met' : '**missed**') : '',
]

const benchesOf = (plan: Entry[], { measured }: Results): string =>
  plan
    .map(entry =>
      benchOf(
        entry,
        measured.find(({ key }) => key === entry.key),
      ),
    )
    .join('\n\n')

function benchOf(entry: Entry, one: Measured | undefined): string {
  const heading = `### ${entry.key}\n\n${sentence(entry.about)}\n\n`
  if (!one) return `${heading}*Not measured: this run did not choose it.* \`${commandOf(entry)}\``
  const others =
    one.busyBefore > BUSY ? `, other programs used ${Math.round(one.busyBefore * 100)} % of the cores before` : ''
  const command = `\`${one.command}\`, ${durationOf(one.seconds)}, Tidings ${one.version}${others}`
  if (one.failed !== undefined) return `${heading}*Not measured: ${one.failed}.* ${command}`
  return `${heading}${command}\n\n${figuresOf(one.figures)}`
}

function figuresOf(figures: Figure[]): string {
  const hasTargets = figures.some(isPromise)
  const rows = figures.map(figure => {
    const [what = '', bound = '', value = '', met = ''] = promiseCells(figure)
    return hasTargets ? [what, value, bound, met] : [what, value]
  })
  return tableOf(hasTargets ? ['', 'Measured', 'Target', ''] : ['', 'Measured'], rows)
}

const isMeasured = ({ measured }: Results, { key }: Entry) =>
  measured.some(one => one.key === key && one.failed === undefined)

const textOf = ({ value, unit }: Figure) => [readable(value), unit].filter(text => text !== '').join(' ')
const shown = (value: number | undefined) => (value === undefined ? '' : readable(value))
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
const cell = (text: string) => text.trim().replaceAll('|', '\\|')

const tableOf = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
