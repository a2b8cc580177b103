import type { Pool } from '../src/db/sql.ts'
import type { Connection } from './client.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median, type Options } from './figures.ts'
import { onStages, type Stage } from './stage.ts'

export const name = 'statistics'
export const about = 'the engine with the rolled-up statistics beside an engine without them'

const ROUNDS = 8
const MESSAGES = 100_000
/** Statistics may cost three of a hundred messages. */
const LEAST_RATIO = 0.97
const without = { NODE_OPTIONS: `--import=${new URL('without-statistics.ts', import.meta.url).href}` }

type Side = { stage: Stage; connection: Connection }

/** Two servers side by side, measured in turn. */
export function run({ rounds: count = ROUNDS }: Options): Promise<Figure[]> {
  return onStages(2, async ([first, second]) => {
    const counting = { stage: first!, connection: await startSending(first!) }
    const bare = { stage: second!, connection: await startSending(second!, without) }
    await measure(counting, bare, true) // warms up

    const rounds: { with: number; without: number }[] = []
    while (rounds.length < count) rounds.push(await measure(counting, bare, rounds.length % 2 === 0))
    await requireDifference(counting.stage.sql, bare.stage.sql, count)
    const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of))
    return [
      { what: 'with statistics', value: middle(r => r.with), unit: 'messages/s' },
      { what: 'without', value: middle(r => r.without), unit: 'messages/s' },
      {
        what: 'with statistics, to without',
        value: middle(r => r.with / r.without),
        unit: '',
        target: { least: LEAST_RATIO },
      },
    ]
  })
}

/**
 * The order alternates from round to round, because the first leaves data that must be written to disk during the
 * second.
 */
async function measure(counting: Side, bare: Side, bareFirst: boolean) {
  const perSecond = new Map<Side, number>()
  for (const side of bareFirst ? [bare, counting] : [counting, bare]) {
    perSecond.set(side, await throughEngine(side.stage, side.connection, MESSAGES))
  }
  return { with: perSecond.get(counting)!, without: perSecond.get(bare)! }
}

/** A file that was moved would be replaced no longer, and both sides would be the same. */
async function requireDifference(counting: Pool, bare: Pool, rounds: number) {
  const [all, none] = await Promise.all([counting, bare].map(countedIn))
  if (all !== (rounds + 1) * MESSAGES || none !== 0) throw new Error(`counted ${all} and ${none} messages`)
}

async function countedIn(sql: Pool): Promise<number> {
  const [row] = await sql<{ accepted: number }[]>`
    select coalesce(sum(accepted), 0)::int as accepted from traffic_hours`
  return row!.accepted
}
