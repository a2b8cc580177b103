import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { countByCores, inWords } from '../src/commands/service/processes/counts.ts'
import { type Figure, median, type Options } from './figures.ts'
import { dispatchRound } from './peers/dispatches.ts'
import { type Round, type SinglesRound, singlesRound } from './peers/measuring.ts'
import { type Processes, startTidings } from './peers/tidings.ts'

export const name = 'cores'
export const about = 'Tidings on one core, two, and so on to all: singles over HTTP and a dispatch, to delivered'

const ROUNDS = 2
const CONNECTIONS = 64
const WARM_UP_SECONDS = 4
const SECONDS = 8
const DISPATCH = 20_000

/** How the system runs in one step: the cores that it may use, and its processes. */
type Step = Processes & { cores: number }

/**
 * The system with its database runs on the first cores. The load tool and the operator run on the others. Where the system has
 * all cores they share them with it, so the last steps show less than the system could do. The steps are measured in turn, so that
 * other work of the machine disturbs all of them alike.
 */
export async function run({ rounds = ROUNDS }: Options): Promise<Figure[]> {
  const all = availableParallelism()
  const measured = stepsUpTo(all).map((step): Measured => ({ step, singles: [], dispatch: [] }))
  for (let i = 0; i < rounds; i++) {
    for (const each of measured) await measureStep(each, all)
  }
  await pin(process.pid, coresFrom(0, all))
  const [first] = measured
  return [
    { what: 'cores of this machine', value: all, unit: '' },
    ...measured.flatMap(each => figuresOf(each, all)),
    ...measured.slice(1).flatMap(each => (first ? growthOf(each, first) : [])),
  ]
}

/** Powers of two, and all. On all cores also twice as many processes, to see whether they help. */
export function stepsUpTo(all: number): Step[] {
  const counts = [...new Set([...powersOfTwo(all), all])]
  const steps = counts.map(cores => ({ cores, api: countByCores(cores), engines: countByCores(cores) }))
  const last = countByCores(all) * 2
  return [...steps, { cores: all, api: last, engines: last }]
}

const powersOfTwo = (most: number) => Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, i) => 2 ** i)

type Measured = { step: Step; singles: SinglesRound[]; dispatch: Round[] }

/** One round on a new system. The first messages of each kind warm it up and do not count. */
async function measureStep({ step, singles, dispatch }: Measured, all: number) {
  await pin(process.pid, coresFrom(step.cores < all ? step.cores : 0, all)) // the load tool and the operator inherit it
  const tidings = await startTidings({ ...step, cores: coresFrom(0, step.cores) })
  try {
    await singlesRound(tidings, CONNECTIONS, WARM_UP_SECONDS)
    singles.push(await singlesRound(tidings, CONNECTIONS, SECONDS))
    await dispatchRound(tidings, tidings.company, DISPATCH)
    dispatch.push(await dispatchRound(tidings, tidings.company, DISPATCH))
  } finally {
    await tidings.stop()
  }
}

const coresFrom = (first: number, end: number) => `${first}-${end - 1}`

async function pin(pid: number, cores: string) {
  await promisify(execFile)('taskset', ['-a', '-c', '-p', cores, String(pid)]).catch(error => {
    throw new Error(`This bench needs Linux and taskset (util-linux): ${error.message}`)
  })
}

function figuresOf({ step, singles, dispatch }: Measured, all: number): Figure[] {
  const what = nameOf(step)
  return [
    { what: `${what}: cores of the load tool and SMSC alone`, value: all - step.cores, unit: '' },
    ...figuresOfRounds(`${what}, singles`, singles),
    ...figuresOfRounds(`${what}, a dispatch of ${DISPATCH.toLocaleString('en')}`, dispatch),
  ]
}

const nameOf = ({ cores, api, engines }: Step) =>
  `${cores} ${cores === 1 ? 'core' : 'cores'}, ${inWords({ api, engines })}`

const figuresOfRounds = (what: string, rounds: Round[]): Figure[] => [
  { what: `${what}: delivered`, value: deliveredBy(rounds), unit: 'messages/s' },
  { what: `${what}: processor time`, value: median(rounds.map(round => round.milliseconds)), unit: 'ms a message' },
  {
    what: `${what}: transactions`,
    value: median(rounds.map(({ commits = Number.NaN }) => commits)),
    unit: 'a message',
  },
]

const deliveredBy = (rounds: Round[]) => median(rounds.map(round => round.deliveredPerSecond))

function growthOf({ step, singles, dispatch }: Measured, first: Measured): Figure[] {
  const to = `${nameOf(step)}, to 1 core`
  return [
    { what: `${to}: singles delivered`, value: deliveredBy(singles) / deliveredBy(first.singles), unit: '' },
    { what: `${to}: dispatch delivered`, value: deliveredBy(dispatch) / deliveredBy(first.dispatch), unit: '' },
  ]
}
