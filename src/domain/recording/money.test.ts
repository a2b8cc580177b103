import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { type Money, money } from '../../base/money.ts'
import { connect } from '../../db/sql.ts'
import { countLockWaits, PATIENT, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { runnableLanes } from '../../testing/lanes.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { updateCompany } from '../companies/companies.ts'
import { runsOf } from '../lanes/lane.ts'
import { takeChunk } from '../lanes/lanes.ts'
import { closeLease, returnExpiredLeases } from '../leases/leases.ts'
import { lockAccount, setBilling, topUp } from '../ledger/ledger.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordStatusReports } from './recording.ts'

const db = useDatabase()
let numbering: Numbering

const JULY = new Date('2026-07-20T12:00:00Z')
const AUGUST = new Date('2026-08-03T12:00:00Z')

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

/** Numbers of one operator at 7.50 a part. */
const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ destination: `7916${String(from + i).padStart(5, '0')}77` }))

const accountOf = async ({ companyId }: World) => {
  const [account] = await db.sql<{ balance: Money; reserved: Money }[]>`
    select balance, reserved from accounts where company_id = ${companyId}`
  const months = await db.sql<{ month: string; spent: Money }[]>`
    select month::text, spent from account_months where company_id = ${companyId} order by month`
  return { ...account!, spent: Object.fromEntries(months.map(({ month, spent }) => [month.slice(0, 7), spent])) }
}

const uuidsOf = async ({ companyId }: World, dispatchId: number) => {
  const rows = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where company_id = ${companyId} and dispatch_id = ${dispatchId} order by dispatch_position`
  return rows.map(({ uuid }) => uuid)
}

const delivered = (uuids: string[], now = JULY): StatusReport[] =>
  uuids.map(uuid => ({ uuid, sentAt: now, final: { status: 'DELIVERED', at: now } }))

const record = ({ companyId }: World, statusReports: StatusReport[], now = JULY) =>
  recordStatusReports(db.sql, companyId, statusReports, { billingZone, now })

async function takeAll({ companyId }: World) {
  const lane = (await runnableLanes(db.sql, new Date())).find(runnable => runnable.companyId === companyId)!
  return (await takeChunk(db.sql, lane, 1000, randomUUID()))!
}

async function lookAtBooks({ companyId }: World) {
  expect(await verifyLedger(db.sql, { companyId })).toEqual([])
}

test('a hundred concurrent starts never exceed the budget', async () => {
  const world = await aWorld(db.sql, { budget: '157.50' }) // seven dispatches of three messages at 7.50
  const ids: number[] = []
  for (let i = 0; i < 100; i++) ids.push(await aDispatch(db.sql, numbering, world, people(3)))
  const pool = connect(db.url, { max: 40, ...PATIENT })

  const starts = await Promise.allSettled(ids.map(id => start(pool, world, id)))
  await pool.end()

  expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  expect((await accountOf(world)).reserved).toBe(money('157.50'))
  const [row] = await db.sql`
    select count(*) as started from dispatches where company_id = ${world.companyId} and status = 'STARTED'`
  expect(row!.started).toBe(7)
  await lookAtBooks(world)
})

test('starts beside settlements never exceed the budget', async () => {
  const world = await aWorld(db.sql, { budget: '45.00' })
  const pool = connect(db.url, { max: 40, ...PATIENT })
  const ids: number[] = []
  for (let i = 0; i < 60; i++) ids.push(await aDispatch(db.sql, numbering, world, people(1, i)))
  const statusReports = await Promise.all(ids.map(async id => delivered(await uuidsOf(world, id), new Date())))

  await Promise.allSettled(
    ids.map(async (id, i) => {
      await start(pool, world, id)
      await recordStatusReports(pool, world.companyId, statusReports[i]!, { billingZone, now: new Date() })
    }),
  )
  await pool.end()

  const { balance, reserved } = await accountOf(world)
  expect({ balance, reserved }).toEqual({ balance: money('-45.00'), reserved: 0n })
  await lookAtBooks(world)
})

testOnOneServer('a start that waited for the account sees the amount that was spent meanwhile', async () => {
  const world = await aWorld(db.sql, { budget: '10.00' })
  const dispatchId = await aDispatch(db.sql, numbering, world, people(1))
  let starting: Promise<unknown> | undefined

  await db.sql.begin(async sql => {
    await lockAccount(sql, world.companyId, '2026-07-01')
    starting = start(db.sql, world, dispatchId, JULY).catch(error => error)
    await eventually(async () => expect(await countLockWaits(db.sql)).toBeGreaterThan(0))
    await sql`insert into account_months (company_id, month, spent) values (${world.companyId}, '2026-07-01', 5)`
  })

  expect(await starting).toMatchObject({ message: 'The monthly budget of the company would be exceeded' })
})

test('the same receipts in several processes at once are billed once', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, people(200))
  await start(db.sql, world, dispatchId, JULY)
  const uuids = await uuidsOf(world, dispatchId)
  await record(
    world,
    uuids.map(uuid => ({ uuid, sentAt: JULY })),
  )

  const steps = await Promise.all(Array.from({ length: 8 }, () => record(world, delivered(uuids))))

  expect(steps.flat()).toHaveLength(200)
  expect(await accountOf(world)).toEqual({ balance: money('-1500'), reserved: 0n, spent: { '2026-07': money('1500') } })
  await lookAtBooks(world)
})

test('a budget at its brim still starts, a ten-thousandth less does not, and then nothing has changed', async () => {
  const world = await aWorld(db.sql, { budget: '14.9999' })
  const dispatchId = await aDispatch(db.sql, numbering, world, people(2))

  await expect(start(db.sql, world, dispatchId, JULY)).rejects.toThrow('budget')
  expect(await accountOf(world)).toEqual({ balance: 0n, reserved: 0n, spent: {} })

  await updateCompany(db.sql, world.partner, world.companyId, { budget: money('15') })
  await start(db.sql, world, dispatchId, JULY)
  expect((await accountOf(world)).reserved).toBe(money('15'))
})

test('a lowered budget touches new reservations only', async () => {
  const world = await aWorld(db.sql, { budget: '100' })
  const [first, second] = [
    await aDispatch(db.sql, numbering, world, people(4)),
    await aDispatch(db.sql, numbering, world, people(1)),
  ]
  await start(db.sql, world, first, JULY)
  await updateCompany(db.sql, world.partner, world.companyId, { budget: money('1') })

  await expect(start(db.sql, world, second, JULY)).rejects.toThrow('budget')
  await record(world, delivered(await uuidsOf(world, first)))

  expect(await accountOf(world)).toEqual({ balance: money('-30'), reserved: 0n, spent: { '2026-07': money('30') } })
})

test('a reservation counts in the new month, and is spent in the month in which its message becomes final', async () => {
  const world = await aWorld(db.sql, { budget: '30' })
  const [first, second] = [
    await aDispatch(db.sql, numbering, world, people(3)),
    await aDispatch(db.sql, numbering, world, people(2)),
  ]
  await start(db.sql, world, first, JULY)
  const uuids = await uuidsOf(world, first)
  await record(world, delivered(uuids.slice(0, 1)))

  await expect(start(db.sql, world, second, AUGUST)).resolves.toBeUndefined() // 7.50 of July do not count any more
  await stop(db.sql, world, second, AUGUST)
  await record(world, delivered(uuids.slice(1)), AUGUST)
  const { spent } = await accountOf(world)

  expect(spent).toEqual({ '2026-07': money('7.5'), '2026-08': money('15') })
  await lookAtBooks(world)
})

test('a prepaid company starts what its balance covers', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, people(2))
  await setBilling(db.sql, world.companyId, 'PREPAID')
  await expect(start(db.sql, world, dispatchId, JULY)).rejects.toThrow('balance')

  expect(await topUp(db.sql, world.companyId, { amount: money('15') }, { billingZone, now: JULY })).toBe(money('15'))
  await start(db.sql, world, dispatchId, JULY)
  const another = await aDispatch(db.sql, numbering, world, people(1))

  await expect(start(db.sql, world, another, JULY)).rejects.toThrow('balance')
  await lookAtBooks(world)
})

test('a top-up is more than nothing and not too large, and its company exists', async () => {
  const { companyId } = await aWorld(db.sql)
  const when = { billingZone, now: JULY }
  expect(() => topUp(db.sql, companyId, { amount: 0n }, when)).toThrow('more than 0')
  expect(() => topUp(db.sql, companyId, { amount: money('100000001') }, when)).toThrow('at most 100000000')
  await expect(topUp(db.sql, 999_999, { amount: 1n }, when)).rejects.toThrow('Company not found')
  await expect(setBilling(db.sql, 999_999, 'PREPAID')).rejects.toThrow('Company not found')
})

test('news of a message that was given back by a stopped dispatch neither release nor bill twice', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, people(3))
  await start(db.sql, world, dispatchId, JULY)
  await takeAll(world)
  await stop(db.sql, world, dispatchId, JULY)
  expect((await accountOf(world)).reserved).toBe(money('22.5')) // in somebody's hands
  await db.sql`update leases set claimed_until = '2000-01-01' where company_id = ${world.companyId}`
  await returnExpiredLeases(db.sql, { billingZone, now: JULY })
  expect((await accountOf(world)).reserved).toBe(0n)

  const uuids = await uuidsOf(world, dispatchId)
  await record(world, [
    { uuid: uuids[0]!, final: { status: 'DELIVERED', at: JULY } }, // an early receipt
    { uuid: uuids[1]!, sentAt: JULY }, // the frozen engine wakes up
  ])

  expect(await accountOf(world)).toMatchObject({ balance: money('-7.5'), reserved: money('7.5') })
  await lookAtBooks(world)
  await start(db.sql, world, dispatchId, JULY)
  expect((await accountOf(world)).reserved).toBe(money('15'))
  await lookAtBooks(world)
})

test('the holds of leased messages of a stopped dispatch are released when the lease is returned', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, people(4))
  await start(db.sql, world, dispatchId, JULY)
  const lease = await takeAll(world)
  const uuids = await uuidsOf(world, dispatchId)
  await record(world, [{ uuid: uuids[0]!, sentAt: JULY }])
  await stop(db.sql, world, dispatchId, JULY)
  expect((await accountOf(world)).reserved).toBe(money('30'))

  const left = [1, 2, 3].map(seq => ({ seq, attempts: 0, dueAt: JULY }))
  await closeLease(db.sql, lease, runsOf(left), { billingZone, now: JULY })

  expect((await accountOf(world)).reserved).toBe(money('7.5'))
  await lookAtBooks(world)
})

test('of a receipt and a refusal of the same message the receipt counts', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, people(2))
  await start(db.sql, world, dispatchId, JULY)
  const [first, second] = await uuidsOf(world, dispatchId)
  await record(world, [{ uuid: first!, sentAt: JULY }])

  const refused = { at: JULY, errorCode: 456 }
  const final = { status: 'DELIVERED', at: JULY } as const
  await record(world, [
    { uuid: first!, refused, final },
    { uuid: second!, refused },
    { uuid: second!, final },
  ])

  expect(await accountOf(world)).toMatchObject({ balance: money('-15'), reserved: 0n })
  await lookAtBooks(world)
})

const MAU = {
  senderType: 'COMMON',
  brand: 'MTS',
  pricingModel: 'MAU',
  steps: [
    { from: 1, price: '1', priceMauBatch: '100' },
    { from: 3, price: '1', priceMauBatch: '200' },
    { from: 5, price: '1', priceMauBatch: '400' },
  ],
}

test('a package is held while it can be reached, charged when it is reached, and then no longer held', async () => {
  const world = await aWorld(db.sql)
  await importTariffs(db.sql, world.partner.login, [MAU])
  const first = await aDispatch(db.sql, numbering, world, people(4))
  const second = await aDispatch(db.sql, numbering, world, [...people(3), ...people(3)])
  await start(db.sql, world, first, JULY)
  expect((await accountOf(world)).reserved).toBe(money('304'))
  await start(db.sql, world, second, JULY) // three people, though six messages
  expect((await accountOf(world)).reserved).toBe(money('610'))

  await record(world, delivered((await uuidsOf(world, first)).slice(0, 1)))
  expect(await accountOf(world)).toMatchObject({ reserved: money('409'), spent: { '2026-07': money('101') } })
  await lookAtBooks(world)
  await record(world, delivered((await uuidsOf(world, second)).slice(1)))
  expect(await accountOf(world)).toMatchObject({ reserved: money('4'), spent: { '2026-07': money('306') } })
  await stop(db.sql, world, first, JULY)
  await record(world, [{ uuid: (await uuidsOf(world, second))[0]!, refused: { at: JULY, errorCode: 456 } }])
  expect((await accountOf(world)).reserved).toBe(0n)
  await lookAtBooks(world)
})

test('people who were reached this month bring no package nearer', async () => {
  const world = await aWorld(db.sql, { budget: '110' })
  await importTariffs(db.sql, world.partner.login, [MAU])
  for (const day of ['2026-07-20', '2026-07-21', '2026-07-22']) {
    const now = new Date(`${day}T12:00:00Z`)
    const dispatchId = await aDispatch(db.sql, numbering, world, people(2))
    await start(db.sql, world, dispatchId, now)
    await record(world, delivered(await uuidsOf(world, dispatchId), now), now)
  }
  expect(await accountOf(world)).toMatchObject({ reserved: 0n, spent: { '2026-07': money('106') } })
})

test('a scaled price depends on the order of delivery, not on the order in the batch', async () => {
  const world = await aWorld(db.sql)
  const scaled = {
    senderType: 'COMMON',
    brand: 'MTS',
    pricingModel: 'SCALED',
    steps: [
      { from: 1, price: '3' },
      { from: 3, price: '2' },
      { from: 4, price: '1' },
    ],
  }
  await importTariffs(db.sql, world.partner.login, [scaled])
  const dispatchId = await aDispatch(db.sql, numbering, world, people(4))
  await start(db.sql, world, dispatchId, JULY)
  const uuids = await uuidsOf(world, dispatchId)
  const at = (minute: number) => new Date(JULY.getTime() + minute * 60_000)

  await record(
    world,
    [3, 0, 2, 1].map(i => ({ uuid: uuids[i]!, final: { status: 'DELIVERED', at: at(10 - i) } })),
  )

  const prices = await db.sql<{ price: Money }[]>`
    select final_price as price from messages where company_id = ${world.companyId} order by dispatch_position`
  expect(prices.map(({ price }) => price)).toEqual([money('1'), money('2'), money('3'), money('3')])
  expect((await accountOf(world)).balance).toBe(money('-9'))
  await lookAtBooks(world)
})

test('recipients of all brands, refused ones among them, leave the books in order', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, [...someRecipients(40), { destination: '12' }])
  await start(db.sql, world, dispatchId, JULY)
  await lookAtBooks(world)
  await record(world, delivered(await uuidsOf(world, dispatchId)))
  await lookAtBooks(world)
})
