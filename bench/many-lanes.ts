import type { Pool } from '../src/db/sql.ts'
import { addGateway } from '../src/domain/gateways/gateways.ts'
import { aCompany, aSender } from '../src/testing/factories.ts'
import { manyLanes } from '../src/testing/lanes.ts'
import type { Connection } from './client.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'many-lanes'
export const about =
  'a dispatch of 10,000 alone, beside 20,000 lanes of another company, and behind 4,000 of its own that wait'

const MESSAGES = 10_000
const LANES = 20_000
const OWN_LANES = 4000
const ROUNDS = 3

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const connection = await startSending(stage)
    const crowd = await aCrowd(stage)
    await secondsOf(stage, connection) // the first one warms everything up
    const waiting = await aWaitingSender(stage)
    const rounds: { alone: number; beside: number; behind: number }[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const alone = await secondsOf(stage, connection)
      await openLanes(stage, crowd, true)
      const beside = await secondsOf(stage, connection)
      await openLanes(stage, crowd, false)
      await openLanesOf(stage, waiting, true)
      rounds.push({ alone, beside, behind: await secondsOf(stage, connection) })
      await openLanesOf(stage, waiting, false)
    }
    const ratio = median(rounds.map(({ alone, beside }) => beside / alone))
    const ratioOfOwn = median(rounds.map(({ alone, behind }) => behind / alone))
    return [
      { what: `${MESSAGES} messages alone`, value: median(rounds.map(({ alone }) => alone)), unit: 's' },
      {
        what: `beside ${LANES} lanes of another company`,
        value: median(rounds.map(({ beside }) => beside)),
        unit: 's',
      },
      {
        what: `behind ${OWN_LANES} lanes of a sender name at its limit`,
        value: median(rounds.map(({ behind }) => behind)),
        unit: 's',
      },
      { what: 'lanes of the other company that were left', value: await lanesLeft(stage, crowd), unit: 'lanes' },
      { what: 'time beside the lanes, to alone', value: ratio, unit: '', target: { most: 1.5 } },
      { what: 'time behind own lanes, to alone', value: ratioOfOwn, unit: '', target: { most: 1.5 } },
    ]
  })
}

/** A company that called itself something else in each of its messages, before names shared a lane. */
async function aCrowd({ sql, partner }: Stage): Promise<number> {
  await addVkSimulator(sql)
  const companyId = await aCompany(sql, partner)
  await manyLanes(sql, companyId, LANES, 'VK')
  await openLanes({ sql }, companyId, false)
  await sql`analyze`
  return companyId
}

/**
 * A sender name of the company with a limit that is always used up, and with closed lanes like the lanes of the first
 * dispatch. They were never served, so they come before all others.
 */
async function aWaitingSender({ sql, companyId }: Stage): Promise<number> {
  const { senderId } = await aSender(sql, companyId)
  await sql`update senders set status = 'APPROVED', parts_per_second = 5 where sender_id = ${senderId}`
  await sql`
    with one as (select * from lanes where company_id = ${companyId} limit 1)
    insert into lanes (company_id, channel_type, priority, sender_id, brand_id, dispatch_id, tail, open)
    select company_id, channel_type, priority, ${senderId}, brand_id, -i, 1000, false
    from one, generate_series(1, ${OWN_LANES}::int) i`
  return senderId
}

/** For messages beside the measured messages. */
export const addVkSimulator = (sql: Pool) =>
  addGateway(sql, {
    name: 'simulator-vk',
    channelType: 'VK',
    connector: 'simulator',
    brands: [],
    settings: { receiptMs: 0 },
    partsPerSecond: null,
  })

const openLanes = ({ sql }: Pick<Stage, 'sql'>, companyId: number, open: boolean) =>
  sql`update lanes set open = ${open} where company_id = ${companyId}`

const openLanesOf = ({ sql, companyId }: Stage, senderId: number, open: boolean) =>
  sql`update lanes set open = ${open} where company_id = ${companyId} and sender_id = ${senderId}`

async function secondsOf(stage: Stage, connection: Connection): Promise<number> {
  return MESSAGES / (await throughEngine(stage, connection, MESSAGES))
}

async function lanesLeft({ sql }: Stage, companyId: number): Promise<number> {
  const [row] = await sql<{ lanes: number }[]>`
    select count(*) as lanes from lanes where company_id = ${companyId} and cursor < tail`
  return row!.lanes
}
