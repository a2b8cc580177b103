import { expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Receipt } from '../channel.ts'
import { aListener } from './push-fixtures.ts'
import { createTeller } from './teller.ts'

const aReceipt = (n: number): Receipt => ({ of: { providerId: `${n}` }, status: 'DELIVERED', happenedAt: new Date() })

test('receipts go in batches of 2000, each once, in order', async () => {
  const feed = aListener()
  const teller = createTeller(feed)
  const receipts = Array.from({ length: 4500 }, (_, n) => aReceipt(n))
  for (const receipt of receipts) teller.tellReceipt(receipt)
  await teller.stop()
  expect(feed.toldReceipts.map(batch => batch.length)).toEqual([2000, 2000, 500])
  expect(feed.toldReceipts.flat()).toEqual(receipts)
})

test('it is full while too many wait, and not when they are told', async () => {
  const feed = aListener({ refusals: 1 })
  const teller = createTeller(feed)
  for (let n = 0; n < 20_000; n++) teller.tellReceipt(aReceipt(n))
  expect(teller.isFull()).toBe(true)
  await eventually(() => expect(teller.isFull()).toBe(false))
  await teller.stop()
  expect(feed.toldReceipts.flat()).toHaveLength(20_000)
})

test('an address that the feed does not take does not hold up receipts', async () => {
  const feed = { ...aListener(), gone: () => Promise.reject(new Error('never')) }
  const teller = createTeller(feed)
  teller.tellGone({ companyId: 1, channelType: 'PUSH', senderName: 'Camomile', address: 'app-1' })
  for (const n of [1, 2, 3]) {
    teller.tellReceipt(aReceipt(n))
    await eventually(() => expect(feed.toldReceipts.flat()).toHaveLength(n))
  }
  await teller.stop()
})
