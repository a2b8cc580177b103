import type { Bench } from '../figures.ts'

/** One run of a bench: a process of its own with some arguments. */
export type Entry = {
  /** Stays the same when the arguments change: results are kept by it. */
  key: string
  bench: string
  about: string
  args: string[]
  /** About as long as it takes on two cores. For the time that is left. */
  seconds: number
  /** Measured when it is named, or with `--full`. */
  isLong: boolean
}

export type Choice = { only?: string; rounds?: number; isFull?: boolean }

type Usual = {
  key?: string
  bench: string
  seconds: number
  only?: string
  rounds?: number
  history?: number
  isLong?: boolean
}

const USUAL_SECONDS = 60

/**
 * The peers are measured in three runs, so that a failure of one leaves the figures of the others. Long benches have fewer rounds
 * and a shorter history here; `--full` measures all of it.
 */
const usual: Usual[] = [
  { key: 'peers-speed', bench: 'peers', seconds: 150, only: 'singles,dispatch,lone' },
  { key: 'peers-million', bench: 'peers', seconds: 130, only: 'million', rounds: 1 },
  { key: 'peers-crash', bench: 'peers', seconds: 90, only: 'crash' },
  { bench: 'cores', seconds: 180 },
  { bench: 'citus', seconds: 100, isLong: true }, // needs TIDINGS_CITUS
  { bench: 'bytes', seconds: 40 },
  { bench: 'engine', seconds: 70 },
  { bench: 'smpp', seconds: 90 },
  { bench: 'message', seconds: 90 },
  { bench: 'callbacks', seconds: 60 },
  { bench: 'authorize', seconds: 80 },
  { bench: 'authorize-smpp', seconds: 100 },
  { bench: 'verifier', seconds: 150 },
  { bench: 'ingest', seconds: 80 },
  { bench: 'latency', seconds: 70 },
  { bench: 'statistics', seconds: 80, rounds: 4 },
  { bench: 'many-lanes', seconds: 40 },
  { bench: 'engine-history', seconds: 130, history: 1_000_000 },
  { bench: 'message-read', seconds: 120, history: 1_000_000 },
  { bench: 'overview', seconds: 60, history: 1_000_000 },
  { bench: 'read', seconds: 70 },
  { bench: 'depth', seconds: 60 },
  { bench: 'smpp-memory', seconds: 160, isLong: true },
  { bench: 'cabinet', seconds: 500 },
  { bench: 'cabinet-upload', seconds: 90 },
  { bench: 'smpp-codec', seconds: 10 },
  { bench: 'command-start', seconds: 15 },
  { bench: 'templates', seconds: 10 },
  { bench: 'libraries', seconds: 50 },
  { bench: 'text', seconds: 3 },
  { bench: 'numbering', seconds: 10 },
]

/** Benches that measure fewer rounds with `--rounds`. */
const withRounds = ['peers', 'cores', 'citus', 'statistics']

/** All that is measured by `all`. A bench without usual values is run last, as it is. */
export function planOf(benches: Bench[], { rounds, isFull = false }: Choice = {}): Entry[] {
  const rest = benches.filter(({ name }) => !usual.some(({ bench }) => bench === name))
  const runs: Usual[] = [...usual, ...rest.map(({ name }) => ({ bench: name, seconds: USUAL_SECONDS }))]
  return runs.flatMap(run => {
    const about = benches.find(({ name }) => name === run.bench)?.about
    if (about === undefined) return []
    const { key = run.bench, bench, seconds, isLong = false } = run
    return { key, bench, about, seconds, isLong, args: argumentsOf(run, { rounds, isFull }) }
  })
}

function argumentsOf({ bench, only, rounds, history }: Usual, choice: Choice): string[] {
  const counted = withRounds.includes(bench) ? (choice.rounds ?? (choice.isFull ? undefined : rounds)) : undefined
  return [
    ...(only === undefined ? [] : ['--only', only]),
    ...(counted === undefined ? [] : ['--rounds', String(counted)]),
    ...(history === undefined || choice.isFull ? [] : ['--history', String(history)]),
  ]
}

/** `--only` takes names of benches and keys of entries. */
export function chosenOf(plan: Entry[], { only, isFull = false }: Choice): Entry[] | Error {
  if (only === undefined) return plan.filter(({ isLong }) => isFull || !isLong)
  const names = only.split(',')
  const unknown = names.find(name => !plan.some(({ key, bench }) => name === key || name === bench))
  if (unknown !== undefined) return new Error(`There is no bench "${unknown}"`)
  return plan.filter(({ key, bench }) => names.includes(key) || names.includes(bench))
}

export const commandOf = ({ bench, args }: Entry): string => ['npm run bench --', bench, ...args].join(' ')
