import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import {
  aListener,
  aPush,
  sendAll,
  sendOne,
  startBrowsers,
  vapidSettings,
} from '../../testing/providers/push-fixtures.ts'
import type { FakeAnswer, FakePushOptions } from '../../testing/providers/push-service.ts'
import { createPush } from './push.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

async function aWorld(options: Partial<FakePushOptions> = {}, raw: Record<string, unknown> = {}) {
  const service = await startBrowsers(options)
  const feed = aListener()
  const channel = createPush({ ...vapidSettings, allowInsecure: true, ...raw }, feed)
  atEnd.push(
    () => channel.stop(),
    () => service.stop(),
  )
  return { service, feed, channel }
}

const content = {
  contentType: 'push' as const,
  title: 'Camomile & co.',
  text: 'Ваш заказ готов',
  url: 'https://camomile.example/orders/7',
  image: 'https://camomile.example/7.png',
  data: { order: 7, paid: true },
}

test('the browser gets the content of the message, and its push service finds no error', async () => {
  const { service, channel } = await aWorld()
  const { address, endpoint } = await service.subscribe()
  const message = aPush([address], { content })
  await sendOne(channel, message)

  const { contentType: _, ...shown } = content
  expect(service.problems).toEqual([])
  expect(service.deliveries).toEqual([
    {
      endpoint,
      payload: { ...shown, messageUuid: message.uuid },
      ttl: 90_000,
      urgency: 'normal',
      claims: { aud: service.origin, sub: vapidSettings.vapidSubject, exp: expect.any(Number) },
    },
  ])
})

test('a plain text, and content with null members, have the name of the application as their title', async () => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe()
  const empty = { contentType: 'push' as const, text: 'Hello', title: null, url: null, image: null, data: null }
  const batch = [aPush([address]), aPush([address], { content: empty })]
  for (const message of batch) await sendOne(channel, message)
  expect(service.deliveries.map(({ payload }) => payload)).toEqual([
    { title: 'Camomile', text: 'Your order is ready', messageUuid: batch[0]!.uuid },
    { title: 'Camomile', text: 'Hello', messageUuid: batch[1]!.uuid },
  ])
})

test('the push service gets the lifetime of the message', async () => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe()
  const inMs = (ms: number) => new Date(Date.now() + ms)
  for (const expiresAt of [inMs(600_500), inMs(-5000), inMs(90 * 86_400_000)])
    await sendOne(channel, aPush([address], { expiresAt }))
  const [soon, past, far] = service.deliveries.map(({ ttl }) => ttl)
  expect(soon).toBeGreaterThan(0)
  expect(soon).toBeLessThanOrEqual(600)
  expect({ past, far }).toEqual({ past: 0, far: 28 * 86_400 })
})

test('a message that the push service accepted is delivered', async () => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe()
  expect(await sendOne(channel, aPush([address]))).toEqual({ kind: 'accepted', delivered: true })
})

const refused = { kind: 'refused', errorCode: 456 }
const misconfigured = { kind: 'busy', retryAfterMs: 300_000 }

test.each<[number, Record<string, string>, Record<string, unknown>]>([
  [200, {}, { kind: 'accepted' }],
  [201, {}, { kind: 'accepted' }],
  [202, {}, { kind: 'accepted' }],
  [307, { location: 'https://elsewhere.example/' }, { ...refused, operatorError: 'HTTP 307' }],
  [400, {}, { ...refused, operatorError: 'HTTP 400' }],
  [401, {}, misconfigured],
  [403, {}, misconfigured],
  [404, {}, { ...refused, operatorError: 'HTTP 404' }],
  [410, {}, { ...refused, operatorError: 'HTTP 410' }],
  [413, {}, { ...refused, operatorError: 'HTTP 413' }],
  [418, {}, { ...refused, operatorError: 'HTTP 418' }],
  [429, { 'retry-after': '120' }, { kind: 'busy', retryAfterMs: 120_000 }],
  [429, { 'retry-after': '0' }, { kind: 'busy', retryAfterMs: 1000 }],
  [429, {}, { kind: 'busy', retryAfterMs: 60_000 }],
  [503, { 'retry-after': '7' }, { kind: 'busy', retryAfterMs: 7000 }],
  [503, {}, { kind: 'unknown' }],
  [503, { 'retry-after': 'soon' }, { kind: 'unknown' }],
  [500, {}, { kind: 'unknown' }],
  [500, { 'retry-after': '7' }, { kind: 'unknown' }],
  [502, {}, { kind: 'unknown' }],
])('HTTP %i with %o', async (status, headers, expected) => {
  const { service, channel, feed } = await aWorld()
  const { address, calls } = await service.subscribe(() => ({ status, headers }))
  const message = aPush([address])
  expect(await sendOne(channel, message)).toMatchObject(expected)
  expect(calls()).toBe(1)

  await channel.stop()
  const { companyId, channelType, senderName } = message
  const isGone = status === 404 || status === 410
  expect(feed.toldGone).toEqual(isGone ? [{ companyId, channelType, senderName, address }] : [])
})

test.each([401, 403])('an endpoint that always answers %i gets three more attempts', async status => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe(() => ({ status }))
  for (const attempts of [0, 1, 2])
    expect(await sendOne(channel, { ...aPush([address]), attempts })).toMatchObject(misconfigured)
  expect(await sendOne(channel, { ...aPush([address]), attempts: 3 })).toMatchObject({
    ...refused,
    operatorError: `HTTP ${status}`,
  })
})

test.each<[FakeAnswer & string]>([['silence'], ['hangUp']])('%s after sending is an unknown outcome', async answer => {
  const { service, channel } = await aWorld({}, { timeoutMs: 2000 })
  const { address } = await service.subscribe(() => answer)
  expect(await sendOne(channel, aPush([address]))).toMatchObject({ kind: 'unknown' })
})

test('an unreachable push service has not got the message: it is sent later', async () => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe()
  await service.stop()
  expect(await sendOne(channel, aPush([address]))).toMatchObject({ kind: 'busy', retryAfterMs: expect.any(Number) })
})

test('a wrong VAPID key is not mistaken for a lost subscription', async () => {
  const { service, channel, feed } = await aWorld({ applicationServerKey: 'another' })
  const { address } = await service.subscribe()
  expect(await sendOne(channel, aPush([address]))).toMatchObject(misconfigured)
  await channel.stop()
  expect(service.problems).toEqual(['another key than the subscription'])
  expect(feed.toldGone).toEqual([])
})

test('a message that is too long is refused before it is sent', async () => {
  const { service, channel } = await aWorld()
  const { address, calls } = await service.subscribe()
  const overhead = JSON.stringify({ title: 'Camomile', text: '', messageUuid: aPush([]).uuid }).length
  const fitting = aPush([address], { text: 'a'.repeat(3993 - overhead) })
  expect((await sendOne(channel, fitting)).kind).toBe('accepted')
  expect(await sendOne(channel, { ...fitting, text: `${fitting.text}a` })).toMatchObject({
    ...refused,
    reason: 'too long for a push message',
  })
  expect(calls()).toBe(1)
})

test('an endpoint on this machine is refused, and not called, unless it is a test', async () => {
  const { service, channel } = await aWorld({}, { allowInsecure: false })
  const { address, calls } = await service.subscribe()
  const https = address.replace('http://', 'https://')
  for (const each of [address, https])
    expect(await sendOne(channel, aPush([each]))).toMatchObject({
      ...refused,
      reason: expect.stringContaining('not allowed'),
    })
  expect(calls()).toBe(0)
})

test('the channel is down while every message fails, and gives the reason', async () => {
  const { service, channel } = await aWorld()
  const { address } = await service.subscribe(() => ({ status: 429 }))
  await sendAll(
    channel,
    Array.from({ length: 5 }, () => aPush([address])),
  )
  expect(channel.health()).toMatchObject({ up: false, lastError: 'the push service asks to come later: HTTP 429' })
  await eventually(() => expect(channel.health().up).toBe(true))
})

test('a push service that throttles several messages in a row is paused; others are not', async () => {
  const { service, channel } = await aWorld()
  const other = await startBrowsers()
  atEnd.push(() => other.stop())
  const tooFast = () => ({ status: 429, headers: { 'retry-after': '600' } })
  const limited = await Promise.all([1, 2, 3].map(() => service.subscribe(tooFast)))
  for (const { address } of limited) await sendOne(channel, aPush([address]))
  const [here, there] = [await service.subscribe(), await other.subscribe()]
  expect(await sendOne(channel, aPush([here.address]))).toMatchObject({ kind: 'busy' })
  expect(here.calls()).toBe(0)
  expect((await sendOne(channel, aPush([there.address]))).kind).toBe('accepted')
})

test('a paused push service does not take the gateway down for the others', async () => {
  const { service, channel } = await aWorld()
  const other = await startBrowsers()
  atEnd.push(() => other.stop())
  const tooFast = () => ({ status: 429, headers: { 'retry-after': '600' } })
  const limited = await Promise.all([1, 2, 3].map(() => service.subscribe(tooFast)))
  for (const { address } of limited) await sendOne(channel, aPush([address]))
  const [here, there] = [await service.subscribe(), await other.subscribe()]
  const waiting = await sendAll(
    channel,
    Array.from({ length: 5 }, () => aPush([here.address])),
  )
  expect(waiting.map(({ kind }) => kind)).toEqual(Array(5).fill('busy'))
  expect(here.calls()).toBe(0)
  expect(channel.health().up).toBe(true)
  expect((await sendOne(channel, aPush([there.address]))).kind).toBe('accepted')
})
