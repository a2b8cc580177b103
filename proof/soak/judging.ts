import type { Figure } from '../../bench/figures.ts'

/** The state at the end of one minute. */
export type Sample = {
  /** Of all processes of the service, without the database. */
  memoryBytes: number
  connections: number
  /** Dead rows, as a share of all rows. */
  deadShare: number
  /** Tables whose rows are only work under way. */
  workTablesBytes: number
  /** Deadlines and timers that are due for some time. */
  lateDeadlines: number
  /** Messages of dispatches that each company sent in this minute. */
  sent: number[]
}

export type Books = { ledgerDifferences: number; statisticsDifferences: number }

const MOST_GROWTH = 0.2
const MOST_DEAD = 0.5
const MOST_WORK_MB = 8
/** Two companies with the same load share the gateway in halves. */
const LEAST_SHARE = 0.4
const WARM_UP_SHARE = 0.2

/** The first samples warm up and do not count. */
export function figuresOf(all: Sample[], books: Books): Figure[] {
  const samples = all.slice(Math.ceil(all.length * WARM_UP_SHARE))
  const of = (read: (sample: Sample) => number) => samples.map(read)
  const most = (what: string, value: number, limit: number): Figure => ({
    what,
    value,
    unit: '',
    target: { most: limit },
  })
  return [
    { what: 'minutes', value: samples.length, unit: '', target: { least: 2 } },
    { what: 'memory MB', value: mean(of(({ memoryBytes }) => memoryBytes)) / 1e6, unit: 'MB' },
    most('memory growth', growthOf(of(({ memoryBytes }) => memoryBytes)), MOST_GROWTH),
    most('connections growth', growthOf(of(({ connections }) => connections)), MOST_GROWTH),
    most('most dead rows', Math.max(...of(({ deadShare }) => deadShare)), MOST_DEAD),
    most('work tables grew MB', riseOf(of(({ workTablesBytes }) => workTablesBytes)) / 1e6, MOST_WORK_MB),
    most('late deadlines', Math.max(...of(({ lateDeadlines }) => lateDeadlines)), 0),
    { what: 'least share', value: Math.min(...of(leastShare)), unit: '', target: { least: LEAST_SHARE } },
    { what: 'sent', value: of(({ sent }) => sum(sent)).reduce((a, b) => a + b, 0), unit: '', target: { least: 1 } },
    most('ledger', books.ledgerDifferences, 0),
    most('statistics', books.statisticsDifferences, 0),
  ]
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: number[]) => sum(values) / values.length
const leastShare = ({ sent }: Sample) => Math.min(...sent) / sum(sent)

/** The rise over all samples as the line of least squares shows it, as a share of the mean. */
export const growthOf = (values: number[]): number => riseOf(values) / mean(values)

function riseOf(values: number[]): number {
  const middle = (values.length - 1) / 2
  const average = mean(values)
  const products = values.map((value, i) => (i - middle) * (value - average))
  const squares = values.map((_, i) => (i - middle) ** 2)
  return (sum(products) / sum(squares)) * (values.length - 1)
}
