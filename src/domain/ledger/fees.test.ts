import { expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner, aSender } from '../../testing/factories.ts'
import { billingZone } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { senderFeeTable } from '../pricing/pricing.ts'
import { advanceDueSenders, approveSender, denySender } from '../senders/moderation.ts'
import { updateSender } from '../senders/senders.ts'
import { chargeDueFees } from './fees.ts'

const db = useDatabase()

const JULY_5 = new Date('2026-07-05T12:00:00Z')

async function aPaidName(given: { approvedAt?: Date; commonType?: 'PROMO' | 'COMMON'; budget?: string } = {}) {
  const companyId = await aCompany(db.sql, await aPartner(db.sql), {
    budget: given.budget ? money(given.budget) : null,
  })
  const sender = await aSender(db.sql, companyId, { commonType: given.commonType ?? 'PROMO', brand: 'MTS' })
  await approveSender(db.sql, sender.senderId, await senderFeeTable(db.sql), given.approvedAt ?? JULY_5)
  return { companyId, senderId: sender.senderId, sender }
}

const charge = (now: Date) => chargeDueFees(db.sql, { billingZone, now })

const feesOf = async (companyId: number) => {
  const rows = await db.sql<{ month: string; amount: bigint }[]>`
    select month::text, amount from ledger_entries where company_id = ${companyId} and kind = 'SENDER_FEE' order by month`
  return rows.map(({ month, amount }) => [month.slice(0, 7), amount])
}

const FEE = money('2500.00')

test('a paid name is charged when it is approved, once, however many engines look', async () => {
  const { companyId } = await aPaidName()

  const charged = await Promise.all(Array.from({ length: 8 }, () => charge(JULY_5)))
  await charge(new Date('2026-07-31T20:59:59Z'))

  expect(charged.reduce((sum, count) => sum + count)).toBe(1)
  expect(await feesOf(companyId)).toEqual([['2026-07', FEE]])
  const [account] = await db.sql`
    select balance, reserved, spent from accounts join account_months using (company_id) where company_id = ${companyId}`
  expect(account).toEqual({ balance: -FEE, reserved: 0n, spent: FEE })
  expect(await verifyLedger(db.sql, { companyId })).toEqual([])
})

test('on the 1st, in the billing zone, the next month is charged', async () => {
  const { companyId } = await aPaidName()

  await charge(new Date('2026-07-31T20:59:59Z')) // 23:59:59 in Moscow
  expect(await feesOf(companyId)).toEqual([['2026-07', FEE]])
  await charge(new Date('2026-07-31T21:00:00Z'))
  expect(await feesOf(companyId)).toEqual([
    ['2026-07', FEE],
    ['2026-08', FEE],
  ])
})

test('the budget does not refuse a fee', async () => {
  const { companyId } = await aPaidName({ budget: '10.00' })
  await charge(JULY_5)
  expect(await feesOf(companyId)).toEqual([['2026-07', FEE]])
})

test('a name without a fee owes nothing', async () => {
  const { companyId } = await aPaidName({ commonType: 'COMMON' })
  await charge(JULY_5)
  expect(await feesOf(companyId)).toEqual([])
})

test('a name that is denied owes nothing further', async () => {
  const { companyId, senderId } = await aPaidName()
  await charge(JULY_5)
  await denySender(db.sql, senderId, undefined, new Date('2026-07-31T20:00:00Z'))

  await charge(new Date('2026-08-01T12:00:00Z'))

  expect(await feesOf(companyId)).toEqual([['2026-07', FEE]])
})

test('a name that was approved when the month began owes it, even if it ended before anyone looked', async () => {
  const { companyId, senderId } = await aPaidName()
  await charge(JULY_5)
  await denySender(db.sql, senderId, undefined, new Date('2026-08-02T12:00:00Z'))

  await charge(new Date('2026-08-04T12:00:00Z'))

  expect((await feesOf(companyId)).map(([month]) => month)).toEqual(['2026-07', '2026-08'])
})

test('a name whose last day was in the month before owes nothing, however late the clock closes it', async () => {
  const { companyId, sender } = await aPaidName()
  await updateSender(db.sql, sender, { validTo: new Date('2026-07-20T00:00:00Z') }, JULY_5)
  await charge(JULY_5)

  const late = new Date('2026-08-05T12:00:00Z')
  await charge(late)
  await advanceDueSenders(db.sql, 'manual', () => null, late)
  await charge(late)

  expect(await feesOf(companyId)).toEqual([['2026-07', FEE]])
})

test('a name approved in the last second of a month owes that month and the next', async () => {
  const { companyId } = await aPaidName({ approvedAt: new Date('2026-07-31T20:59:59Z') })
  await charge(new Date('2026-07-31T21:00:02Z'))
  expect((await feesOf(companyId)).map(([month]) => month)).toEqual(['2026-07', '2026-08'])
})

test('a name approved in a month owes nothing for the month before', async () => {
  const { companyId } = await aPaidName({ approvedAt: new Date('2026-08-01T01:00:00Z') })
  await charge(new Date('2026-08-01T01:00:02Z'))
  expect((await feesOf(companyId)).map(([month]) => month)).toEqual(['2026-08'])
})

test('after a long time without an engine the current month is charged and past months are not', async () => {
  const { companyId } = await aPaidName()
  await charge(JULY_5)
  await charge(new Date('2026-10-17T12:00:00Z'))
  expect((await feesOf(companyId)).map(([month]) => month)).toEqual(['2026-07', '2026-10'])
})
