import { afterEach, expect, test } from 'vitest'
import { fcmError, startFcm } from '../../testing/providers/fcm.ts'
import {
  aListener,
  aPush,
  fcmSettings,
  sendAll,
  sendOne,
  startBrowsers,
  vapidSettings,
} from '../../testing/providers/push-fixtures.ts'
import type { SendResult } from '../channel.ts'
import { createPush } from './push.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

async function aWorld(feed = aListener()) {
  const [service, fcm] = await Promise.all([startBrowsers(), startFcm()])
  const channel = createPush({ ...vapidSettings, ...fcmSettings(fcm), allowInsecure: true }, feed)
  atEnd.push(
    () => channel.stop(),
    () => service.stop(),
    () => fcm.stop(),
  )
  fcm.answers.set('gone', () => fcmError('UNREGISTERED'))
  fcm.answers.set('mismatched', () => fcmError('SENDER_ID_MISMATCH'))
  fcm.answers.set('busy', () => fcmError('QUOTA_EXCEEDED'))
  fcm.answers.set('broken', () => fcmError('INTERNAL'))
  const browser = await service.subscribe()
  return { service, fcm, channel, feed, browser }
}

test('without an address the message is refused', async () => {
  const { channel } = await aWorld()
  const noSubscription = { kind: 'refused', errorCode: 456, reason: 'no subscription' }
  expect(await sendOne(channel, aPush([]))).toEqual(noSubscription)
  expect(await sendOne(channel, { ...aPush([]), addresses: undefined })).toEqual(noSubscription)
})

test('a message is sent to every address of the subscriber, and counts once', async () => {
  const { service, fcm, channel, browser } = await aWorld()
  const message = aPush([browser.address, 'app-1', 'fcm:app-2'])
  const result = await sendOne(channel, message)
  expect(result).toEqual({ kind: 'accepted', delivered: true })
  expect(service.deliveries.map(({ payload }) => payload.messageUuid)).toEqual([message.uuid])
  expect(fcm.taken.map(({ token }) => token).toSorted()).toEqual(['app-1', 'app-2'])
})

test('an address that is listed twice gets the message once', async () => {
  const { fcm, channel } = await aWorld()
  await sendOne(channel, aPush(['app-1', 'app-1']))
  expect(fcm.taken).toHaveLength(1)
})

test('a very long list of addresses is sent completely', async () => {
  const { fcm, channel } = await aWorld()
  const addresses = Array.from({ length: 35 }, (_, i) => `app-${i}`)
  expect((await sendOne(channel, aPush(addresses))).kind).toBe('accepted')
  expect(fcm.taken.map(({ token }) => token).toSorted()).toEqual(addresses.toSorted())
})

test.each<[string[], Partial<SendResult>]>([
  [['gone', 'app-1'], { kind: 'accepted' }],
  [['busy', 'app-1'], { kind: 'accepted' }],
  [['broken', 'app-1'], { kind: 'accepted' }],
  [['broken', 'busy'], { kind: 'unknown' }],
  [['gone', 'busy'], { kind: 'busy', retryAfterMs: 60_000 }],
  [['mismatched', 'gone'], { kind: 'refused', errorCode: 456, operatorError: 'SENDER_ID_MISMATCH' }],
  [['{', 'gone'], { kind: 'refused', errorCode: 456, reason: 'the subscription has no endpoint' }],
])('addresses %j together are %o', async (addresses, expected) => {
  const { channel } = await aWorld()
  expect(await sendOne(channel, aPush(addresses))).toMatchObject(expected)
})

test('of several busy addresses, the earliest time to retry counts', async () => {
  const { service, channel } = await aWorld()
  const soon = await service.subscribe(() => ({ status: 429, headers: { 'retry-after': '5' } }))
  expect(await sendOne(channel, aPush(['busy', soon.address]))).toMatchObject({ kind: 'busy', retryAfterMs: 5000 })
})

test('a gateway without keys for browsers refuses them, one without an account refuses apps', async () => {
  const { fcm, browser, feed } = await aWorld()
  const forApps = createPush({ ...fcmSettings(fcm), allowInsecure: true }, feed)
  const forBrowsers = createPush({ ...vapidSettings, allowInsecure: true }, feed)
  atEnd.unshift(
    () => forApps.stop(),
    () => forBrowsers.stop(),
  )
  expect(await sendOne(forApps, aPush([browser.address]))).toMatchObject({ kind: 'refused', errorCode: 456 })
  expect(await sendOne(forBrowsers, aPush(['app-1']))).toMatchObject({ kind: 'refused', errorCode: 456 })
  expect((await sendOne(forApps, aPush([browser.address, 'app-1']))).kind).toBe('accepted')
})

test('an address that no longer exists is reported before the result', async () => {
  const { channel, feed } = await aWorld()
  await sendOne(channel, aPush(['gone', 'fcm:gone']))
  expect(feed.toldGone.map(({ address }) => address).toSorted()).toEqual(['fcm:gone', 'gone'])
})

test('the same address is reported for each company and application that used it', async () => {
  const { channel, feed } = await aWorld()
  await sendAll(channel, [
    aPush(['gone']),
    aPush(['gone'], { companyId: 2 }),
    aPush(['gone'], { senderName: 'Dandelion' }),
  ])
  await channel.stop()
  expect(feed.toldGone).toHaveLength(3)
})

test('an address whose end could not be stored is reported by the next message, and delays no message', async () => {
  const { channel, feed } = await aWorld(aListener({ refusals: 1 }))
  expect(await sendOne(channel, aPush(['app-1', 'gone']))).toEqual({ kind: 'accepted', delivered: true })
  expect(feed.toldGone).toEqual([])
  await sendOne(channel, aPush(['app-1', 'gone']))
  expect(feed.toldGone).toMatchObject([{ address: 'gone' }])
})

test('reasons of failures contain no keys, tokens or addresses', async () => {
  const { service, fcm, channel, browser } = await aWorld()
  const quoting = (status: number) => () => ({ status, body: `${vapidSettings.vapidPrivateKey} ${browser.address}` })
  const browsers = await Promise.all(
    [400, 403, 404, 413, 418, 429, 500].map(status => service.subscribe(quoting(status))),
  )
  fcm.answers.set('quoting-token', () => fcmError('INVALID_ARGUMENT', 'not quoting-token, ya29.invented-0'))
  fcm.answers.set('silent-token', () => 'hangUp')
  const addresses = [...browsers.map(({ address }) => address), 'quoting-token', 'silent-token', 'gone', 'busy', '{']
  const results = await sendAll(
    channel,
    addresses.map(address => aPush([address])),
  )

  const told = JSON.stringify([results, channel.health()])
  const secrets = [
    vapidSettings.vapidPrivateKey,
    fcm.serviceAccount.private_key!.split('\n')[1]!,
    ...fcm.accessTokens,
    ...fcm.assertions,
    'quoting-token',
    'silent-token',
    ...browsers.map(({ endpoint }) => endpoint),
  ]
  expect(results.every(({ kind }) => kind !== 'accepted')).toBe(true)
  expect(secrets.filter(secret => told.includes(secret))).toEqual([])
})
