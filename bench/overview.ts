import type { Pool } from '../src/db/sql.ts'
import { overviewOf } from '../src/domain/overview/overview.ts'
import { UsualShares } from '../src/domain/overview/usual-shares.ts'
import { rebuildTraffic } from '../src/domain/statistics/verify.ts'
import { startSending, throughEngine } from './engine.ts'
import { ageBy } from './engine-history.ts'
import { type Figure, inTurn, type Options } from './figures.ts'
import { REQUEST_SIZE } from './recipients.ts'
import { onStages, type Stage } from './stage.ts'

export const name = 'overview'
export const about = "the cabinet's overview with 10,000,000 messages beside 10,000 (--history N for others)"

const HISTORY = 10_000_000
const ROUNDS = 15
const TIMES = 20
/** The same, but for the noise of two servers beside each other. */
const MOST_RATIO = 1.5

/** Both servers have sent 10,000 messages just now; the second has the older ones too. */
export function run({ history = HISTORY }: Options = {}): Promise<Figure[]> {
  return onStages(2, async ([few, many]) => {
    for (const stage of [few!, many!]) await throughEngine(stage, await startSending(stage), REQUEST_SIZE)
    await ageBy(many!, history)
    await rebuildTraffic(many!.sql)
    for (const { sql } of [few!, many!]) await sql`vacuum analyze`
    const ofFew = viewer(few!)
    const ofMany = viewer(many!)
    const { ours, floor, ratio } = await inTurn(ROUNDS, ofMany, ofFew)
    return [
      { what: `with ${history.toLocaleString('en')} older messages`, value: ours, unit: 'ms' },
      { what: `with ${REQUEST_SIZE.toLocaleString('en')} messages`, value: floor, unit: 'ms' },
      { what: 'with older messages, to few messages', value: ratio, unit: '', target: { most: MOST_RATIO } },
      { what: 'messages in the first', value: await countOf(many!.sql), unit: '' },
    ]
  })
}

/** Milliseconds of one look, of everything that the page asks for. */
const viewer = ({ sql, companyId }: Stage) => {
  const usualShares = new UsualShares()
  return async () => {
    const begin = performance.now()
    for (let i = 0; i < TIMES; i++) {
      await overviewOf(sql, {
        scope: { kind: 'COMPANY', companyId },
        sees: () => true,
        now: new Date(),
        billingZone: 'Europe/Moscow',
        usualShares,
      })
    }
    return (performance.now() - begin) / TIMES
  }
}

const countOf = async (sql: Pool) => (await sql<{ n: number }[]>`select count(*)::int as n from messages`)[0]!.n
