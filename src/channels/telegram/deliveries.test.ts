import { expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { aFeed } from '../channel.contract.ts'
import { createDeliveries } from './deliveries.ts'

test('deliveries that nobody takes fill up, and are free again when they are taken', async () => {
  const feed = aFeed({ refuses: 1 })
  const deliveries = createDeliveries(feed)
  for (let n = 0; n < 19_999; n++) deliveries.add(`1:${n}`, new Date())
  expect(deliveries.isFull()).toBe(false)
  deliveries.add('1:19999', new Date())
  expect(deliveries.isFull()).toBe(true)
  await deliveries.stop()
  expect(deliveries.isFull()).toBe(false)
  expect(feed.taken.map(({ of }) => (of as { providerId: string }).providerId)).toEqual(
    Array.from({ length: 20_000 }, (_, n) => `1:${n}`),
  )
})

test('one that comes while others are being told is told as well', async () => {
  const feed = aFeed({ takesMs: 50 })
  const deliveries = createDeliveries(feed)
  deliveries.add('1:1', new Date())
  await eventually(() => expect(feed.taking()).toBe(1))
  deliveries.add('1:2', new Date())
  await deliveries.stop()
  expect(feed.taken).toHaveLength(2)
  deliveries.add('1:3', new Date())
  await deliveries.stop()
  expect(feed.taken).toHaveLength(3)
})
