import { beforeAll, describe, expect, test } from 'vitest'
import { isDatabaseAway } from '../../base/database-losses.ts'
import { money } from '../../base/money.ts'
import { uuid7 } from '../../base/uuid7.ts'
import { connect } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aDispatch, aWorld, billingZone, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { requireDispatch, requireDispatchProgress } from '../dispatches/reading.ts'
import { monthOf } from '../ledger/account.ts'
import { changeReserved } from '../ledger/ledger.ts'
import { statementOf } from '../ledger/statements.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { rebuildTraffic, verifyTraffic } from '../statistics/verify.ts'
import { pageOfMessages } from './messages.ts'
import { detachMonth, detachOldMonths, listMonths } from './months.ts'

const db = useDatabase()
const now = new Date()
const when = { billingZone, now }
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

const monthBack = (back: number) =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7)
const tableBack = (back: number) => `messages_${monthBack(back).replace('-', '_')}`

const detachBack = (back: number) => detachMonth(db.sql, monthBack(back), now)
const closedOf = (back: number) => db.sql`select from closed_months where month = ${`${monthBack(back)}-01`}`
const stateBack = async (back: number) =>
  (await listMonths(db.sql, now)).find(({ month }) => month === monthBack(back))?.state
const differencesOf = ({ companyId }: World) => verifyLedger(db.sql, { companyId })

type Books = World & { mau: number; dispatchId: number }

/** A world with a tariff of each kind. */
async function aPricedWorld(): Promise<World & { mau: number }> {
  const world = await aWorld(db.sql)
  const mauSteps = [
    { from: 1, price: '1', priceMauBatch: '10' },
    { from: 3, price: '1', priceMauBatch: '50' },
  ]
  const scaledSteps = [
    { from: 1, price: '2' },
    { from: 2, price: '1' },
  ]
  await importTariffs(db.sql, world.partner.login, [
    { senderType: 'COMMON', brand: 'BEELINE', pricingModel: 'SCALED', steps: scaledSteps },
    { senderType: 'COMMON', brand: 'MEGAFON', pricingModel: 'MAU', steps: mauSteps },
  ])
  const [mau] = await db.sql<{ tariffId: number }[]>`
    select tariff_id from tariffs
    where partner_id = ${world.partner.partnerId} and pricing_model = 'MAU'`
  return { ...world, mau: mau!.tariffId }
}

/** Books of two months past: a dispatch that lies in both, and single messages in the first; all of it is final. */
async function booksOf(first: number, second: number): Promise<Books> {
  const world = await aPricedWorld()
  const dispatchId = await aDispatchOf(world, first, second)
  await start(db.sql, world, dispatchId, now)
  const uuids = await uuidsOf(world, dispatchId)
  await tell(world, uuids.slice(2), 'DELIVERED')
  await tell(world, uuids.slice(0, 2), 'FAILED')
  await tell(world, [await aSingleOf(world, first), await aSingleOf(world, first)], 'DELIVERED')
  return { ...world, dispatchId }
}

/** Destinations of three operators and of an unknown one: one of four recipients is rejected. */
const recipients = [1, 2, 3, 4].flatMap(person =>
  ['7916', '7903', '7926', '7000'].map(code => ({ destination: `${code}000${1000 + person}` })),
)

/** As if the first half of it had been made in one month, the second in another. */
async function aDispatchOf(world: World, first: number, second: number): Promise<number> {
  const dispatchId = await aDispatch(db.sql, numbering, world, recipients)
  await aMonth(first)
  await aMonth(second)
  const back = db.sql`case when dispatch_position < ${recipients.length / 2} then ${first}::int else ${second}::int end`
  // To the middle of the month, which is the same month in every zone.
  await db.sql`
    update messages set message_uuid = overlay(message_uuid::text placing left(
      uuid7_floor(date_trunc('month', now()) + interval '14 days' - make_interval(months => ${back}))::text, 13) from 1)::uuid
    where company_id = ${world.companyId} and dispatch_id = ${dispatchId}`
  await db.sql`
    update dispatches d set (first_uuid, last_uuid) = (
      select min(message_uuid::text)::uuid, max(message_uuid::text)::uuid from messages m
      where m.company_id = d.company_id and m.dispatch_id = d.dispatch_id)
    where company_id = ${world.companyId} and dispatch_id = ${dispatchId}`
  return dispatchId
}

/** As if it had been accepted then. */
async function aSingleOf({ companyId, mau }: World & { mau: number }, back: number): Promise<string> {
  await aMonth(back)
  const uuid = uuid7(new Date(`${monthBack(back)}-15T12:00:00Z`))
  await db.sql`
    insert into messages (company_id, message_uuid, lane_id, seq, tariff_id, price, status, parts, brand_id, destination, text)
    values (${companyId}, ${uuid}, 0, 0, ${mau}, 1, 'CREATED', 1, 3, '79260001077', 'Code 4321')`
  await changeReserved(db.sql, companyId, money('1'))
  return uuid
}

const aMonth = (back: number) => db.sql`select ensure_message_month(${`${monthBack(back)}-01`}::date)`

const uuidsOf = async ({ companyId }: World, dispatchId: number) =>
  (
    await db.sql<{ uuid: string }[]>`
      select message_uuid as uuid from messages
      where company_id = ${companyId} and dispatch_id = ${dispatchId} and lane_id is not null order by dispatch_position`
  ).map(({ uuid }) => uuid)

const tell = ({ companyId }: World, uuids: string[], status: 'DELIVERED' | 'FAILED' | undefined) =>
  recordStatusReports(
    db.sql,
    companyId,
    uuids.map(uuid => ({ uuid, sentAt: now, ...(status ? { final: { status, at: now } } : {}) })),
    when,
  )

describe('a month that is detached', () => {
  test('leaves books that are as exact as before, which go on', async () => {
    const books = await booksOf(3, 2)
    expect(await verifyLedger(db.sql)).toEqual([])
    const accounts = () => db.sql`select * from accounts join account_months using (company_id)`
    const before = await accounts()
    const statement = () => statementOf(db.sql, books.companyId, monthOf(now, billingZone))
    const stated = await statement()
    expect([stated.spent > 0n, stated.withoutDetails]).toEqual([true, 0n])

    expect(await detachBack(3)).toEqual({
      month: monthBack(3),
      kind: 'detached',
      messages: recipients.length / 2 + 2,
      table: tableBack(3),
    })
    expect(await verifyLedger(db.sql)).toEqual([])
    expect(await differencesOf(books)).toEqual([])
    expect(await detachBack(2)).toMatchObject({ kind: 'detached', messages: recipients.length / 2 })
    expect(await verifyLedger(db.sql)).toEqual([])
    expect(await accounts()).toEqual(before)
    expect(await statement()).toEqual(stated)

    const next = await aDispatch(db.sql, numbering, books, recipients)
    await start(db.sql, books, next, now)
    await tell(books, await uuidsOf(books, next), 'DELIVERED')
    expect(await verifyLedger(db.sql)).toEqual([])
  })

  test('keeps its rolled-up traffic, which verifies as before and goes on', async () => {
    const books = await booksOf(66, 65)
    await rebuildTraffic(db.sql) // the messages were moved to their months by hand
    const { companyId } = books
    const traffic = () => db.sql`select * from traffic_hours where company_id = ${companyId} order by 2, 3, 4, 5`
    const before = await traffic()
    expect(before.length).toBeGreaterThan(3)
    for (const back of [66, 65]) {
      expect((await detachBack(back)).kind).toBe('detached')
      expect(await verifyTraffic(db.sql, { companyId })).toEqual([])
    }
    expect(await traffic()).toEqual(before)

    const next = await aDispatch(db.sql, numbering, books, recipients)
    await start(db.sql, books, next, now)
    await tell(books, await uuidsOf(books, next), 'DELIVERED')
    expect(await verifyTraffic(db.sql, { companyId })).toEqual([])
    await db.sql`update closed_traffic_hours set delivered = delivered + 1 where company_id = ${companyId}`
    expect(await verifyTraffic(db.sql, { companyId })).not.toEqual([])
  })

  test('takes its messages out of every answer, while the dispatch keeps its counters', async () => {
    const { partner, companyId, dispatchId } = await booksOf(6, 5)
    const progress = () => requireDispatchProgress(db.sql, partner, dispatchId)
    const pages = async () => {
      const home = await requireDispatch(db.sql, partner, dispatchId)
      const counted = [await pageOfMessages(db.sql, home, undefined, 1, 100)]
      for (const status of ['DELIVERED', 'FAILED'] as const)
        counted.push(await pageOfMessages(db.sql, home, status, 1, 100))
      return counted.map(({ total, items }) => [total, items.length])
    }
    const known = await progress()
    const [all, delivered, failed] = await pages()
    expect(all).toEqual([16, 16])

    await detachBack(6)
    expect(await progress()).toEqual(known)
    const half = await db.sql`select status from messages where company_id = ${companyId}`
    expect(half).toHaveLength(8)
    expect(await pages()).toEqual([
      [16, 8],
      [delivered![0], half.filter(({ status }) => status === 'DELIVERED').length],
      [failed![0], half.filter(({ status }) => status === 'FAILED').length],
    ])
  })

  test('stays as a table of its own', async () => {
    await booksOf(9, 8)
    const rows = () => db.sql`select * from messages where message_uuid < ${floorBack(8)} order by message_uuid`
    const kept = await rows()
    await detachBack(9)
    expect(await rows()).toEqual([])
    expect(await db.sql`select * from ${db.sql(tableBack(9))} order by message_uuid`).toEqual(kept)
  })

  test('hides no mistake that was in it', async () => {
    const books = await booksOf(12, 11)
    await db.sql`
      update messages set final_price = case when status = 'DELIVERED' then final_price - 0.5 end
      where company_id = ${books.companyId} and dispatch_id = ${books.dispatchId} and dispatch_position in (0, 2, 4, 5)`
    await db.sql`
      update messages set destination = '79269999999'
      where company_id = ${books.companyId} and dispatch_id = ${books.dispatchId} and dispatch_position = 6`
    const mistakes = await differencesOf(books)
    expect(mistakes.map(({ what }) => what)).toEqual([
      'charged for messages',
      'messages without a right final price',
      'recipients not noted, or noted and not reached',
    ])
    expect((await detachBack(12)).kind).toBe('detached')
    expect(await differencesOf(books)).toEqual(mistakes)
  })

  test.each<[string, number, (books: Books) => Promise<unknown>, string[]]>([
    [
      'an amount',
      15,
      ({ companyId }) => db.sql`
        update closed_months set final_price = final_price + 0.0001
        where company_id = ${companyId} and dispatch_id is null and status = 'DELIVERED'`,
      ['charged for messages'],
    ],
    [
      'a count',
      18,
      ({ companyId }) => db.sql`
        update closed_months set parts = parts + 1 where sum_id = (
          select min(sum_id) from closed_months where company_id = ${companyId} and dispatch_id is not null)`,
      ['counter'],
    ],
    [
      'a recipient',
      21,
      ({ companyId }) => db.sql`
        delete from closed_recipients where company_id = ${companyId} and destination = '79260001077'`,
      ['recipients not noted, or noted and not reached'],
    ],
  ])('has sums in which %s that was changed by hand is found', async (_, back, tamper, found) => {
    const books = await booksOf(back, back - 1)
    await detachBack(back)
    expect(await differencesOf(books)).toEqual([])
    await tamper(books)
    expect((await differencesOf(books)).map(({ what }) => what)).toEqual(found)
  })
})

const floorBack = (back: number) => db.sql`uuid7_floor(${`${monthBack(back)}-01`}::timestamptz)`

describe('refused, with the reason and without a trace, is', () => {
  const expectRefusal = async (month: string, reason: string) => {
    expect(await detachMonth(db.sql, month, now)).toEqual({ month, kind: 'refused', reason })
  }
  const expectNoTrace = async (back: number) => {
    expect(await closedOf(back)).toEqual([])
    const [table] = await db.sql`select relispartition from pg_class where relname = ${tableBack(back)}`
    expect(table).toEqual({ relispartition: true })
  }

  test('the current month, the last month, a future month, a missing month and a detached month', async () => {
    await aMonth(1)
    await aMonth(30)
    await expectRefusal(monthBack(0), 'it is the current month')
    await expectRefusal(monthBack(1), 'it is the last month, and some of its messages may not be final')
    await expectRefusal(monthBack(-1), 'it has not begun yet')
    await expectRefusal('1999-12', 'there is no such month')
    expect((await detachBack(30)).kind).toBe('detached')
    await expectRefusal(monthBack(30), 'it is detached already')
    await expectNoTrace(0)
    await expectNoTrace(1)
  })

  test('one with a dispatch that is not COMPLETED, until it is', async () => {
    const world = await aPricedWorld()
    const dispatchId = await aDispatchOf(world, 33, 32)
    const called = `dispatch ${dispatchId} of company ${world.companyId}`
    for (const [move, status] of [
      [() => {}, 'CREATED'],
      [() => start(db.sql, world, dispatchId, now), 'STARTED'],
      [() => stop(db.sql, world, dispatchId, now), 'STOPPED'],
    ] as const) {
      await move()
      for (const back of [33, 32]) {
        await expectRefusal(monthBack(back), `${called} is ${status}, not COMPLETED`)
        expect(await stateBack(back)).toBe('open')
      }
    }
    // All that is in the older month is final, and its dispatch is not.
    const uuids = await uuidsOf(world, dispatchId)
    await start(db.sql, world, dispatchId, now)
    await tell(world, uuids.slice(0, uuids.length / 2), 'DELIVERED')
    await expectRefusal(monthBack(33), `${called} is STARTED, not COMPLETED`)
    const other = await aDispatchOf(world, 33, 33)
    await expectRefusal(monthBack(33), `${called} is STARTED, not COMPLETED (and 1 more like it)`)
    await expectNoTrace(33)

    await start(db.sql, world, other, now)
    await tell(world, [...uuids, ...(await uuidsOf(world, other))], 'DELIVERED')
    expect((await detachBack(33)).kind).toBe('detached')
    expect(await differencesOf(world)).toEqual([])
  })

  test('one with a single message that is not final, until it is', async () => {
    const world = await aPricedWorld()
    const uuid = await aSingleOf(world, 36)
    await expectRefusal(monthBack(36), `message ${uuid} of company ${world.companyId} is CREATED, and not final`)
    await tell(world, [uuid], undefined)
    await expectRefusal(monthBack(36), `message ${uuid} of company ${world.companyId} is SENT, and not final`)
    expect(await stateBack(36)).toBe('open')
    await expectNoTrace(36)
    await tell(world, [uuid], 'FAILED')
    expect(await stateBack(36)).toBe('closable')
    expect((await detachBack(36)).kind).toBe('detached')
    expect(await differencesOf(world)).toEqual([])
  })

  test('one with a message that is not final though its dispatch is COMPLETED', async () => {
    const { companyId, dispatchId } = await booksOf(39, 38)
    await db.sql`
      update messages set status = 'SENT', final_price = null
      where company_id = ${companyId} and dispatch_id = ${dispatchId} and dispatch_position = 4`
    await expectRefusal(
      monthBack(39),
      `1 of the messages of dispatch ${dispatchId} of company ${companyId} are not final`,
    )
    await expectNoTrace(39)
  })

  test('one while a long statement reads the messages', async () => {
    const books = await booksOf(42, 41)
    const outcome = await whileRead(() => detachBack(42))
    expect(outcome).toMatchObject({
      reason: expect.stringMatching(/^a long transaction, such as a backup or a verification, uses the messages/),
    })
    await expectNoTrace(42)
    expect(await differencesOf(books)).toEqual([])
    expect((await detachBack(42)).kind).toBe('detached')
  })
})

/** Runs the work while another transaction reads messages. */
const whileRead = <T>(work: () => Promise<T>) =>
  db.sql.begin(async sql => {
    await sql`select from messages limit 1`
    return work()
  })

const waiting = () => db.sql<{ pid: number }[]>`
  select pid from pg_locks
  where relation = 'messages'::regclass and mode = 'AccessExclusiveLock' and not granted
    and database = (select oid from pg_database where datname = current_database())`

test('a crash during the detachment changes nothing', async () => {
  const books = await booksOf(45, 44)
  const doomed = connect(db.url, { max: 1 })
  const end = await whileRead(async () => {
    const lost = detachMonth(doomed, monthBack(45), now).catch(error => error)
    await eventually(async () => {
      const [row] = await waiting()
      expect(row).toBeDefined()
      await db.sql`select pg_terminate_backend(${row!.pid}::int)`
    })
    return lost
  })
  expect(isDatabaseAway(end)).toBe(true)
  await doomed.end({ timeout: 0 })
  expect(await closedOf(45)).toEqual([])
  expect(await stateBack(45)).toBe('closable')
  expect(await differencesOf(books)).toEqual([])
})

test('readers that come and go are waited for', async () => {
  const books = await booksOf(48, 47)
  const detaching = await whileRead(async () => {
    const outcome = detachBack(48)
    await eventually(async () => expect(await waiting()).toHaveLength(1))
    return { outcome }
  })
  expect((await detaching.outcome).kind).toBe('detached')
  expect(await differencesOf(books)).toEqual([])
})

test('of several concurrent detachments of a month only one succeeds', async () => {
  const books = await booksOf(51, 50)
  const outcomes = await Promise.all([1, 2, 3].map(() => detachBack(51)))
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['detached', 'refused', 'refused'])
  expect(await differencesOf(books)).toEqual([])
})

test('the books are in order at every moment of it', async () => {
  const books = await booksOf(54, 53)
  let detached = false
  const verify = async () => {
    const seen = []
    do seen.push(...(await differencesOf(books)))
    while (!detached)
    return seen
  }
  const verifying = [verify(), verify(), verify()]
  expect((await detachBack(54)).kind).toBe('detached')
  expect((await detachBack(53)).kind).toBe('detached')
  detached = true
  expect((await Promise.all(verifying)).flat()).toEqual([])
})

test('the list shows for each month its messages and whether it can be detached', async () => {
  const books = await booksOf(57, 56)
  await detachBack(57)
  await db.sql`drop table ${db.sql(tableBack(57))}`
  const of = async (back: number) => (await listMonths(db.sql, now)).find(({ month }) => month === monthBack(back))
  expect(await of(57)).toEqual({ month: monthBack(57), state: 'detached', messages: 10, sizeBytes: null, reason: null })
  const size = expect.any(Number)
  expect(await of(56)).toEqual({ month: monthBack(56), state: 'closable', messages: 8, sizeBytes: size, reason: null })
  expect(await of(0)).toMatchObject({ state: 'open', sizeBytes: size, reason: 'it is the current month' })
  expect(await of(-3)).toMatchObject({ state: 'open', messages: 0, reason: 'it has not begun yet' })
  const months = (await listMonths(db.sql, now)).map(({ month }) => month)
  expect(months).toEqual([...months].sort())
  expect(await differencesOf(books)).toEqual([])
})

test('old months are detached automatically, the oldest first, except months that cannot be detached', async () => {
  const world = await aPricedWorld()
  await booksOf(62, 61)
  await aSingleOf(world, 60)
  await aMonth(59)
  const detached = await detachOldMonths(db.sql, 60, now)
  expect(detached.map(({ month, kind }) => [month, kind])).toEqual([
    [monthBack(62), 'detached'],
    [monthBack(61), 'detached'],
    [monthBack(60), 'refused'],
  ])
  expect(await stateBack(59)).toBe('closable')
  expect((await detachOldMonths(db.sql, 60, now)).map(({ month }) => month)).toEqual([monthBack(60)])
})
