import { beforeAll, expect, test } from 'vitest'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, billingZone, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { useErasureSecret } from '../blacklist/erased.ts'
import { detachMonth } from '../messages/months.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { rebuildTraffic, verifyTraffic } from '../statistics/verify.ts'
import { eraseNumber, planErasure } from './erasure.ts'

const db = useDatabase()
const NUMBER = '79260001001'
const OTHERS = ['79260001002', '79260001003', '79160001001']
const when = { billingZone, now: new Date() }
let numbering: Numbering

beforeAll(async () => {
  useErasureSecret('a secret of the tests, long enough')
  numbering = await loadNumbering(db.sql)
})

/** A company that pays for unique recipients. */
async function aWorldWithRecipients(): Promise<World> {
  const world = await aWorld(db.sql)
  const steps = [
    { from: 1, price: '1', priceMauBatch: '10' },
    { from: 3, price: '1', priceMauBatch: '50' },
  ]
  await importTariffs(db.sql, world.partner.login, [
    { senderType: 'COMMON', brand: 'MEGAFON', pricingModel: 'MAU', steps },
  ])
  return world
}

const dispatchTo = (world: World, numbers: string[]) =>
  aDispatch(
    db.sql,
    numbering,
    world,
    numbers.map(destination => ({ destination })),
    { text: 'Hello Vera' },
  )

async function deliver(world: World, dispatchId: number) {
  const messages = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId} and status = 'CREATED'`
  const final = { status: 'DELIVERED' as const, at: when.now }
  const reports = messages.map(({ uuid }) => ({ uuid, sentAt: when.now, final }))
  await recordStatusReports(db.sql, world.companyId, reports, when)
}

async function delivered(world: World, numbers: string[]): Promise<number> {
  const dispatchId = await dispatchTo(world, numbers)
  await start(db.sql, world, dispatchId)
  await deliver(world, dispatchId)
  return dispatchId
}

/** As if the dispatches had been accepted three months ago. The month is detached. */
async function detachWith(dispatchIds: number[]) {
  const former = new Date(Date.UTC(when.now.getUTCFullYear(), when.now.getUTCMonth() - 3, 15))
  await db.sql`select ensure_message_month(${former}::date)`
  await db.sql`
    update messages set message_uuid =
      overlay(message_uuid::text placing left(uuid7_floor(${former})::text, 13) from 1)::uuid
    where dispatch_id = any(${dispatchIds}::bigint[])`
  await db.sql`
    update dispatches d set status = 'COMPLETED', (first_uuid, last_uuid) = (
      select min(message_uuid::text)::uuid, max(message_uuid::text)::uuid from messages m where m.company_id = d.company_id and m.dispatch_id = d.dispatch_id)
    where dispatch_id = any(${dispatchIds}::bigint[])`
  await rebuildTraffic(db.sql)
  expect((await detachMonth(db.sql, former.toISOString().slice(0, 7), when.now)).kind).toBe('detached')
}

/** The money and the counters, without the numbers. */
const books = () => db.sql`
  select (select json_agg(a order by company_id) from accounts a) as accounts,
    (select json_agg(m order by company_id, month) from account_months m) as months,
    (select json_agg(h order by company_id, hour, channel_type, brand_id, traffic_type) from traffic_hours h) as traffic,
    (select json_agg(s) from (
      select company_id, dispatch_id, status, count(*), sum(price), sum(final_price) from messages
      group by 1, 2, 3 order by 1, 2, 3) s) as messages`

const erase = (pool: Pool = db.sql, record = async () => {}) => eraseNumber(pool, NUMBER, { ...when, record })

/** A database that is lost at one of the changes of the erasure, after the plan was recorded. */
function eraseUntilLost(statements: number) {
  let left = Number.POSITIVE_INFINITY
  const counted = <T extends object>(sql: T): T =>
    new Proxy(sql, {
      get(target, name) {
        if (name === 'unsafe') {
          return (text: string, values: string[]) => {
            if (!/^(select|\()/.test(text) && left-- <= 0) throw new Error('lost')
            return (target as unknown as Pool).unsafe(text, values)
          }
        }
        if (name === 'begin')
          return (work: (tx: object) => unknown) => (target as unknown as Pool).begin(tx => work(counted(tx)) as never)
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
      apply: (target, self, given) => Reflect.apply(target as never, self, given),
    })
  return erase(counted(db.sql), async () => {
    left = statements
  })
}

test('the money and the statistics stay exact, also after an erasure that was interrupted anywhere', async () => {
  const [first, second] = [await aWorldWithRecipients(), await aWorldWithRecipients()]
  await detachWith([await delivered(first, [NUMBER, OTHERS[0]!]), await delivered(second, [NUMBER])])
  for (const world of [first, second]) await delivered(world, [NUMBER, NUMBER, ...OTHERS])
  expect(await verifyLedger(db.sql)).toEqual([])
  expect(await verifyTraffic(db.sql)).toEqual([])
  const before = await books()
  const { naming } = await planErasure(db.sql, NUMBER)
  expect(naming.map(({ table }) => table)).toEqual(expect.arrayContaining(['closed_recipients', 'tariff_recipients']))

  let crashes = 0
  for (let statements = 0; ; statements += 2) {
    const result = await eraseUntilLost(statements).catch((error: Error) => error.message)
    expect(await verifyLedger(db.sql)).toEqual([])
    if (result !== 'lost') break
    crashes += 1
  }
  expect(crashes).toBeGreaterThan(6)
  expect((await planErasure(db.sql, NUMBER)).naming).toEqual([])
  expect(await books()).toEqual(before)
  expect(await verifyTraffic(db.sql)).toEqual([])
  const shown = await db.sql`select distinct text from messages where destination like 'erased-%'`
  expect(shown).toEqual([{ text: '[removed]' }])

  // The number may be written to again: it counts as a new recipient, and can be erased again.
  await delivered(first, [NUMBER])
  expect(await verifyLedger(db.sql)).toEqual([])
  expect((await erase()).objections).toEqual([])
  expect(await verifyLedger(db.sql)).toEqual([])
  expect((await planErasure(db.sql, NUMBER)).naming).toEqual([])
})

test('messages that no operator has are stopped first, without a price', async () => {
  const world = await aWorldWithRecipients()
  await dispatchTo(world, [NUMBER, ...OTHERS]) // never started
  await start(db.sql, world, await dispatchTo(world, [NUMBER, ...OTHERS]))
  const stopped = await dispatchTo(world, [NUMBER, ...OTHERS])
  await start(db.sql, world, stopped)
  await stop(db.sql, world, stopped)

  expect((await erase()).objections).toEqual([])
  const [row] = await db.sql`
    select count(*)::int as count, sum(final_price) as price from messages
    where company_id = ${world.companyId} and status = 'FAILED' and destination like 'erased-%'`
  expect(row).toEqual({ count: 3, price: 0n })
  expect(await verifyLedger(db.sql)).toEqual([])
  expect(await verifyTraffic(db.sql)).toEqual([])
})
