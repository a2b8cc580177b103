import { beforeAll, beforeEach, expect, test } from 'vitest'
import { withinAnySecond } from '../../src/domain/limits/limits.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { drawnInAll, drawsFrom, mostInASecond, watchDraws } from '../../src/testing/draws.ts'
import { acceptedBySimulators, aGateway, completed, expectBooksInOrder, useEngines } from '../../src/testing/engines.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

/** Messages with more parts than the limit of a gateway holds, and short messages that could keep the limit empty. */

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

test.each([
  ['one engine', 1],
  ['two engines', 2],
])('long messages are sent between short ones, at the rate and without many attempts: %s', async (_, engines) => {
  const rate = 20
  await watchDraws(db.sql)
  const { gatewayId } = await aGateway(db.sql, { partsPerSecond: rate })
  const short = await aDispatch(db.sql, numbering, world, someRecipients(160))
  const long = await aDispatch(db.sql, numbering, world, someRecipients(16), { text: 'a'.repeat(400) })
  const before = await leasesSoFar()
  for (const dispatchId of [short, long]) await start(db.sql, world, dispatchId)
  for (let count = 0; count < engines; count++) await anEngine()

  expect((await completed(db.sql, world, long)).messages).toMatchObject({ total: 16, delivered: 16 })
  expect((await completed(db.sql, world, short)).messages).toMatchObject({ total: 160, delivered: 160 })
  const handed = await handedInOrder()
  expect(handed.length - 1 - handed.findLastIndex(({ dispatchId }) => dispatchId === long)).toBeGreaterThan(30)
  expect((await leasesSoFar()) - before).toBeLessThan(200)
  const draws = await drawsFrom(db.sql, withinAnySecond(`gateway:${gatewayId}`, rate))
  expect(mostInASecond(draws)).toBeLessThanOrEqual(rate)
  expect(drawnInAll(draws)).toBe(208) // all parts of all messages, each drawn once
  await expectBooksInOrder(db.sql, world)
})

/** Every chunk has a lease, and the returned rest of a chunk has another lease. */
async function leasesSoFar(): Promise<number> {
  const [leases] = await db.sql<{ count: number }[]>`
    select coalesce(last_value, 0)::integer as count from pg_sequences
    where sequencename = (select split_part(pg_get_serial_sequence('leases', 'lease_id'), '.', 2))`
  return leases!.count
}

const handedInOrder = () => db.sql<{ dispatchId: number }[]>`
  select m.dispatch_id
  from ${acceptedBySimulators(db.sql)} s join messages m using (company_id, message_uuid)
  where s.company_id = ${world.companyId} order by s.simulator_id`
