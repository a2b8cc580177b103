import { type Figure, median, type Options } from '../figures.ts'
import { crashes } from './crash.ts'
import { dispatchRound, singlesAmongOthers, startMillion, stopMillion } from './dispatches.ts'
import { startKannel } from './kannel.ts'
import { loneMessages, quantile, type Round, type Singles, type SinglesRound, singlesRound } from './measuring.ts'
import { stopAtSignal, withSystem } from './running.ts'
import type { System } from './system.ts'
import { startTidings, type Tidings } from './tidings.ts'

export const name = 'peers'
export const about =
  'Tidings beside Kannel over SMPP: singles, a dispatch, singles behind a million, a lone message, and what a kill -9 loses'

const ROUNDS = 3
const CONNECTIONS = 64
const SECONDS = 10
const DISPATCH = 20_000
const MILLION = 1_000_000
const LONE = { count: 200, everyMs: 50 }

const PARTS = ['singles', 'dispatch', 'million', 'lone', 'crash'] as const
type Part = (typeof PARTS)[number]

/** Both systems run from the beginning to the end, each with an operator of its own, and are measured in turn. */
export async function run(options: Options): Promise<Figure[]> {
  const parts = PARTS.filter(part => options.only === undefined || options.only.split(',').includes(part))
  if (parts.length === 0) throw new Error(`--only takes some of ${PARTS.join(',')}`)
  stopAtSignal()
  return withSystem(
    () => startKannel(),
    kannel =>
      withSystem(startTidings, async tidings => {
        const scene = { kannel, tidings, measured: new Measured(), options }
        const figures: Figure[] = []
        for (const part of parts) figures.push(...(await measurements[part](scene)))
        return figures
      }),
  )
}

type Scene = { kannel: System; tidings: Tidings; measured: Measured; options: Options }

const measurements: Record<Part, (scene: Scene) => Promise<Figure[]>> = {
  singles,
  dispatch,
  million,
  lone,
  crash: () => crashes(),
}

/** The rounds of single messages, which other parts compare their own figures with. */
class Measured {
  #singles: Promise<{ kannel: SinglesRound[]; tidings: SinglesRound[] }> | undefined

  singles({ kannel, tidings, options }: Scene) {
    this.#singles ??= singlesInTurn(kannel, tidings, options.rounds)
    return this.#singles
  }
}

/** The first round of each warms up and does not count. */
async function singlesInTurn(kannel: System, tidings: System, count = ROUNDS) {
  const rounds = { kannel: [] as SinglesRound[], tidings: [] as SinglesRound[] }
  for (let i = 0; i <= count; i++) {
    rounds.kannel.push(await singlesRound(kannel, CONNECTIONS, SECONDS))
    rounds.tidings.push(await singlesRound(tidings, CONNECTIONS, SECONDS))
  }
  return { kannel: rounds.kannel.slice(1), tidings: rounds.tidings.slice(1) }
}

async function singles(scene: Scene): Promise<Figure[]> {
  const { kannel, tidings } = await scene.measured.singles(scene)
  return [
    ...figuresOfSingles('kannel.singles', 'Kannel, singles', kannel),
    ...figuresOfSingles('tidings.singles', 'Tidings, singles', tidings),
    ratio('singles: delivered, to Kannel', tidings, kannel, round => round.deliveredPerSecond, { least: 2 }),
    ratio('singles: accepted, to Kannel', tidings, kannel, round => round.acceptedPerSecond, { least: 1 }),
    ratio('singles: processor time, to Kannel', tidings, kannel, round => round.milliseconds, { most: 0.45 }),
  ]
}

async function dispatch(scene: Scene): Promise<Figure[]> {
  const { kannel } = await scene.measured.singles(scene)
  const { tidings, options } = scene
  const rounds: Round[] = []
  for (let i = 0; i <= (options.rounds ?? ROUNDS); i++)
    rounds.push(await dispatchRound(tidings, tidings.company, DISPATCH))
  const counted = rounds.slice(1)
  const what = `Tidings, a dispatch of ${DISPATCH.toLocaleString('en')}`
  return [
    ...figuresOf('tidings.dispatch', what, counted),
    ratio('dispatch: delivered, to Kannel', counted, kannel, round => round.deliveredPerSecond, { least: 5 }),
    ratio('dispatch: processor time, to Kannel', counted, kannel, round => round.milliseconds, { most: 0.16 }),
  ]
}

/** Singles of one company while a dispatch of a million of another company is being sent. */
async function million(scene: Scene): Promise<Figure[]> {
  const { tidings, options } = scene
  const waiting = options.dispatch ?? MILLION
  const alone = await scene.measured.singles(scene) // before the million, if no other part has measured them
  const dispatchId = await startMillion(tidings, waiting)
  const behind = [await singlesAmongOthers(tidings, CONNECTIONS, SECONDS)]
  const left = await stopMillion(tidings, dispatchId)
  if (left === 0) throw new Error('the dispatch ended before the single messages: take a larger --dispatch')
  const what = `Tidings, singles behind ${waiting.toLocaleString('en')}`
  return [
    ...figuresOfAnswers('tidings.behind', what, behind),
    deliveredFigure('tidings.behind', what, behind),
    { what: `${what}: left at the end`, value: left, unit: 'messages' },
    ratio('behind a million: accepted, to singles alone', behind, alone.tidings, round => round.acceptedPerSecond),
    ratio('behind a million: delivered, to singles alone', behind, alone.tidings, round => round.deliveredPerSecond),
  ]
}

async function lone({ kannel, tidings }: Scene): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const system of [kannel, tidings]) {
    const times = await loneMessages(system, LONE.count, LONE.everyMs)
    const [id, what] = [`${system.name.toLowerCase()}.lone`, `${system.name}, a lone message to the operator`]
    figures.push(
      { id: `${id}.p50`, what: `${what}, p50`, value: quantile(times, 0.5), unit: 'ms' },
      { id: `${id}.p99`, what: `${what}, p99`, value: quantile(times, 0.99), unit: 'ms' },
    )
  }
  return figures
}

const figuresOfSingles = (id: string, what: string, rounds: SinglesRound[]): Figure[] => [
  ...figuresOfAnswers(id, what, rounds),
  ...figuresOf(id, what, rounds),
]

const figuresOfAnswers = (id: string, what: string, rounds: Singles[]): Figure[] => [
  {
    id: `${id}.accepted`,
    what: `${what}: accepted`,
    value: median(rounds.map(round => round.acceptedPerSecond)),
    unit: 'requests/s',
  },
  { id: `${id}.p50`, what: `${what}: answer, p50`, value: median(rounds.map(({ load }) => load.p50)), unit: 'ms' },
  { id: `${id}.p99`, what: `${what}: answer, p99`, value: median(rounds.map(({ load }) => load.p99)), unit: 'ms' },
]

const deliveredFigure = (id: string, what: string, rounds: Pick<Round, 'deliveredPerSecond'>[]): Figure => ({
  id: `${id}.delivered`,
  what: `${what}: delivered`,
  value: median(rounds.map(round => round.deliveredPerSecond)),
  unit: 'messages/s',
})

/** The ids name the figures that the page and its charts show: docs/performance.md. */
export const figuresOf = (id: string, what: string, rounds: Round[]): Figure[] => [
  deliveredFigure(id, what, rounds),
  {
    id: `${id}.time`,
    what: `${what}: processor time`,
    value: median(rounds.map(round => round.milliseconds)),
    unit: 'ms a message',
  },
  ...Object.keys(rounds[0]?.millisecondsByPart ?? {}).map(part => ({
    id: `${id}.time.${part}`,
    what: `  of it ${part}`,
    value: median(rounds.map(round => round.millisecondsByPart[part] ?? 0)),
    unit: 'ms a message',
  })),
  ...commitsOf(what, rounds),
  {
    id: `${id}.memory`,
    what: `${what}: memory`,
    value: Math.max(...rounds.map(round => round.peakBytes)) / 1024 / 1024,
    unit: 'MiB',
  },
]

function commitsOf(what: string, rounds: Round[]): Figure[] {
  const commits = rounds.flatMap(round => round.commits ?? [])
  return commits.length > 0 ? [{ what: `${what}: transactions`, value: median(commits), unit: 'a message' }] : []
}

/** The ratio of the medians of two systems. */
function ratio<A, B>(
  what: string,
  ours: A[],
  theirs: B[],
  measureOf: (round: A | B) => number,
  target?: Figure['target'],
): Figure {
  const value = median(ours.map(measureOf)) / median(theirs.map(measureOf))
  return { what, value, unit: '', ...(target ? { target } : {}) }
}
