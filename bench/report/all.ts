import { type Bench, isMet } from '../figures.ts'
import { measureEntry } from './child.ts'
import { busyShare, describeMachine, versionOfTidings } from './machine.ts'
import { type Choice, chosenOf, commandOf, type Entry, planOf } from './plan.ts'
import { Progress } from './progress.ts'
import {
  continued,
  type Measured,
  RESULTS_FILE,
  type Results,
  readResults,
  withMeasured,
  writeResults,
} from './results.ts'
import { writePage } from './writing.ts'

export const ABOUT = 'every bench, one after the other; writes docs/performance.md and its charts'

export type AllOptions = Choice & { isContinued?: boolean; isPageOnly?: boolean }

/** Measures the chosen benches and writes the page. Exit code 1 when a promise is missed or a bench has no figures. */
export async function measureAll(benches: Bench[], options: AllOptions): Promise<number> {
  const plan = planOf(benches, options)
  const chosen = chosenOf(plan, options)
  if (chosen instanceof Error) return refuse(chosen)
  const before = await readResults(RESULTS_FILE)
  if (options.isPageOnly)
    return before ? writePage(plan, before).then(() => 0) : refuse(new Error('There are no results'))

  const begun = options.isContinued ? continued(before, allCommand(options), describeMachine()) : begin(options)
  if (begun instanceof Error) return refuse(begun)
  const results = await measureEach(remainingOf(chosen, begun, options), begun)
  if (!results) return INTERRUPTED
  await writePage(plan, results)
  return results.measured.every(isGood) ? 0 : 1
}

const INTERRUPTED = 130

function refuse({ message }: Error): number {
  console.error(`${message}.`)
  return 1
}

const begin = (options: AllOptions): Results => ({
  begunAt: new Date().toISOString(),
  commands: [allCommand(options)],
  machine: describeMachine(),
  measured: [],
})

const allCommand = (options: AllOptions) => ['npm run bench -- all', ...argumentsOf(options)].join(' ')

const argumentsOf = ({ only, rounds, isFull, isContinued }: AllOptions): string[] => [
  ...(isContinued ? ['--continue'] : []),
  ...(only === undefined ? [] : ['--only', only]),
  ...(rounds === undefined ? [] : ['--rounds', String(rounds)]),
  ...(isFull ? ['--full'] : []),
]

/** A continued run measures the benches without figures. Benches that are named with `--only` are measured again. */
export function remainingOf(chosen: Entry[], { measured }: Results, { isContinued, only }: AllOptions): Entry[] {
  if (!isContinued || only !== undefined) return chosen
  return chosen.filter(({ key }) => !measured.some(one => one.key === key && one.failed === undefined))
}

/** Every result is written at once. Nothing is given back when the run is broken off. */
async function measureEach(entries: Entry[], begun: Results): Promise<Results | undefined> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  process.once('SIGINT', leave).once('SIGTERM', leave)
  const progress = new Progress(entries)
  let results = begun
  try {
    for (const entry of entries) {
      progress.begin(entry)
      const measured = await measure(entry, leaving.signal)
      if (leaving.signal.aborted) return broken()
      results = withMeasured(results, measured)
      await writeResults(RESULTS_FILE, results)
      progress.end(measured)
    }
    return results
  } finally {
    progress.stop()
    process.off('SIGINT', leave).off('SIGTERM', leave)
  }
}

async function measure(entry: Entry, signal: AbortSignal): Promise<Measured> {
  const busyBefore = await busyShare()
  const begunAt = new Date()
  const outcome = await measureEntry(entry, signal)
  const seconds = (Date.now() - begunAt.getTime()) / 1000
  return {
    key: entry.key,
    command: commandOf(entry),
    begunAt: begunAt.toISOString(),
    seconds,
    version: versionOfTidings(),
    busyBefore,
    ...outcome,
  }
}

function broken(): undefined {
  console.log('\nBroken off. The results so far are kept: npm run bench -- all --continue')
}

const isGood = ({ failed, figures }: Measured) => failed === undefined && figures.every(isMet)
