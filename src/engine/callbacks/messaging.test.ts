import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { StatusEvent } from '../../domain/callbacks/callback.ts'
import {
  enqueueCallbacks,
  enqueueMessagingCallbacks,
  listCallbackAttempts,
  listCallbacks,
  type MessagingEvent,
  replayCallback,
} from '../../domain/callbacks/callbacks.ts'
import type { MessagingStatus } from '../../domain/callbacks/messaging-event.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { ok, type TestReceiver, useCallbackSender } from '../../testing/callback-sender.ts'
import { eventually } from '../../testing/eventually.ts'

const world = useCallbackSender()
const { db, clock, travel, startSender, aReceiver, statuses, allDelivered, attempts, firstAttempt } = world

const at = new Date('2026-03-01T13:00:00.5+03:00')
const messages = (count: number) => uuid7Batch(new Date(), count)

const statusOf = (messageUuid: string, status: MessagingStatus = 'delivered'): MessagingEvent => ({
  kind: 'status',
  messageUuid,
  channelType: 'SMS',
  status,
  at,
})

const enqueue = (url: string, events: MessagingEvent[]) =>
  db.sql.begin(sql =>
    enqueueMessagingCallbacks(
      sql,
      world.companyId,
      events.map(event => ({ url, event })),
      clock(),
    ),
  )

type Told = { message_uuid: string; status: string }
const arraysOf = (receiver: TestReceiver) => receiver.requests.map(({ body }) => JSON.parse(body) as Told[])
const idsOf = (receiver: TestReceiver) => receiver.requests.map(({ headers }) => headers['webhook-id'])

describe('the exact body of a callback', () => {
  const [uuid, first] = ['0195a1b2-0000-7000-8000-000000000001', '0195a1b2-0000-7000-8000-000000000000'] as const
  const cascade = { messageUuid: first, step: 2 }
  const message = `"message_uuid":"${uuid}","channel_type":"VIBER"`
  const cascadeFields = `"cascade_message_uuid":"${first}","cascade_step":2`
  const time = '"2026-03-01T10:00:00.500Z"'

  const bodyOf = async (event: MessagingEvent) => {
    const receiver = await aReceiver()
    await enqueue(receiver.url, [event])
    startSender()
    await allDelivered()
    expect(receiver.requests[0]!.headers['content-type']).toBe('application/json')
    return receiver.requests[0]!.body
  }

  test.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['undelivered', 'delivered'],
    ['unsent', 'delivered'],
    ['read', 'read'],
    ['unread', 'read'],
  ] as const)('status %s becomes event %s, and fields without a value are absent', async (status, event) => {
    expect(await bodyOf({ kind: 'status', messageUuid: uuid, channelType: 'VIBER', status, at })).toBe(
      `[{${message},"callback_event":"${event}","status":"${status}","status_time":${time}}]`,
    )
  })

  test('contains every field of a status that has them all', async () => {
    const body = await bodyOf({
      kind: 'status',
      messageUuid: uuid,
      channelType: 'VIBER',
      cascade,
      externalMessageId: 'order "7"',
      status: 'undelivered',
      errorCode: 7060,
      at,
    })
    expect(body).toBe(
      `[{${message},${cascadeFields},"callback_event":"delivered","external_message_id":"order \\"7\\"",` +
        `"status":"undelivered","status_time":${time},"error_code":7060}]`,
    )
  })

  test('has no field for null', async () => {
    const unknown = { cascade: null, externalMessageId: null, errorCode: null }
    expect(
      await bodyOf({ kind: 'status', messageUuid: uuid, channelType: 'VIBER', status: 'sent', at, ...unknown }),
    ).toBe(`[{${message},"callback_event":"sent","status":"sent","status_time":${time}}]`)
  })

  test('has the exact price as a number', async () => {
    const price = { kind: 'price', parts: 3, price: money('7.4001'), currency: 'RUB', at } as const
    expect(await bodyOf({ ...price, messageUuid: uuid, channelType: 'VIBER', externalMessageId: 'x' })).toBe(
      `[{${message},"callback_event":"price","external_message_id":"x",` +
        `"parts":3,"price":7.4001,"currency":"RUB","price_time":${time}}]`,
    )
  })

  test('describes a click', async () => {
    const links = { url: 'https://shop.example/?a=1&b=ü', shortUrl: 'https://s.example/s/Ab3' }
    expect(await bodyOf({ kind: 'click', messageUuid: uuid, channelType: 'VIBER', cascade, ...links, at })).toBe(
      `[{${message},${cascadeFields},"callback_event":"click",` +
        `"url":"https://shop.example/?a=1&b=ü","short_url":"https://s.example/s/Ab3","click_time":${time}}]`,
    )
  })

  test('contains the message object of an inbound message unchanged', async () => {
    const item = {
      createdTime: at,
      sentTime: '2026-03-01T10:00:00.500Z',
      messageUuid: uuid,
      direction: 'inbound',
      channelType: 'WHATSAPP',
      trafficCenterId: 5,
      senderName: 'Shop',
      destination: '79160000001',
      content: 'да',
      specialContent: { text: 'да', contentType: 'text' },
      totalParts: 1,
      dispatchId: null,
    } as const
    expect(await bodyOf({ kind: 'inbound', messageUuid: uuid, channelType: 'WHATSAPP', item, at })).toBe(
      `[{"message_uuid":"${uuid}","callback_event":"inbound_sent","channel_type":"WHATSAPP",` +
        `"status":"inbound_sent","status_time":${time},"item":{"createdTime":${time},"sentTime":${time},` +
        `"messageUuid":"${uuid}","direction":"inbound","channelType":"WHATSAPP","trafficCenterId":5,` +
        '"senderName":"Shop","destination":"79160000001","content":"да",' +
        '"specialContent":{"text":"да","contentType":"text"},"totalParts":1,"dispatchId":null}}]',
    )
  })
})

describe('arrays', () => {
  test('have up to 100 events, each event once, with a signature over the exact body', async () => {
    const receiver = await aReceiver()
    const sent = messages(250)
    await enqueue(
      receiver.url,
      sent.map(uuid => statusOf(uuid)),
    )
    startSender()
    await allDelivered()
    const arrays = arraysOf(receiver)
    expect(arrays.map(array => array.length).toSorted()).toEqual([100, 100, 50])
    expect(arrays.flatMap(array => array.map(event => event.message_uuid)).toSorted()).toEqual(sent.toSorted())
    expect(new Set(idsOf(receiver)).size).toBe(3)
    const key = Buffer.from(
      (await callbackSecretOf(db.sql, world.companyId, world.key)).replace('whsec_', ''),
      'base64',
    )
    for (const { headers, body } of receiver.requests) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    }
    expect(await attempts()).toMatchObject([{ triedEvents: 250, deliveredEvents: 250, statusCode: 200 }])
  })

  test('are sent to one exact address, and contain events that were written at different times', async () => {
    const receiver = await aReceiver()
    const other = `${receiver.url}?other`
    const [a, b, c] = messages(3)
    await enqueue(receiver.url, [statusOf(a!, 'sent')])
    await enqueue(other, [statusOf(b!)])
    await enqueue(receiver.url, [statusOf(a!), statusOf(c!)])
    startSender()
    await allDelivered()
    const seen = receiver.requests.map(({ path, body }) => [
      path,
      (JSON.parse(body) as Told[]).map(event => [event.message_uuid, event.status]),
    ])
    expect(Object.fromEntries(seen)).toEqual({
      '/hook': [
        [a, 'sent'],
        [a, 'delivered'],
        [c, 'delivered'],
      ],
      '/hook?other': [[b, 'delivered']],
    })
    expect(receiver.requests).toHaveLength(2)
  })

  test('are written as one row when the address is given twice', async () => {
    const [a, b] = messages(2)
    const url = 'http://hooks.example/'
    const events = [statusOf(a!), statusOf(b!)].map(event => ({ url, event }))
    await db.sql.begin(sql => enqueueMessagingCallbacks(sql, world.companyId, events, clock()))
    const listed = await listCallbacks(db.sql, world.companyId, { limit: 10 })
    expect(listed).toMatchObject([{ url, eventCount: 2, status: 'WAITING' }])
  })
})

describe('failures', () => {
  test('after a 500 the event is sent again after the pause, with the same id, until a 200', async () => {
    const receiver = await aReceiver((_, response, place) => response.writeHead(place ? 200 : 500).end())
    await enqueue(receiver.url, [statusOf(messages(1)[0]!)])
    startSender()
    expect(await firstAttempt()).toMatchObject({ statusCode: 500, triedEvents: 1, deliveredEvents: 0 })
    expect(await statuses()).toEqual(['WAITING'])
    travel(301)
    await allDelivered()
    const [first, second] = receiver.requests
    expect(receiver.requests).toHaveLength(2)
    expect(second!.body).toBe(first!.body)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(await attempts()).toMatchObject([{ statusCode: 200 }, { statusCode: 500 }])
  })

  test('a refused array is refused as a whole; its messages are sent again one by one, each with a constant id', async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(500).end())
    const sent = messages(3)
    await enqueue(
      receiver.url,
      sent.map(uuid => statusOf(uuid)),
    )
    startSender()
    expect(await firstAttempt()).toMatchObject({ triedEvents: 3, deliveredEvents: 0 })
    expect(receiver.requests).toHaveLength(1)
    travel(301)
    await eventually(async () => expect(await attempts()).toHaveLength(2))
    receiver.answer = ok
    travel(301)
    await allDelivered()
    const [together, ...alone] = arraysOf(receiver)
    expect(together!.map(event => event.message_uuid)).toEqual(sent)
    expect(alone.map(array => array.length)).toEqual([1, 1, 1, 1, 1, 1])
    const ids = idsOf(receiver)
    expect(ids.slice(4).toSorted()).toEqual(ids.slice(1, 4).toSorted())
    expect(new Set(ids).size).toBe(4)
  })

  test('a message that is refused again and again delays no other message', async () => {
    const sent = messages(40)
    const poison = sent[7]!
    const receiver = await aReceiver(({ body }, response) =>
      response.writeHead(body.includes(poison) ? 500 : 200).end(),
    )
    await enqueue(
      receiver.url,
      sent.map(uuid => statusOf(uuid, 'sent')),
    )
    startSender()
    await firstAttempt()
    travel(301)
    const doneEvents = async () => (await listCallbacks(db.sql, world.companyId, { limit: 1 }))[0]!.doneEvents
    await eventually(async () => expect(await doneEvents()).toBe(39))
    await enqueue(
      receiver.url,
      sent.map(uuid => statusOf(uuid)),
    )
    await eventually(async () => expect(await doneEvents()).toBe(39))
    expect(await db.sql`select held from callbacks`).toEqual([{ held: [poison] }, { held: [poison] }])
    expect(arraysOf(receiver).at(-1)).toHaveLength(39)
  })

  test('the events of each message keep their order at a receiver that is slow and refuses at random', async () => {
    const taken = new Map<string, string[]>()
    const receiver = await aReceiver(({ body }, response, place) => {
      const isRefused = place % 3 === 1
      for (const { message_uuid, status } of isRefused ? [] : (JSON.parse(body) as Told[])) {
        taken.set(message_uuid, [...(taken.get(message_uuid) ?? []), status])
      }
      setTimeout(() => response.writeHead(isRefused ? 500 : 200).end(), place % 5)
    })
    startSender({ retrySeconds: 1 })
    const uuids = messages(120)
    for (let i = 0; i < 120; i += 20) {
      const some = uuids.slice(i, i + 20)
      for (const status of ['sent', 'delivered', 'read'] as const) {
        await enqueue(
          receiver.url,
          some.map(uuid => statusOf(uuid, status)),
        )
      }
    }
    await eventually(async () => expect(new Set(await statuses())).toEqual(new Set(['DELIVERED'])))
    expect(taken.size).toBe(120)
    for (const told of taken.values()) expect(told).toEqual(['sent', 'delivered', 'read'])
  })

  test('20 refused arrays in a row pause a receiver, and an accepted probe is followed by the rest', async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(503).end())
    const sent = messages(30)
    for (const [i, uuid] of sent.entries()) await enqueue(`${receiver.url}?${i}`, [statusOf(uuid)])
    startSender()
    await eventually(async () => {
      const rows = await db.sql`select failures >= 20 as paused, claimed_until < now() as free from receivers`
      expect(rows).toEqual([{ paused: true, free: true }])
    })
    expect(receiver.requests.length).toBeLessThan(24)
    const asked = receiver.requests.length
    receiver.answer = ok
    travel(301)
    await allDelivered()
    expect(receiver.requests).toHaveLength(asked + 30)
  })

  test('a replay sends an expired batch again as a whole', async () => {
    const receiver = await aReceiver((_, response, place) => response.writeHead(place === 0 ? 500 : 200).end())
    const sent = messages(2)
    await enqueue(
      receiver.url,
      sent.map(uuid => statusOf(uuid)),
    )
    startSender()
    await firstAttempt()
    travel(24 * 3600 + 1)
    await eventually(async () => expect(await statuses()).toEqual(['EXPIRED']))
    const [callback] = await listCallbacks(db.sql, world.companyId, { limit: 1 })
    await replayCallback(db.sql, world.companyId, callback!.callbackId, clock())
    await allDelivered()
    expect(arraysOf(receiver).map(array => array.map(event => event.message_uuid))).toEqual([sent, sent])
    expect(await listCallbackAttempts(db.sql, world.companyId, callback!.callbackId)).toMatchObject([
      { statusCode: 200, deliveredEvents: 2 },
      { statusCode: 500, deliveredEvents: 0 },
    ])
  })
})

test('one receiver gets both formats, each with its own body, and a refusal of one does not affect the other', async () => {
  const receiver = await aReceiver(({ body }, response) => {
    response.writeHead(body.startsWith('[') && world.travelledMs === 0 ? 500 : 200).end()
  })
  const [ofPartner, a, b] = messages(3)
  const partnerEvent: StatusEvent = { event: 'sent', messageUuid: ofPartner!, destination: '79160000001', at }
  await enqueue(receiver.url, [statusOf(a!, 'sent'), statusOf(b!, 'sent')])
  await db.sql.begin(sql =>
    enqueueCallbacks(sql, world.companyId, [{ url: receiver.url, event: partnerEvent }], clock()),
  )
  startSender()
  await eventually(async () => expect((await statuses()).toSorted()).toEqual(['DELIVERED', 'WAITING']))
  travel(301)
  await allDelivered()
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body))
  const arrays = bodies.filter(Array.isArray)
  expect(bodies.filter(body => !Array.isArray(body))).toEqual([
    {
      event: 'sent',
      messageUuid: ofPartner,
      destination: '79160000001',
      status: 'SENT',
      sentAt: '2026-03-01T10:00:00.500Z',
    },
  ])
  expect(arrays.map(array => array.length)).toEqual([2, 1, 1])
})
