import { beforeAll, describe, expect, test } from 'vitest'
import { brandIds } from '../../src/domain/numbering/brand.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { useDatabase } from '../../src/testing/database.ts'
import {
  aChannel,
  acceptedBySimulators,
  aGateway,
  completed,
  expectBooksInOrder,
  handedOver,
  progressOf,
  useEngines,
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSender, aSingle } from '../../src/testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../../src/testing/world.ts'

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

/** How many messages of one dispatch were submitted before the last message of another. */
async function handedBefore(other: number, dispatchId: number): Promise<number> {
  const [row] = await db.sql<{ n: number }[]>`
    with handed as (
      select s.simulator_id, m.dispatch_id from ${acceptedBySimulators(db.sql)} s
      join messages m on m.company_id = s.company_id and m.message_uuid = s.message_uuid
      where m.dispatch_id in (${dispatchId}, ${other}))
    select count(*) as n from handed where dispatch_id = ${dispatchId} and simulator_id <
      (select max(simulator_id) from handed where dispatch_id = ${other})`
  return row!.n
}

test('a dispatch of 100 completes long before a dispatch of 20,000 that is being sent at a limited rate', async () => {
  await aGateway(db.sql, { partsPerSecond: 1000 })
  const large = await aStarted(20_000)
  await anEngine()
  await underWay(large)
  const small = await aStarted(100)
  const { messages: already } = await handedOver(db.sql, large)
  await completed(db.sql, world, small)
  expect((await handedBefore(small, large)) - already).toBeLessThan(4000)
  await stop(db.sql, world, large)
  await expectBooksInOrder(db.sql, world)
})

describe('a limited gateway', () => {
  const startFor = async (of: World, messages: number) => {
    const dispatchId = await aDispatch(db.sql, numbering, of, someRecipients(messages))
    await start(db.sql, of, dispatchId)
  }

  /** The share of the first company when the gateway has sent 1,500 messages of the two. */
  const shareOf = (one: World, other: World) =>
    eventually(async () => {
      const sentBy = async ({ companyId }: World) =>
        (await db.sql`select from simulator_outbox() where company_id = ${companyId}`).count
      const [ofOne, ofOther] = [await sentBy(one), await sentBy(other)]
      expect(ofOne + ofOther).toBeGreaterThan(1500)
      return ofOne / (ofOne + ofOther)
    })

  const closeLanes = async (...of: World[]) => {
    for (const { companyId } of of) await db.sql`update lanes set open = false where company_id = ${companyId}`
  }

  test.each([null, 1000])('is shared in halves by companies with 80 and 4 lanes (own limits: %s)', async ownLimit => {
    const [many, few] = [await aWorld(db.sql), await aWorld(db.sql)]
    for (const { companyId } of [many, few])
      await db.sql`update companies set parts_per_second = ${ownLimit} where company_id = ${companyId}`
    for (let i = 0; i < 20; i++) await startFor(many, 400)
    await startFor(few, 8000)
    await aGateway(db.sql, { partsPerSecond: 300 })
    await anEngine()
    const share = await shareOf(many, few)
    await closeLanes(many, few)
    expect(share).toBeGreaterThan(0.4)
    expect(share).toBeLessThan(0.6)
  })

  test('is not lost by a company that has 4,000 lanes of a sender name that is not approved', async () => {
    const [waiting, other] = [await aWorld(db.sql), await aWorld(db.sql)]
    await aGateway(db.sql, { partsPerSecond: 300 })
    await waitingLanes(waiting, await aSender(db.sql, waiting.companyId))
    for (const of of [waiting, other]) await startFor(of, 8000)
    await anEngine()
    const share = await shareOf(waiting, other)
    await closeLanes(waiting, other)
    // In earlier versions the company sent nothing until the other one had sent everything. It gets a little less than
    // half, because each turn tries twenty of the lanes.
    expect(share).toBeGreaterThan(0.2)
  })
})

test.each<[string, { isPaused?: boolean; partsPerSecond?: number; ofSender?: number }]>([
  ['is paused', { isPaused: true }],
  ['has used up its limit', { partsPerSecond: 5 }],
  ['would take them, but the sender name has used up its limit', { ofSender: 5 }],
])('messages to other operators do not wait behind 4,000 lanes whose operator %s', async (_, given) => {
  const { isPaused = false, partsPerSecond = null, ofSender = null } = given
  const fresh = await aWorld(db.sql)
  const { senderId } = fresh.senders[0]!
  await db.sql`update senders set parts_per_second = ${ofSender} where sender_id = ${senderId}`
  const { gatewayId } = await aGateway(db.sql, { brands: [brandIds.MTS], partsPerSecond })
  await db.sql`update gateways set paused = ${isPaused} where gateway_id = ${gatewayId}`
  await aGateway(db.sql, { name: 'others', brands: [brandIds.BEELINE, brandIds.MEGAFON, brandIds.TELE2] })
  await waitingLanes(fresh, fresh.senders[0]!)
  const dispatchId = await aDispatch(db.sql, numbering, fresh, someRecipients(4000))
  await start(db.sql, fresh, dispatchId)
  await anEngine()
  await eventually(async () => expect((await handedOver(db.sql, dispatchId)).messages).toBeGreaterThanOrEqual(3000))
  const [postponed] = await db.sql<{ n: number }[]>`
    select count(*) as n from lanes where company_id = ${fresh.companyId} and not_before > '-infinity'`
  expect(postponed!.n, 'most of the lanes were not tried at all').toBeLessThan(2000)
})

/** Open lanes with messages, of dispatches to MTS, that are served before all other lanes of the company. */
const waitingLanes = ({ companyId }: World, { senderId }: { senderId: number }) => db.sql`
  insert into lanes (company_id, channel_type, priority, sender_id, brand_id, dispatch_id, tail, open)
  select ${companyId}, 'SMS', 3, ${senderId}, ${brandIds.MTS}, -i, 1000, true from generate_series(1, 4000) i`

test('chunks that an engine returned or left behind are not sent before all other work', async () => {
  await aGateway(db.sql, { partsPerSecond: 400 })
  const large = await aStarted(8000)
  // Chunks of an engine that does not exist any more.
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
    select company_id, lane_id, 0, 2000, gen_random_uuid(), gen_random_uuid(), now() from lanes
    where dispatch_id = ${large}`
  await db.sql`update lanes set cursor = 2000 where dispatch_id = ${large}`
  const engine = await anEngine()
  await underWay(large)
  await stopEngine(engine)
  await anEngine()
  const small = await aStarted(40)
  const { messages: already } = await handedOver(db.sql, large)
  await completed(db.sql, world, small)
  expect((await handedBefore(small, large)) - already).toBeLessThan(2000)
  await stop(db.sql, world, large)
  await expectBooksInOrder(db.sql, world)
})

const single = (given: { priority: number; destination: string }, of = world) => aSingle(of.senders[0]!, given)

async function accept(singles: ReturnType<typeof single>[], of = world): Promise<string[]> {
  const accepted = await acceptSingles(db.sql, of.companyId, singles, { billingZone, now: new Date() })
  return accepted.flatMap(one => (one.kind === 'accepted' ? one.uuid : []))
}

test('a code is sent before advertising, also when the limit has few parts left', async () => {
  await aGateway(db.sql, { partsPerSecond: 100 })
  const bulk = await aStarted(10_000)
  await anEngine()
  await underWay(bulk)
  const codes = Array.from({ length: 30 }, (_, i) => single({ priority: 0, destination: `7916${20_000 + i}77` }))
  const uuids = await accept(codes)
  await eventually(async () => {
    const [row] = await db.sql`select count(*) as n from simulator_outbox() where message_uuid = any(${uuids}::uuid[])`
    expect(row!.n).toBe(30)
  })
  // In turns with the four bulk lanes, 120 bulk messages would have been sent between the codes.
  const [among] = await db.sql`
    select count(*) as n from simulator_outbox()
    where message_uuid <> all(${uuids}::uuid[]) and simulator_id between
      (select min(simulator_id) from simulator_outbox() where message_uuid = any(${uuids}::uuid[])) and
      (select max(simulator_id) from simulator_outbox() where message_uuid = any(${uuids}::uuid[]))`
  expect(among!.n).toBeLessThan(60)
  expect((await progressOf(db.sql, world, bulk)).messages.pending).toBeGreaterThan(3000)
  await stop(db.sql, world, bulk)
  await eventually(() => expectBooksInOrder(db.sql, world))
})

test('urgent traffic gets the share of its weight, and advertising is sent too', async () => {
  // Slow enough for small chunks. With large chunks the measured share would depend on chance.
  await aGateway(db.sql, { settings: { submitMs: 100, window: 4 } })
  const [TRANSACT, PROMO] = [1, 3]
  const many = (priority: number) =>
    Array.from({ length: 6000 }, (_, i) => single({ priority, destination: `7916${30_000 + i}${priority}7` }))
  const promo = new Set(await accept(many(PROMO)))
  const all = [...promo, ...(await accept(many(TRANSACT)))]
  await anEngine()
  const outbox = await eventually(async () => {
    const rows = await db.sql<{ uuid: string }[]>`
        select message_uuid as uuid from simulator_outbox() where message_uuid = any(${all}::uuid[]) order by simulator_id limit 3500`
    expect(rows).toHaveLength(3500)
    return rows
  })
  // The first chunk depends on chance. After it one message in nine is advertising: 333 of 3,000.
  const ofPromo = outbox.slice(500).filter(({ uuid }) => promo.has(uuid)).length
  expect(ofPromo).toBeGreaterThan(90)
  expect(ofPromo).toBeLessThan(720)
})

test('returned chunks of urgent traffic count by the messages that are sent, not by the size of the chunk', async () => {
  await aGateway(db.sql, { partsPerSecond: 400 })
  const [TRANSACT, PROMO] = [1, 3]
  const fresh = await aWorld(db.sql)
  const acceptMany = (priority: number) => {
    const to = (i: number) => `7916${String(60_000 + i)}${priority}7`
    const singles = Array.from({ length: 1500 }, (_, i) => single({ priority, destination: to(i) }, fresh))
    return accept(singles, fresh)
  }
  const promo = new Set(await acceptMany(PROMO))
  const urgent = await acceptMany(TRANSACT)
  // Thirty chunks, so that another one always waits while some are being sent, also on a slow machine.
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, claimed_until)
    select company_id, lane_id, first, first + 50, '-infinity' from lanes, generate_series(0, 1450, 50) first
    where company_id = ${fresh.companyId} and priority = ${TRANSACT}`
  await db.sql`update lanes set cursor = tail where company_id = ${fresh.companyId} and priority = ${TRANSACT}`
  await anEngine()
  const all = [...promo, ...urgent]
  const outbox = await eventually(async () => {
    const rows = await db.sql<{ uuid: string }[]>`
        select message_uuid as uuid from simulator_outbox() where message_uuid = any(${all}::uuid[]) order by simulator_id limit 900`
    expect(rows).toHaveLength(900)
    return rows
  })
  const ofPromo = outbox.filter(({ uuid }) => promo.has(uuid)).length
  expect(ofPromo).toBeGreaterThan(0)
  expect(ofPromo).toBeLessThan(300)
})

test('a code that arrives during a long turn does not wait for its end', async () => {
  const crowd = await aWorld(db.sql)
  const LANES = 1500
  await aGateway(db.sql)
  const asideWhenHanded = Promise.withResolvers<number>()
  const aside = async () => {
    const [row] = await db.sql<{ n: number }[]>`
      select count(*) as n from lanes where company_id = ${crowd.companyId} and not_before > '-infinity'`
    return row!.n
  }
  const operator = aChannel(async () => {
    asideWhenHanded.resolve(await aside())
    return { kind: 'accepted' }
  })
  await anEngine({ connect: operator.connect })
  // Lanes that cannot send. Each has a limit of its own, so the turn asks the database for each of them.
  await db.sql`
    with made as (
      insert into dispatch_ids (company_id) select ${crowd.companyId} from generate_series(1, ${LANES}::int) returning dispatch_id),
    empty as (
      insert into rate_buckets (subject, tokens, filled_at)
      select 'dispatch:' || dispatch_id, -1000000, clock_timestamp() from made),
    dispatch as (
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, status, parts_per_second)
      select ${crowd.companyId}, dispatch_id, '', 'SMS', 'PROMO', '', '{}', 'STARTED', 1 from made returning dispatch_id)
    insert into lanes (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, tail, open)
    select ${crowd.companyId}, dispatch_id, 'SMS', ${crowd.senders[0]!.senderId}, 1, 3, 100, true from dispatch`
  await eventually(async () => expect(await aside()).toBeGreaterThan(0))
  await accept([single({ priority: 0, destination: '79162000277' })])
  // The next turns would have postponed all of them.
  expect(await asideWhenHanded.promise).toBeLessThan(700)
  await db.sql`delete from lanes where company_id = ${crowd.companyId}`
})

test('an engine with long pauses is woken up by new work', async () => {
  await aGateway(db.sql, {})
  const engine = await anEngine({ idleMs: 60_000 })
  await accept([single({ priority: 3, destination: '79162000177' })])
  await eventually(async () => {
    const rows = await db.sql`select from simulator_outbox() where destination = '79162000177'`
    expect(rows).toHaveLength(1)
  })
  await stopEngine(engine)
})
