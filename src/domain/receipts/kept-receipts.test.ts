import { beforeEach, expect, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { PATIENT, useDatabase } from '../../testing/database.ts'
import { addToReceiptInbox, claimReceiptInbox, deleteFromReceiptInbox, forgetOldReceipts } from './receipts.ts'

const db = useDatabase()

beforeEach(async () => {
  await db.sql`delete from receipt_inbox`
})

const receipts = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    providerId: `id ${i}`,
    status: 'DELIVERED' as const,
    errorCode: null,
    operatorError: null,
    happenedAt: new Date(),
  }))

const left = async () => (await db.sql`select receipt_id from receipt_inbox`).length

test('an engine skips receipts of the inbox that another engine has locked', async () => {
  await addToReceiptInbox(db.sql, 1, receipts(10))
  const other = connect(db.url, { max: 1, ...PATIENT })
  await other.begin(async sql => {
    await sql`select from receipt_inbox where provider_id in ('id 3', 'id 4') for update`
    expect(await claimReceiptInbox(db.sql, 100)).toHaveLength(8)
  })
  expect((await claimReceiptInbox(db.sql, 100)).map(({ providerId }) => providerId).sort()).toEqual(['id 3', 'id 4'])
  await other.end({ timeout: 1 })
})

test('engines that claim and delete the same receipts of the inbox in any order never deadlock', async () => {
  await addToReceiptInbox(db.sql, 1, receipts(2000))
  const ids = (await db.sql<{ id: number }[]>`select receipt_id as id from receipt_inbox`).map(({ id }) => id)
  const work = Array.from({ length: 8 }, async (_, engine) => {
    await claimReceiptInbox(db.sql, 500)
    const mine = ids.slice(engine * 100, 1000 + engine * 100)
    await deleteFromReceiptInbox(db.sql, engine % 2 ? mine : mine.toReversed())
  })
  await Promise.all(work)
  expect(await left()).toBe(300)
})

test('receipts that never matched a message are deleted after two days, in any number', async () => {
  await addToReceiptInbox(db.sql, 1, receipts(2500))
  await db.sql`update receipt_inbox set received_at = now() - interval '49 hours' where provider_id <> 'id 7'`
  await forgetOldReceipts(db.sql)
  expect(await db.sql`select provider_id as id from receipt_inbox`).toEqual([{ id: 'id 7' }])
})
