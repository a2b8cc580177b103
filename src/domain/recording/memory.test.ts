import { beforeAll, expect, test } from 'vitest'
import { type Money, money } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { statementsOf } from '../../testing/plans.ts'
import { aDispatch, aWorld, billingZone, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { Memory } from './memory.ts'
import { recordStatusReports } from './recording.ts'

const db = useDatabase()
const now = new Date()
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

/** Numbers of one operator, at one price. */
const people = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ destination: `7916000${String(i).padStart(2, '0')}77` }))

async function aStartedDispatch(world: World, messages: number): Promise<number> {
  const dispatchId = await aDispatch(db.sql, numbering, world, people(messages))
  await start(db.sql, world, dispatchId, now)
  return dispatchId
}

async function uuidsOf(dispatchId: number): Promise<string[]> {
  const rows = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  return rows.map(({ uuid }) => uuid)
}

const deliver = (sql: Pool, { companyId }: World, uuids: string[]) =>
  recordStatusReports(
    sql,
    companyId,
    uuids.map(uuid => ({ uuid, sentAt: now, final: { status: 'DELIVERED' as const, at: now } })),
    { billingZone, now },
  )

test('a further batch of a dispatch reads it together with the changes, and reads no fixed tariff again', async () => {
  const world = await aWorld(db.sql)
  const [a, b, c] = await uuidsOf(await aStartedDispatch(world, 3))
  const first = await statementsOf(db.url, sql => deliver(sql, world, [a!]))
  const both = await statementsOf(db.url, async sql => {
    await deliver(sql, world, [b!])
    await deliver(sql, world, [c!])
  })
  const second = both.slice(first.length)
  const placesOf = (pattern: RegExp) => second.flatMap(({ text }, i) => (pattern.test(text) ? [i] : []))
  expect(first.filter(({ text }) => /tariff_steps/.test(text))).toHaveLength(1)
  expect(placesOf(/tariff_steps/)).toEqual([])
  const ofDispatches = placesOf(/as callback_events, channel_type/)
  expect(ofDispatches).toHaveLength(1)
  // Nothing between the statement of statuses and this one waits for an answer.
  expect(ofDispatches[0]! - placesOf(/update messages m set\s+status/)[0]!).toBe(1)
})

test('a batch about other dispatches than the batch before finds them', async () => {
  const world = await aWorld(db.sql)
  const [one, other] = [await aStartedDispatch(world, 2), await aStartedDispatch(world, 2)]
  const [a, b] = await uuidsOf(one)
  await deliver(db.sql, world, [a!])
  await deliver(db.sql, world, await uuidsOf(other))
  await deliver(db.sql, world, [b!])
  const rows = await db.sql`select status from dispatches where dispatch_id in ${db.sql([one, other])}`
  expect(rows.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
})

test('a dispatch that was stopped after the batch before counts as stopped', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aStartedDispatch(world, 3)
  const [a, b] = await uuidsOf(dispatchId)
  await deliver(db.sql, world, [a!])
  await stop(db.sql, world, dispatchId, now)
  await deliver(db.sql, world, [b!]) // it had no lease, so it held nothing any more
  const [account] = await db.sql<{ reserved: Money }[]>`
    select reserved from accounts where company_id = ${world.companyId}`
  expect(account!.reserved).toBe(0n)
  expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
})

test('a price that depends on a count is counted, although fixed prices are known', async () => {
  const world = await aWorld(db.sql)
  const [a, b, c] = await uuidsOf(await aStartedDispatch(world, 3))
  await deliver(db.sql, world, [a!])
  await db.sql`
    with scaled as (
      insert into tariffs (partner_id, sender_type, brand, pricing_model, currency)
      values (${world.partner.partnerId}, 'COMMON', 'MTS', 'SCALED', 'RUB') returning tariff_id),
    steps as (insert into tariff_steps (tariff_id, from_count, price) select tariff_id, 0, 1 from scaled)
    update messages set tariff_id = (select tariff_id from scaled) where message_uuid = ${b!}`
  await deliver(db.sql, world, [b!, c!])
  const prices = await db.sql<{ uuid: string; finalPrice: Money; parts: number }[]>`
    select message_uuid as uuid, final_price, parts from messages where message_uuid in ${db.sql([b!, c!])}`
  const ofB = prices.find(({ uuid }) => uuid === b!)!
  expect(ofB.finalPrice).toBe(money('1') * BigInt(ofB.parts))
  expect(prices.find(({ uuid }) => uuid === c!)!.finalPrice).toBeGreaterThan(ofB.finalPrice)
})

test('it keeps the dispatches of the last batch of each company, and not very many', () => {
  const memory = new Memory()
  memory.noteDispatches(1, [10, 11])
  memory.noteDispatches(2, Array(500).keys())
  memory.noteDispatches(1, [11, 12])
  expect(memory.likelyDispatches(1)).toEqual([11, 12])
  expect(memory.likelyDispatches(2)).toHaveLength(50)
  expect(memory.likelyDispatches(3)).toEqual([])
})
