import type { Pool } from '../src/db/sql.ts'
import { addGateway } from '../src/domain/gateways/gateways.ts'
import { aCompany } from '../src/testing/factories.ts'
import { manyLanes } from '../src/testing/lanes.ts'
import type { Connection } from './client.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'many-lanes'
export const about = 'a dispatch of 10,000 with and without 20,000 lanes of another company beside it'

const MESSAGES = 10_000
const LANES = 20_000
const ROUNDS = 3

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const connection = await startSending(stage)
    const crowd = await aCrowd(stage)
    await secondsOf(stage, connection) // the first one warms everything up
    const rounds: { alone: number; beside: number }[] = []
    for (let i = 0; i < ROUNDS; i++) {
      await openLanes(stage, crowd, false)
      const alone = await secondsOf(stage, connection)
      await openLanes(stage, crowd, true)
      rounds.push({ alone, beside: await secondsOf(stage, connection) })
    }
    const ratio = median(rounds.map(({ alone, beside }) => beside / alone))
    return [
      { what: `${MESSAGES} messages alone`, value: median(rounds.map(({ alone }) => alone)), unit: 's' },
      {
        what: `beside ${LANES} lanes of another company`,
        value: median(rounds.map(({ beside }) => beside)),
        unit: 's',
      },
      { what: 'lanes that were left', value: await lanesLeft(stage, crowd), unit: 'lanes' },
      { what: 'time beside the lanes, to alone', value: ratio, unit: '', target: { most: 1.5 } },
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

async function secondsOf(stage: Stage, connection: Connection): Promise<number> {
  return MESSAGES / (await throughEngine(stage, connection, MESSAGES))
}

async function lanesLeft({ sql }: Stage, companyId: number): Promise<number> {
  const [row] = await sql<{ lanes: number }[]>`
    select count(*) as lanes from lanes where company_id = ${companyId} and cursor < tail`
  return row!.lanes
}
