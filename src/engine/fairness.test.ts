import { beforeAll, expect, test } from 'vitest'
import { money } from '../base/money.ts'
import { loadNumbering, type Numbering } from '../domain/numbering/numbering.ts'
import { acceptSingles } from '../domain/singles/singles.ts'
import { useDatabase } from '../testing/database.ts'
import { aGateway, completed, expectBooksInOrder, handedOver, progressOf, useEngines } from '../testing/engines.ts'
import { eventually } from '../testing/eventually.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../testing/world.ts'

const db = useDatabase()
const { anEngine, stopEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  world = await aWorld(db.sql)
})

async function aStarted(messages: number) {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages))
  await start(db.sql, world, dispatchId)
  return dispatchId
}

const underWay = (dispatchId: number) =>
  eventually(async () => expect((await handedOver(db.sql, dispatchId)).messages).toBeGreaterThan(50))

test('a dispatch of 100 completes long before one of 20,000 that is going out at a limited rate', async () => {
  await aGateway(db.sql, { partsPerSecond: 1000 })
  const large = await aStarted(20_000)
  await anEngine()
  await underWay(large)
  const small = await aStarted(100)
  await completed(db.sql, world, small, 4000)
  const { messages } = await progressOf(db.sql, world, large)
  expect(messages.pending).toBeGreaterThan(12_000)
  await stop(db.sql, world, large)
  await expectBooksInOrder(db.sql, world)
})

test('what an engine gave back, or left behind, does not go before everyone else', async () => {
  await aGateway(db.sql, { partsPerSecond: 400 })
  const large = await aStarted(8000)
  // Chunks of an engine that is gone.
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, until)
    select company_id, lane_id, 0, 2000, gen_random_uuid(), gen_random_uuid(), now() from lanes
    where dispatch_id = ${large}`
  await db.sql`update lanes set cursor = 2000 where dispatch_id = ${large}`
  const engine = await anEngine()
  await underWay(large)
  await stopEngine(engine)
  await anEngine()
  const small = await aStarted(40)
  await completed(db.sql, world, small, 4000)
  expect((await progressOf(db.sql, world, large)).messages.pending).toBeGreaterThan(4000)
  await stop(db.sql, world, large)
  await expectBooksInOrder(db.sql, world)
})

test('a code goes before advertising, whatever the limit leaves', async () => {
  await aGateway(db.sql, { partsPerSecond: 100 })
  const bulk = await aStarted(4000)
  await anEngine()
  await underWay(bulk)
  const begun = performance.now()
  const codes = Array.from({ length: 30 }, (_, i) => ({
    channelType: 'SMS' as const,
    senderId: world.senders[0]!.senderId,
    brandId: 1,
    priority: 0,
    destination: `7916${String(20_000 + i)}77`,
    text: 'Code 4321',
    parts: 1,
    tariffId: null,
    price: money('3.90'),
  }))
  const accepted = await acceptSingles(db.sql, world.companyId, codes, { billingZone, now: new Date() })
  const uuids = accepted.flatMap(one => (one.kind === 'accepted' ? one.uuid : []))
  await eventually(
    async () => {
      const [row] = await db.sql`select count(*) as n from simulator_messages where uuid = any(${uuids}::uuid[])`
      expect(row!.n).toBe(30)
    },
    { withinMs: 3000 },
  )
  // 30 codes are 0.3 s of the gateway; by turns with the four lanes of the bulk it would be 1.5 s.
  expect(performance.now() - begun).toBeLessThan(1300)
  expect((await progressOf(db.sql, world, bulk)).messages.pending).toBeGreaterThan(3000)
  await stop(db.sql, world, bulk)
  await eventually(() => expectBooksInOrder(db.sql, world))
})
