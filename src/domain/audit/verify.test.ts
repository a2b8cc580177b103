import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { anApprovedSender, aSender } from '../../testing/factories.ts'
import { runnableLanes } from '../../testing/lanes.ts'
import { aDispatch, aWorld, billingZone, start, stop, type World } from '../../testing/world.ts'
import { takeChunk } from '../lanes/lanes.ts'
import { chargeDueFees } from '../ledger/fees.ts'
import { correctBalance, topUp } from '../ledger/ledger.ts'
import { brandIds } from '../numbering/brand.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { approveSender } from '../senders/moderation.ts'
import { type Difference, verifyLedger } from './verify.ts'

const db = useDatabase()
let numbering: Numbering

const now = new Date('2026-07-20T12:00:00Z')
const when = { billingZone, now }

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

type Books = World & { done: number; started: number; stopped: number; scaled: number; mau: number }

/**
 * A company with a top-up, a correction, a fee, and messages that are delivered, failed, sent, leased and not yet sent.
 */
async function someBooks(): Promise<Books> {
  const world = await aWorld(db.sql)
  const steps = [
    { from: 1, price: '2' },
    { from: 2, price: '1' },
  ]
  await importTariffs(db.sql, world.partner.login, [
    { senderType: 'COMMON', brand: 'BEELINE', pricingModel: 'SCALED', steps },
    {
      senderType: 'COMMON',
      brand: 'MEGAFON',
      pricingModel: 'MAU',
      steps: [
        { from: 1, price: '1', priceMauBatch: '10' },
        { from: 5, price: '1', priceMauBatch: '50' },
      ],
    },
  ])
  const paid = await aSender(db.sql, world.companyId, { commonType: 'PROMO' })
  await approveSender(db.sql, paid.senderId, () => money('25'), now)
  await chargeDueFees(db.sql, when)
  await topUp(db.sql, world.companyId, { amount: money('1000') }, when)
  await db.sql.begin(tx => correctBalance(tx, world.companyId, { amount: money('-100'), reason: 'Wrong' }, when))

  const dispatch = (...people: number[]) => aDispatch(db.sql, numbering, world, people.flatMap(numbersOf))
  const [done, started, stopped] = [await dispatch(1, 2), await dispatch(3, 4, 5, 6, 8), await dispatch(7)]
  await start(db.sql, world, stopped, now)
  const lanes = await runnableLanes(db.sql, new Date())
  const lane = lanes.find(({ companyId, brandId }) => companyId === world.companyId && brandId === brandIds.MTS)
  await takeChunk(db.sql, lane!, 1, randomUUID())
  await stop(db.sql, world, stopped, now)
  for (const dispatchId of [done, started]) await start(db.sql, world, dispatchId, now)
  await tell(world, await uuidsOf(world, done), 'DELIVERED')
  await tell(world, (await uuidsOf(world, started)).slice(0, 4), undefined)
  await tell(world, (await uuidsOf(world, started)).slice(4, 5), 'FAILED')
  const tariffs = await db.sql<{ tariffId: number }[]>`
    select tariff_id from tariffs where partner_id = ${world.partner.partnerId} order by tariff_id`
  return { ...world, done, started, stopped, scaled: tariffs[0]!.tariffId, mau: tariffs[1]!.tariffId }
}

/** A number of each of three operators. A message to them costs 7.50, at most 2.00, and 1.00. */
const numbersOf = (person: number) =>
  ['7916', '7903', '7926'].map(code => ({ destination: `${code}000${1000 + person}` }))

const uuidsOf = async ({ companyId }: World, dispatchId: number) =>
  (
    await db.sql<{ uuid: string }[]>`
      select message_uuid as uuid from messages where company_id = ${companyId} and dispatch_id = ${dispatchId} order by dispatch_position`
  ).map(({ uuid }) => uuid)

const tell = ({ companyId }: World, uuids: string[], status: 'DELIVERED' | 'FAILED' | undefined) =>
  recordStatusReports(
    db.sql,
    companyId,
    uuids.map(uuid => ({ uuid, sentAt: now, ...(status ? { final: { status, at: now } } : {}) })),
    when,
  )

const differencesOf = async ({ companyId }: World) =>
  (await verifyLedger(db.sql, { companyId })).map(({ companyId: _, ...difference }) => difference)

test('a correct ledger has no differences, for one company and for all', async () => {
  const books = await someBooks()
  await anApprovedSender(db.sql, books.companyId)
  expect(await verifyLedger(db.sql, { companyId: books.companyId })).toEqual([])
  expect(await verifyLedger(db.sql)).toEqual([])
})

type Tampering = [string, (books: Books) => Promise<unknown>, (books: Books) => Omit<Difference, 'companyId'>[]]

/** Ledger lines and shares are sums of the entries, so a wrong entry differs from both. */
const offInLinesAndShares = (of: string, expected: string, found: string) =>
  ['lines of the ledger', 'charged by channel, operator and tariff'].map(what => ({ what, of, expected, found }))

const checks = ['spent', 'lines of the ledger', 'charged by channel, operator and tariff', 'charged for packages']
const inOrderOfChecks = (a: { what: string }, b: { what: string }) => checks.indexOf(a.what) - checks.indexOf(b.what)

const tamperings: Tampering[] = [
  [
    'a balance',
    ({ companyId }) => db.sql`update accounts set balance = balance + 0.0001 where company_id = ${companyId}`,
    () => [{ what: 'balance', of: null, expected: '845.0000', found: '845.0001' }],
  ],
  [
    'a reservation',
    ({ companyId }) => db.sql`update accounts set reserved = reserved - 1 where company_id = ${companyId}`,
    () => [{ what: 'reserved', of: null, expected: '108.0000', found: '107.0000' }],
  ],
  [
    'the spent amount of a month',
    ({ companyId }) => db.sql`update account_months set spent = spent + 3 where company_id = ${companyId}`,
    () => [{ what: 'spent', of: 'month 2026-07', expected: '55.0000', found: '58.0000' }],
  ],
  [
    'the month of an entry',
    ({ companyId }) => db.sql`
      update ledger_entries set month = '2026-06-01' where company_id = ${companyId} and kind = 'SENDER_FEE'`,
    () =>
      [
        { what: 'spent', of: 'month 2026-06', expected: '25.0000', found: '0' },
        { what: 'spent', of: 'month 2026-07', expected: '30.0000', found: '55.0000' },
        ...offInLinesAndShares('SENDER_FEE, month 2026-06', '25.0000', '0'),
        ...offInLinesAndShares('SENDER_FEE, month 2026-07', '0', '25.0000'),
      ].sort(inOrderOfChecks),
  ],
  [
    'a final price',
    ({ companyId, done }) => db.sql`
      update messages set final_price = final_price - 0.5
      where company_id = ${companyId} and dispatch_id = ${done} and dispatch_position = 0`,
    ({ done }) => [{ what: 'charged for messages', of: `dispatch ${done}`, expected: '19.5000', found: '20.0000' }],
  ],
  [
    'a missing final price',
    ({ companyId, started }) => db.sql`
      update messages set final_price = null
      where company_id = ${companyId} and dispatch_id = ${started} and status = 'FAILED'`,
    ({ started }) => [
      { what: 'messages without a right final price', of: `dispatch ${started}`, expected: '0', found: '1' },
    ],
  ],
  [
    'a deleted entry',
    ({ companyId }) => db.sql`
      with gone as (delete from ledger_entries where company_id = ${companyId} and kind = 'MESSAGES' returning amount),
      month as (update account_months set spent = spent - (select sum(amount) from gone) where company_id = ${companyId})
      update accounts set balance = balance + (select sum(amount) from gone) where company_id = ${companyId}`,
    ({ done }) => [
      { what: 'charged for messages', of: `dispatch ${done}`, expected: '20.0000', found: '0' },
      ...offInLinesAndShares('MESSAGES, month 2026-07', '0', '20.0000'),
    ],
  ],
  [
    'the price that a dispatch would reserve',
    ({ companyId, started }) => db.sql`
      update dispatches set created_price = 0 where company_id = ${companyId} and dispatch_id = ${started}`,
    ({ started }) => [
      { what: 'price of CREATED messages', of: `dispatch ${started}`, expected: '32.5000', found: '0.0000' },
    ],
  ],
  [
    'a counter',
    ({ companyId, done }) => db.sql`
      update dispatch_blocks set delivered_messages = 7 where company_id = ${companyId} and dispatch_id = ${done}`,
    ({ done }) => [{ what: 'counter', of: `dispatch ${done}, block 0, delivered messages`, expected: '6', found: '7' }],
  ],
  [
    'counted parts',
    ({ companyId, started }) => db.sql`
      update dispatch_blocks set sent_parts = 0 where company_id = ${companyId} and dispatch_id = ${started}`,
    ({ started }) => [{ what: 'counter', of: `dispatch ${started}, block 0, sent parts`, expected: '4', found: '0' }],
  ],
  [
    'the counter of messages that no operator received',
    ({ companyId, started }) => db.sql`
      update dispatch_blocks set unsent_messages = 1 where company_id = ${companyId} and dispatch_id = ${started}`,
    ({ started }) => [
      { what: 'counter', of: `dispatch ${started}, block 0, unsent messages`, expected: '0', found: '1' },
    ],
  ],
  [
    'the status of a dispatch',
    ({ companyId, started }) => db.sql`
      update dispatches set status = 'COMPLETED' where company_id = ${companyId} and dispatch_id = ${started}`,
    ({ started }) => [
      { what: 'reserved', of: null, expected: '75.5000', found: '108.0000' },
      { what: 'pending messages of a COMPLETED dispatch', of: `dispatch ${started}`, expected: '0', found: '14' },
      {
        what: 'held for packages by a dispatch that is not STARTED',
        of: `dispatch ${started}`,
        expected: '0',
        found: '50.0000',
      },
    ],
  ],
  [
    'a deleted lease with reserved messages',
    ({ companyId }) => db.sql`delete from leases where company_id = ${companyId}`,
    () => [{ what: 'reserved', of: null, expected: '100.5000', found: '108.0000' }],
  ],
  [
    'a deleted reservation for a package',
    ({ companyId }) => db.sql`delete from package_holds where company_id = ${companyId}`,
    () => [{ what: 'reserved', of: null, expected: '58.0000', found: '108.0000' }],
  ],
  [
    'the count of a scaled tariff',
    ({ companyId, scaled }) => db.sql`
      update tariff_usage set delivered = 5 where company_id = ${companyId} and tariff_id = ${scaled}`,
    ({ scaled }) => [{ what: 'delivered of a tariff', of: `tariff ${scaled}`, expected: '2', found: '5' }],
  ],
  [
    'the count of unique recipients',
    ({ companyId, mau }) => db.sql`
      update tariff_usage set recipients = 3 where company_id = ${companyId} and tariff_id = ${mau}`,
    ({ mau }) => [
      { what: 'unique recipients of a tariff', of: `tariff ${mau}, month 2026-07`, expected: '2', found: '3' },
    ],
  ],
  [
    'a unique recipient',
    ({ companyId }) => db.sql`
      update tariff_recipients set destination = '79260009999'
      where company_id = ${companyId} and destination = '79260001001'`,
    ({ mau }) => [
      { what: 'recipients not noted, or noted and not reached', of: `tariff ${mau}`, expected: '0', found: '2' },
    ],
  ],
  [
    'a package that was not charged',
    ({ companyId }) => db.sql`
      update ledger_entries set kind = 'SENDER_FEE' where company_id = ${companyId} and kind = 'MAU_PACKAGE'`,
    ({ mau }) =>
      [
        ...offInLinesAndShares('MAU_PACKAGE, month 2026-07', '0', '10.0000'),
        ...offInLinesAndShares('SENDER_FEE, month 2026-07', '35.0000', '25.0000'),
        { what: 'charged for packages', of: `tariff ${mau}, month 2026-07`, expected: '10.0000', found: '0' },
      ].sort(inOrderOfChecks),
  ],
  [
    'a line of the ledger',
    ({ companyId }) => db.sql`
      update ledger_lines set amount = amount + 1 where company_id = ${companyId} and kind = 'TOPUP'`,
    () => [{ what: 'lines of the ledger', of: 'TOPUP, month 2026-07', expected: '1000.0000', found: '1001.0000' }],
  ],
  [
    'a share of the charges',
    ({ companyId }) => db.sql`
      update charge_days set amount = amount + 1 where company_id = ${companyId} and kind = 'SENDER_FEE'`,
    () => [
      {
        what: 'charged by channel, operator and tariff',
        of: 'SENDER_FEE, month 2026-07',
        expected: '25.0000',
        found: '26.0000',
      },
    ],
  ],
  [
    'the top-ups of a month',
    ({ companyId }) => db.sql`update account_months set topped_up = 0 where company_id = ${companyId}`,
    () => [{ what: 'topped up', of: 'month 2026-07', expected: '1000.0000', found: '0.0000' }],
  ],
  [
    'the corrections of a month',
    ({ companyId }) => db.sql`update account_months set corrected = 1 where company_id = ${companyId}`,
    () => [{ what: 'corrected', of: 'month 2026-07', expected: '-100.0000', found: '1.0000' }],
  ],
]

test.each(tamperings)('verification finds a manual change: %s', async (_, tamper, differences) => {
  const books = await someBooks()
  await tamper(books)
  expect(await differencesOf(books)).toEqual(differences(books))
})

test('verification finds a fee that was charged twice', async () => {
  const books = await someBooks()
  const { companyId } = books
  await db.sql.begin(async sql => {
    await sql`alter index sender_fee_once_a_month rename to gone`
    await sql`drop index gone`
    await sql`
      insert into ledger_entries (company_id, kind, debit, credit, amount, currency, month, sender_id)
      select company_id, kind, debit, credit, amount, currency, month, sender_id from ledger_entries
      where company_id = ${companyId} and kind = 'SENDER_FEE'`
    await sql`update accounts set balance = balance - 25 where company_id = ${companyId}`
    await sql`update account_months set spent = spent + 25 where company_id = ${companyId}`
  })
  const [sender] = await db.sql<{ senderId: number }[]>`
    select sender_id from ledger_entries where company_id = ${companyId} and kind = 'SENDER_FEE'`
  const of = `sender ${sender!.senderId}, month 2026-07`
  expect(await differencesOf(books)).toEqual([
    ...offInLinesAndShares('SENDER_FEE, month 2026-07', '50.0000', '25.0000'),
    { what: 'fees of a sender charged more than once', of, expected: '0', found: '2' },
  ])
})
