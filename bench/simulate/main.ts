import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readCosts } from './costs.ts'
import { type Choices, type Tables, tablesOf } from './report.ts'

const PAGE = new URL('../../docs/scaling.md', import.meta.url)
const TEXT = new URL('page.md', import.meta.url)

/** Name, default, and one sentence about each. */
const numbers = {
  peak: [3, 'the busiest second, beside the mean of the day'],
  singles: [0.3, 'the share of single messages; the others belong to dispatches'],
  load: [0.6, 'the share of a core that may be used in the busiest second'],
  'server-cores': [32, 'cores of one database server'],
  connections: [11, 'connections of a process: TIDINGS_DATABASE_CONNECTIONS and one more'],
  'keep-days': [90, 'days of messages that are kept'],
  companies: [100_000, 'companies'],
  skew: [1, 'how unequal they are: 0 is all alike, 1 is the law of Zipf'],
  gateways: [8, 'gateways; an engine sends 3 chunks at once through each'],
  'answer-ms': [50, 'milliseconds from a submission to its answer'],
  'failover-seconds': [
    40,
    'seconds until a lost database server is replaced by its standby: 30 to notice, 10 to connect',
  ],
  'restart-seconds': [5, 'seconds until a lost engine is started again'],
  seed: [1, 'the same seed gives the same figures'],
} as const

type Name = keyof typeof numbers

const USAGE = `Usage: npm run simulate -- --per-day 1e9 [options]
       npm run simulate -- --page

Prints how many processes, cores, disks and connections so many messages a day need, the limits in the order in which they are reached, and a simulation
of the engine's own rules: fairness between companies, and the time to recover from a lost engine or database server.

  --per-day N[,N...]    messages a day, e.g. 1e6,1e9
  --page                writes docs/scaling.md, for 1e6, 1e7, 1e8 and 1e9 messages a day
  --costs FILE          costs of a message, from: npm run -s bench -- bytes --json > FILE (default bench/simulate/costs.json)
${Object.entries(numbers)
  .map(([name, [value, about]]) => `  ${`--${name} N`.padEnd(21)} ${about} (default ${value})`)
  .join('\n')}`

const PAGE_PER_DAY = '1e6,1e7,1e8,1e9'

function main(): number {
  const asked = readArguments()
  if (asked instanceof Error) return refuse(asked.message)
  if (asked.help) {
    console.log(USAGE)
    return 0
  }
  const perDay = asked['per-day'] ?? (asked.page ? PAGE_PER_DAY : undefined)
  if (perDay === undefined) return refuse('Name the messages a day with --per-day')
  const choices = choicesOf(asked, perDay)
  if (choices instanceof Error) return refuse(choices.message)
  const tables = tablesOf(readCosts(asked.costs), choices)
  if (asked.page) writeFileSync(PAGE, pageOf(readFileSync(TEXT, 'utf8'), tables))
  else console.log(inOrder(tables))
  return 0
}

function readArguments() {
  const ofNumbers = Object.fromEntries(Object.keys(numbers).map(name => [name, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean' },
        page: { type: 'boolean' },
        costs: { type: 'string' },
        'per-day': { type: 'string' },
        ...ofNumbers,
      },
    })
    return values as { help?: boolean; page?: boolean; costs?: string; 'per-day'?: string } & Partial<
      Record<Name, string>
    >
  } catch (error) {
    return error as Error
  }
}

function choicesOf(asked: Partial<Record<Name, string>>, perDay: string): Choices | Error {
  const read = (name: string, text: string) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value) || value < 0)
      throw new Error(`--${name} takes a number, not "${text}"`)
    return value
  }
  const numberOf = (name: Name) => read(name, asked[name] ?? String(numbers[name][0]))
  try {
    return {
      perDay: perDay.split(',').map(text => Math.max(1, read('per-day', text))),
      peak: numberOf('peak'),
      singles: Math.min(1, numberOf('singles')),
      load: numberOf('load'),
      coresOfServer: numberOf('server-cores'),
      connectionsOfProcess: numberOf('connections'),
      keepDays: numberOf('keep-days'),
      companies: numberOf('companies'),
      skew: numberOf('skew'),
      gateways: numberOf('gateways'),
      answerMs: numberOf('answer-ms'),
      failoverSeconds: numberOf('failover-seconds'),
      restartSeconds: numberOf('restart-seconds'),
      seed: numberOf('seed'),
    }
  } catch (error) {
    return error as Error
  }
}

/** Puts each table in the place that the text names, as `<!-- sizing -->`. */
const pageOf = (text: string, tables: Tables) =>
  text.replaceAll(/<!-- (\w+) -->/g, (place, name) => tables[name as keyof Tables] ?? place)

const inOrder = ({ costs, sizing, limits, fairness, recovery }: Tables) =>
  [
    ['The cost of a message', costs],
    ['What it takes', sizing],
    ['Limits in the order in which they are reached', limits],
    ['Fairness, when half of all messages are sent', fairness],
    ['A lost node', recovery],
  ]
    .map(([title, table]) => `${title}\n\n${table}\n`)
    .join('\n')

function refuse(reason: string): number {
  console.error(`${reason}.\n\n${USAGE}`)
  return 1
}

process.exitCode = main()
