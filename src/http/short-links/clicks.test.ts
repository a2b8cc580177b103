import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listCallbacks } from '../../domain/callbacks/callbacks.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { type TestReceiver, useCallbackSender } from '../../testing/callback-sender.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender, numberOf } from '../../testing/factories.ts'
import { aKey } from '../../testing/messaging-api.ts'
import { type App, buildApp } from '../app.ts'

const world = useCallbackSender()
const { db, startSender, aReceiver } = world
/** Some time ago, and not yet old news. */
const clickedAt = new Date(Date.now() - 3600_000)
const page = 'https://example.com/shop?item=1#top'
let app: App
let key: string
let receiver: TestReceiver
let now: Date | undefined

beforeAll(async () => {
  const numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    clock: () => now ?? new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret: 'a secret of the tests, 32 or longer',
  })
})

afterAll(() => app.close())

beforeEach(async () => {
  now = undefined
  receiver = await aReceiver()
  key = (await aKey(db.sql, world.companyId)).key
  await anApprovedSender(db.sql, world.companyId)
})

/** Asks the messaging API for something and gives its answer. */
async function post(path: string, payload: object) {
  const answer = await app.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    payload,
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

const anSms = (more: object = {}) => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: numberOf.MTS,
  content: `Your order: ${page}.`,
  shortUrl: true,
  callbackUrl: receiver.url,
  callbackEvents: ['click'],
  ...more,
})

async function send(more: object = {}): Promise<string> {
  const { items } = await post('/message', [anSms(more)])
  return items[0].messageUuid
}

async function shortUrlIn(messageUuid: string): Promise<string> {
  const [row] =
    await db.sql`select text from messages where company_id = ${world.companyId} and message_uuid = ${messageUuid}`
  return /http:\/\/localhost:8080\/s\/\w+/.exec(row!.text)![0]
}

const follow = (
  shortUrl: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
  remoteAddress = '127.0.0.1',
) => app.inject({ method, url: new URL(shortUrl).pathname, headers, remoteAddress })

const clicks = async (shortUrl: string) =>
  (await db.sql`select from link_clicks where code = ${shortUrl.split('/').at(-1)!}`).length

const callbacks = () => listCallbacks(db.sql, world.companyId, { limit: 1000 })

async function told(): Promise<string> {
  startSender()
  await eventually(() => expect(receiver.requests).toHaveLength(1))
  return receiver.requests[0]!.body
}

test('the client is told of a click exactly as specified, byte for byte', async () => {
  const uuid = await send({ externalMessageId: 'order-17' })
  const shortUrl = await shortUrlIn(uuid)
  now = clickedAt
  expect((await follow(shortUrl)).headers.location).toBe(page)
  now = undefined
  expect(await told()).toBe(
    `[{"message_uuid":"${uuid}","channel_type":"SMS","callback_event":"click","external_message_id":"order-17",` +
      `"url":"${page}","short_url":"${shortUrl}","click_time":"${clickedAt.toISOString()}"}]`,
  )
})

test('of a message of a cascade it is told which step it is', async () => {
  const step = { channelType: 'SMS', senderName: 'ROMASHKA', content: `Your order: ${page}` }
  const { items } = await post('/message/cascade', {
    destination: numberOf.MTS,
    cascade: [step, step],
    shortUrl: true,
    callbackUrl: receiver.url,
    callbackEvents: ['click'],
  })
  const uuid = items[0].messageUuid
  const shortUrl = await shortUrlIn(uuid)
  now = clickedAt
  await follow(shortUrl)
  now = undefined
  expect(await told()).toBe(
    `[{"message_uuid":"${uuid}","channel_type":"SMS","cascade_message_uuid":"${uuid}","cascade_step":1,` +
      `"callback_event":"click","url":"${page}","short_url":"${shortUrl}","click_time":"${clickedAt.toISOString()}"}]`,
  )
})

test('a message of a dispatch tells as its dispatch says', async () => {
  const { dispatchId } = await post('/dispatch', {
    name: 'Autumn',
    channelType: 'SMS',
    senderName: 'ROMASHKA',
    text: `Come: ${page}`,
    shortUrl: true,
    callbackUrl: receiver.url,
    callbackEvents: ['click'],
  })
  const [{ messageUuid }] = await post(`/dispatch/${dispatchId}/messages`, [{ destination: numberOf.MTS }])
  const shortUrl = await shortUrlIn(messageUuid)
  now = clickedAt
  await follow(shortUrl)
  now = undefined
  expect(await told()).toBe(
    `[{"message_uuid":"${messageUuid}","channel_type":"SMS","callback_event":"click","url":"${page}",` +
      `"short_url":"${shortUrl}","click_time":"${clickedAt.toISOString()}"}]`,
  )
})

test.each([
  ['other events', { callbackEvents: ['delivered', 'sent', 'read', 'price'] }],
  ['no particular events', { callbackEvents: undefined }],
  ['nothing', { callbackUrl: undefined, callbackEvents: undefined }],
])('a client that asked for %s is told of no click, and it is counted', async (_, more) => {
  const shortUrl = await shortUrlIn(await send(more))
  expect((await follow(shortUrl)).statusCode).toBe(302)
  expect(await clicks(shortUrl)).toBe(1)
  expect(await callbacks()).toEqual([])
})

test('a request that is no click sends no callback', async () => {
  const shortUrl = await shortUrlIn(await send())
  await follow(shortUrl, {}, 'HEAD')
  await follow(shortUrl, { 'user-agent': 'WhatsApp/2.23.20.0 A' })
  await follow(shortUrl, { 'sec-purpose': 'prefetch' })
  expect(await clicks(shortUrl)).toBe(0)
  expect(await callbacks()).toEqual([])
})

test('thirty clicks at once from as many addresses are counted thirty times and told thirty times', async () => {
  const uuid = await send()
  const shortUrl = await shortUrlIn(uuid)
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => follow(shortUrl, {}, 'GET', `192.0.2.${i}`)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(30).fill(302))
  expect(await clicks(shortUrl)).toBe(30)
  startSender()
  await world.allDelivered()
  const events = receiver.requests.flatMap(({ body }) => JSON.parse(body))
  expect(events).toHaveLength(30)
  expect(new Set(events.map(event => `${event.message_uuid} ${event.callback_event} ${event.short_url}`))).toEqual(
    new Set([`${uuid} click ${shortUrl}`]),
  )
})

test('a flood of clicks from one address counts once in ten seconds, and leads on every time', async () => {
  const shortUrl = await shortUrlIn(await send())
  const other = await shortUrlIn(await send())
  now = clickedAt
  const answers = await Promise.all(Array.from({ length: 20 }, () => follow(shortUrl)))
  expect(answers.map(({ headers }) => headers.location)).toEqual(Array(20).fill(page))
  expect([await clicks(shortUrl), (await callbacks()).length]).toEqual([1, 1])
  await follow(other)
  now = new Date(clickedAt.getTime() + 9_999)
  await follow(shortUrl)
  expect([await clicks(shortUrl), await clicks(other)]).toEqual([1, 1])
  now = new Date(clickedAt.getTime() + 10_000)
  await follow(shortUrl)
  expect(await clicks(shortUrl)).toBe(2)
})

test('a click that cannot be told is not counted either', async () => {
  const shortUrl = await shortUrlIn(await send())
  await db.sql`alter table callbacks rename to callbacks_away`
  try {
    expect((await follow(shortUrl)).statusCode).toBe(500)
  } finally {
    await db.sql`alter table callbacks_away rename to callbacks`
  }
  expect(await clicks(shortUrl)).toBe(0)
  expect((await follow(shortUrl)).statusCode).toBe(302)
  expect([await clicks(shortUrl), (await callbacks()).length]).toEqual([1, 1])
})

test('a link whose message is gone still leads on, and is counted', async () => {
  const uuid = await send()
  const shortUrl = await shortUrlIn(uuid)
  await db.sql`delete from messages where company_id = ${world.companyId} and message_uuid = ${uuid}`
  await send({ externalMessageId: uuid, content: 'No link' })
  expect((await follow(shortUrl)).headers.location).toBe(page)
  expect(await clicks(shortUrl)).toBe(1)
  expect(await callbacks()).toEqual([])
})
