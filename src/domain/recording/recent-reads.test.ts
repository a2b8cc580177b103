import { beforeAll, expect, test } from 'vitest'
import { type Money, money } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { countLockWaits, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { statementsOf } from '../../testing/plans.ts'
import { aDispatch, aWorld, billingZone, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { lockAccount } from '../ledger/ledger.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { RecentReads } from './recent-reads.ts'
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

const delivered = { status: 'DELIVERED' as const, at: now }

const deliver = (sql: Pool, { companyId }: World, uuids: string[]) =>
  recordStatusReports(
    sql,
    companyId,
    uuids.map(uuid => ({ uuid, sentAt: now, final: delivered })),
    { billingZone, now },
  )

test('a further batch of a dispatch reads it without waiting for the changes, and reads no tariff again', async () => {
  const world = await aWorld(db.sql)
  const [a, b] = await uuidsOf(await aStartedDispatch(world, 3))
  const all = await statementsOf(db.url, async sql => {
    await deliver(sql, world, [a!])
    await recordStatusReports(sql, world.companyId, [{ uuid: b!, final: delivered }], { billingZone, now })
  })
  const texts = all.map(({ text }) => text)
  const begunAt = texts.findLastIndex(text => /from companies where company_id = \S+ for no key update/.test(text))
  const [first, second] = [texts.slice(0, begunAt), texts.slice(begunAt)]
  expect(first.filter(isAboutTariffs)).toHaveLength(1)
  expect(second.filter(isAboutTariffs)).toEqual([])
  // The receipt came early: a second UPDATE follows when the answer to the first one is there.
  const updates = second.flatMap((text, i) => (/update messages m set\s+status/.test(text) ? [i] : []))
  expect(updates).toHaveLength(2)
  const reads = second.flatMap((text, i) => (/as callback_events, channel_type/.test(text) ? [i] : []))
  expect(reads).toHaveLength(1)
  expect(reads[0]).toBeLessThan(updates[1]!)
})

const isAboutTariffs = (text: string) => /tariff_steps/.test(text)

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

const expectNothingHeld = async ({ companyId }: World) => {
  const [account] = await db.sql<{ reserved: Money }[]>`
    select reserved from accounts where company_id = ${companyId}`
  expect(account!.reserved).toBe(0n)
  expect(await verifyLedger(db.sql, { companyId })).toEqual([])
}

test('a dispatch that was stopped after the batch before counts as stopped', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aStartedDispatch(world, 3)
  const [a, b] = await uuidsOf(dispatchId)
  await deliver(db.sql, world, [a!])
  await stop(db.sql, world, dispatchId, now)
  await deliver(db.sql, world, [b!]) // it had no lease, so it held nothing any more
  await expectNothingHeld(world)
})

testOnOneServer('a dispatch that is stopped while a batch waits for the statuses counts as stopped', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aStartedDispatch(world, 3)
  const [a, b] = await uuidsOf(dispatchId)
  await deliver(db.sql, world, [a!])
  const waitsAre = (count: number) => eventually(async () => expect(await countLockWaits(db.sql)).toBe(count))
  const { ended } = await db.sql.begin(async sql => {
    await lockAccount(sql, world.companyId, '2026-07-01')
    const stopped = stop(db.sql, world, dispatchId, now)
    await waitsAre(1)
    const recorded = deliver(db.sql, world, [b!])
    await waitsAre(2)
    return { ended: Promise.all([stopped, recorded]) }
  })
  await ended
  await expectNothingHeld(world)
})

test('a price that depends on a count is counted, whether its tariff was read before or not', async () => {
  const world = await aWorld(db.sql)
  await deliver(db.sql, world, await uuidsOf(await aStartedDispatch(world, 1)))
  const steps = [
    { from: 1, price: '3' },
    { from: 2, price: '2' },
  ]
  await importTariffs(db.sql, world.partner.login, [
    { senderType: 'COMMON', brand: 'MTS', pricingModel: 'SCALED', steps },
  ])
  const dispatchId = await aStartedDispatch(world, 2)
  for (const uuid of await uuidsOf(dispatchId)) await deliver(db.sql, world, [uuid])
  const prices = await db.sql<{ price: Money }[]>`
    select final_price as price from messages
    where company_id = ${world.companyId} and dispatch_id = ${dispatchId} order by dispatch_position`
  expect(prices.map(({ price }) => price)).toEqual([money('3'), money('2')])
})

test('the dispatches of the last batch of each company are kept, unless there are too many', () => {
  const recent = new RecentReads()
  recent.noteDispatches(1, new Set([10, 11]))
  recent.noteDispatches(2, new Set(Array(500).keys()))
  recent.noteDispatches(1, new Set([11, 12]))
  recent.noteDispatches(1, new Set()) // a batch of single messages
  expect(recent.likelyDispatches(1)).toEqual([11, 12])
  expect(recent.likelyDispatches(2)).toEqual([])
  expect(recent.likelyDispatches(3)).toEqual([])
})
