import { afterEach, expect, test } from 'vitest'
import { type FakeFcmOptions, fcmError, startFcm } from '../../testing/providers/fcm.ts'
import { aListener, aPush, fcmSettings, sendAll, sendOne } from '../../testing/providers/push-fixtures.ts'
import type { FakeAnswer } from '../../testing/providers/push-service.ts'
import { createFcm } from './fcm.ts'
import { createPauses } from './pauses.ts'
import { createPush } from './push.ts'
import { readSettings } from './settings.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

async function aWorld(options: FakeFcmOptions = {}, raw: Record<string, unknown> = {}) {
  const fcm = await startFcm(options)
  const feed = aListener()
  const settings = { ...fcmSettings(fcm), allowInsecure: true, ...raw }
  const channel = createPush(settings, feed)
  atEnd.push(
    () => channel.stop(),
    () => fcm.stop(),
  )
  return { fcm, feed, channel, settings }
}

/** The sender alone, with a controlled clock. */
async function aSender(options: FakeFcmOptions = {}) {
  const { fcm, settings } = await aWorld(options)
  const pauses = createPauses()
  const sender = createFcm(readSettings(settings).fcm!, 5000, pauses)
  const start = Date.now()
  const sendAt = (seconds: number) => sender.send('app-1', aPush([]), new Date(start + seconds * 1000))
  return { fcm, pauses, sendAt }
}

test('the app gets the content of the message, and FCM finds no error', async () => {
  const { fcm, channel } = await aWorld()
  const expiresAt = new Date(Date.now() + 3600_500)
  const data = { order: 7, note: 'by hand', list: [1, 2], none: null }
  const content = {
    contentType: 'push' as const,
    title: 'Camomile',
    text: 'Ваш заказ готов',
    url: 'https://camomile.example/orders/7',
    image: 'https://camomile.example/7.png',
    data,
  }
  const message = aPush(['fcm:app-1'], { content, expiresAt })
  const before = Math.floor(Date.now() / 1000)
  expect(await sendOne(channel, message)).toEqual({ kind: 'accepted', delivered: true })

  expect(fcm.problems).toEqual([])
  const [taken] = fcm.taken as [{ android: { ttl: string }; apns: { headers: Record<string, string> } }]
  const seconds = Number.parseInt(taken.android.ttl, 10)
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(3600)
  expect(Number(taken.apns.headers['apns-expiration'])).toBeGreaterThanOrEqual(before + seconds)
  expect(taken).toEqual({
    token: 'app-1',
    notification: { title: 'Camomile', body: 'Ваш заказ готов', image: 'https://camomile.example/7.png' },
    data: {
      order: '7',
      note: 'by hand',
      list: '[1,2]',
      url: 'https://camomile.example/orders/7',
      messageUuid: message.uuid,
    },
    android: { ttl: `${seconds}s` },
    apns: { headers: { 'apns-expiration': expect.any(String) } },
    webpush: { headers: { TTL: String(seconds) }, fcm_options: { link: 'https://camomile.example/orders/7' } },
  })
})

test('a plain text is a body and nothing else, and lives for 25 hours', async () => {
  const { fcm, channel } = await aWorld()
  await sendOne(channel, aPush(['app-1']))
  expect(fcm.taken).toMatchObject([{ notification: { body: 'Your order is ready' }, android: { ttl: '90000s' } }])
  expect(fcm.taken[0]!.notification).toEqual({ body: 'Your order is ready' })
})

test('a link that FCM would refuse reaches the app, though not the browser', async () => {
  const { fcm, channel } = await aWorld()
  const content = { contentType: 'push' as const, text: 'Hello', url: 'camomile://orders/7' }
  expect((await sendOne(channel, aPush(['app-1'], { content }))).kind).toBe('accepted')
  expect(fcm.taken[0]).toMatchObject({ data: { url: 'camomile://orders/7' }, webpush: { headers: { TTL: '90000' } } })
})

const refused = { kind: 'refused', errorCode: 456 }
const misconfigured = { kind: 'busy', retryAfterMs: 300_000 }
const INVALID_TOKEN = 'The registration token is not a valid FCM registration token'
const retryAfter = { headers: { 'retry-after': '30' } }

test.each<[string, FakeAnswer, Record<string, unknown>, 'gone'?]>([
  ['UNREGISTERED', fcmError('UNREGISTERED'), { ...refused, operatorError: 'UNREGISTERED' }, 'gone'],
  ['a malformed token', fcmError('INVALID_ARGUMENT', INVALID_TOKEN), refused, 'gone'],
  ['a wrong token field', fcmError('INVALID_ARGUMENT', '', { field: 'message.token' }), refused, 'gone'],
  ['a wrong data field', fcmError('INVALID_ARGUMENT', '', { field: 'message.data[0].value' }), refused],
  [
    'a message too big',
    fcmError('INVALID_ARGUMENT', 'Message too big'),
    { ...refused, operatorError: 'INVALID_ARGUMENT' },
  ],
  ['SENDER_ID_MISMATCH', fcmError('SENDER_ID_MISMATCH'), { ...refused, operatorError: 'SENDER_ID_MISMATCH' }],
  ['QUOTA_EXCEEDED', fcmError('QUOTA_EXCEEDED'), { kind: 'busy', retryAfterMs: 60_000 }],
  ['QUOTA_EXCEEDED until', fcmError('QUOTA_EXCEEDED', '', retryAfter), { kind: 'busy', retryAfterMs: 30_000 }],
  ['UNAVAILABLE until', fcmError('UNAVAILABLE', '', retryAfter), { kind: 'busy', retryAfterMs: 30_000 }],
  ['UNAVAILABLE', fcmError('UNAVAILABLE'), { kind: 'unknown' }],
  ['INTERNAL', fcmError('INTERNAL'), { kind: 'unknown' }],
  ['THIRD_PARTY_AUTH_ERROR', fcmError('THIRD_PARTY_AUTH_ERROR'), misconfigured],
  ['UNAUTHENTICATED', fcmError('UNAUTHENTICATED'), misconfigured],
  ['PERMISSION_DENIED', fcmError('PERMISSION_DENIED'), misconfigured],
  ['a project that is not there', fcmError('NOT_FOUND'), misconfigured],
  ['a page of HTML, 404', { status: 404, body: '<html>' }, misconfigured],
  ['a page of HTML, 502', { status: 502, body: '<html>' }, { kind: 'unknown' }],
  ['a page of HTML, 503', { status: 503, body: '<html>' }, { kind: 'unknown' }],
  ['a page of HTML, 503 until', { status: 503, body: '<html>', ...retryAfter }, { kind: 'busy', retryAfterMs: 30_000 }],
  ['a page of HTML, 502 until', { status: 502, body: '<html>', ...retryAfter }, { kind: 'unknown' }],
  ['a page of HTML, 418', { status: 418, body: '<html>' }, { ...refused, operatorError: 'HTTP 418' }],
  [
    'an error of another shape',
    { status: 400, body: '{"error":{"details":[null,{"fieldViolations":[null]}]}}' },
    refused,
  ],
  ['an error that is a word', { status: 400, body: '{"error":"no"}' }, refused],
  ['silence', 'silence', { kind: 'unknown' }],
  ['a closed connection', 'hangUp', { kind: 'unknown' }],
])('%s', async (_, answer, expected, gone) => {
  const { fcm, channel, feed } = await aWorld({}, { timeoutMs: answer === 'silence' ? 2000 : 5000 })
  fcm.answers.set('app-1', () => answer)
  expect(await sendOne(channel, aPush(['app-1']))).toMatchObject(expected)
  await channel.stop()
  expect(feed.toldGone.map(({ address }) => address)).toEqual(gone ? ['app-1'] : [])
})

test('many messages at once fetch one access token', async () => {
  const { fcm, channel } = await aWorld({ answerMs: 20 })
  const batch = Array.from({ length: 50 }, (_, i) => aPush([`app-${i}`]))
  const results = await sendAll(channel, batch)
  expect(results.map(({ kind }) => kind)).toEqual(Array(50).fill('accepted'))
  expect(fcm.tokenCalls()).toBe(1)
})

test('an access token is used until shortly before its end, then one more is fetched', async () => {
  const { fcm, sendAt } = await aSender()
  await sendAt(0)
  await sendAt(3299)
  expect(fcm.tokenCalls()).toBe(1)
  await Promise.all([sendAt(3300), sendAt(3300), sendAt(3300)])
  expect(fcm.tokenCalls()).toBe(2)
  await sendAt(3301)
  expect(fcm.tokenCalls()).toBe(2)
})

test('an access token with a short life is used for half of it', async () => {
  const { fcm, sendAt } = await aSender({ expiresInSeconds: 60 })
  await sendAt(0)
  await sendAt(29)
  expect(fcm.tokenCalls()).toBe(1)
  await sendAt(30)
  expect(fcm.tokenCalls()).toBe(2)
})

test('an access token that cannot be renewed is used to its end', async () => {
  const { fcm, sendAt } = await aSender()
  await sendAt(0)
  fcm.tokenAnswer = () => ({ status: 500 })
  expect((await sendAt(3400)).kind).toBe('accepted')
  expect((await sendAt(3410)).kind).toBe('accepted')
  expect(fcm.tokenCalls()).toBe(2)
  expect(await sendAt(3600)).toMatchObject({ kind: 'busy' })
})

test('a revoked access token is replaced once for all messages, and they are sent', async () => {
  const { fcm, sendAt } = await aSender()
  await sendAt(0)
  fcm.revoke()
  const results = await Promise.all([sendAt(60), sendAt(60), sendAt(60)])
  expect(results.map(({ kind }) => kind)).toEqual(Array(3).fill('accepted'))
  expect(fcm.tokenCalls()).toBe(2)
})

test('if even a fresh access token is rejected, no further tokens are fetched', async () => {
  const { fcm, sendAt } = await aSender()
  fcm.answers.set('app-1', () => fcmError('UNAUTHENTICATED'))
  for (const seconds of [0, 1, 2]) expect(await sendAt(seconds)).toMatchObject(misconfigured)
  expect(fcm.tokenCalls()).toBe(1)
})

test.each<[string, FakeAnswer, number, string]>([
  [
    'a refused account',
    { status: 400, body: '{"error":"invalid_grant","error_description":"x"}' },
    300_000,
    'invalid_grant',
  ],
  ['a forbidden account', { status: 401, body: 'no' }, 300_000, 'HTTP 401'],
  ['a token service too busy', { status: 429, headers: { 'retry-after': '9' } }, 9000, 'HTTP 429'],
  ['a token service that fails', { status: 503 }, 60_000, 'HTTP 503'],
  ['an answer without a token', { status: 200, body: '{"access_token":7}' }, 300_000, 'HTTP 200'],
  ['a token of many lines', { status: 200, body: '{"access_token":"a\\nb"}' }, 300_000, 'HTTP 200'],
  ['a silent token service', 'silence', 5000, 'no answer in time'],
])(
  '%s: nothing is sent, the message can be sent later, and no token is fetched before',
  async (_, answer, retryAfterMs, word) => {
    const { fcm, channel } = await aWorld({}, { timeoutMs: answer === 'silence' ? 2000 : 5000 })
    fcm.tokenAnswer = () => answer
    const reason = `no access token for FCM: ${word}`
    expect(await sendOne(channel, aPush(['app-1']))).toEqual({ kind: 'busy', reason, retryAfterMs })
    expect((await sendOne(channel, aPush(['app-2']))).kind).toBe('busy')
    expect({ tokens: fcm.tokenCalls(), sends: fcm.sendCalls() }).toEqual({ tokens: 1, sends: 0 })
  },
)

test('after a failure an access token is fetched again at the time to retry', async () => {
  const { fcm, sendAt } = await aSender()
  fcm.tokenAnswer = call => (call === 0 ? { status: 503 } : undefined)
  expect((await sendAt(0)).kind).toBe('busy')
  expect((await sendAt(59)).kind).toBe('busy')
  expect((await sendAt(60)).kind).toBe('accepted')
})

test('a limit of one device does not pause other devices', async () => {
  const { fcm, channel } = await aWorld()
  fcm.answers.set('app-1', () => fcmError('QUOTA_EXCEEDED'))
  for (let n = 0; n < 4; n++) await sendOne(channel, aPush(['app-1']))
  expect((await sendOne(channel, aPush(['app-2']))).kind).toBe('accepted')
})

test('when FCM throttles several devices in a row, no app gets a message until the time to retry', async () => {
  const { fcm, channel } = await aWorld()
  for (const app of ['app-1', 'app-2', 'app-3']) {
    fcm.answers.set(app, () => fcmError('QUOTA_EXCEEDED', '', { headers: { 'retry-after': '600' } }))
    await sendOne(channel, aPush([app]))
  }
  const result = await sendOne(channel, aPush(['app-4']))
  expect(result).toMatchObject({ kind: 'busy', reason: 'FCM asks to come later: QUOTA_EXCEEDED' })
  expect((result as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(500_000)
  expect(fcm.sendCalls()).toBe(3)
})

test('the pause that FCM asked for ends by itself', async () => {
  const { fcm, sendAt, pauses } = await aSender()
  for (const app of ['a', 'b', 'c'])
    pauses.heard(fcm.url, app, { kind: 'later', reason: 'too fast', retryAfterMs: 60_000 }, new Date())
  expect(await sendAt(30)).toMatchObject({ kind: 'paused', reason: 'too fast' })
  expect((await sendAt(61)).kind).toBe('accepted')
})
