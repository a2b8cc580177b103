import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { moscowTime } from '../../src/base/time/local-time.ts'
import { addRecipients, createClientDispatch } from '../../src/domain/dispatches/client-dispatches.ts'
import type { CascadeStep, ClientDispatch, Recipient } from '../../src/domain/dispatches/dispatch.ts'
import { startCreatedDispatch } from '../../src/domain/dispatches/lifecycle.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, expectBooksInOrder, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aWorld, billingZone, someRecipients, type World } from '../../src/testing/world.ts'

/** The callbacks that clients of the messaging API get for their dispatches, over a real socket. */

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World
let server: Server
let callbackUrl: string
type Told = Record<string, unknown> & { message_uuid: string; callback_event: string; status?: string }
let arrays: Told[][] = []
let shiftMs = 0
const clock = () => new Date(Date.now() + shiftMs)

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    arrays.push(JSON.parse(body))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
})

afterAll(() => {
  server.close()
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  await aGateway(db.sql, { name: 'vk', channelType: 'VK' })
  await aGateway(db.sql, { name: 'sms' })
  arrays = []
  shiftMs = 0
})

const inVk: ClientDispatch = {
  name: 'Sale',
  channelType: 'VK',
  senderName: 'shop',
  text: 'Hello',
  centerId: null,
  partsPerSecond: null,
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  cascade: null,
}

/** Creates, fills and starts a dispatch. Returns the messages in the order of the recipients. */
async function send(recipients: Recipient[], given: Partial<ClientDispatch>) {
  const dispatch = { ...inVk, callbackUrl, ...given }
  const { companyId } = world
  const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now: clock() })
  const home = { companyId, dispatchId }
  const request = { recipients, linkBase: 'https://t.example/s', once: undefined }
  const answers = await addRecipients(db.sql, numbering, home, request)
  await startCreatedDispatch(db.sql, home, { billingZone, now: clock() })
  return { dispatchId, uuids: answers.map(({ uuid }) => uuid) }
}

const startOne = () => anEngine({ clock, publicUrl: 'https://t.example', callbacks: { allow: ['127.0.0.0/8'] } })
const to = (...destinations: string[]) => destinations.map(destination => ({ destination }))
const eventsOf = (uuid: string) => arrays.flat().filter(event => event.message_uuid === uuid)
const wordsOf = (uuid: string) => eventsOf(uuid).map(({ callback_event, status }) => status ?? callback_event)

const everything: ClientDispatch['callbackEvents'] = ['sent', 'delivered', 'read', 'price']

describe('a dispatch', () => {
  test('sends the requested events of each message, in order', async () => {
    await startOne()
    const { dispatchId, uuids } = await send(to('79160000008', '79160000003', '79160000004'), {
      callbackEvents: everything,
    })
    const [read, lost, refused] = uuids as [string, string, string]
    await eventually(() => expect(wordsOf(read)).toEqual(['sent', 'delivered', 'price', 'read']))
    await eventually(() => expect(wordsOf(lost)).toEqual(['sent', 'undelivered', 'price']))
    await eventually(() => expect(wordsOf(refused)).toEqual(['unsent', 'price']))
    expect(eventsOf(read)[1]).toEqual({
      message_uuid: read,
      channel_type: 'VK',
      callback_event: 'delivered',
      status: 'delivered',
      status_time: expect.stringMatching(/Z$/),
    })
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(eventsOf(read)[2]).toMatchObject({ parts: 1, price: Number(priceEstimate) / 3 / 10_000, currency: 'RUB' })
    expect(eventsOf(lost)[2]).toMatchObject({ price: 0 })
    expect(eventsOf(refused)[0]).toMatchObject({ callback_event: 'delivered', error_code: 456 })
    await expectBooksInOrder(db.sql, world)
  })

  test('sends an unread event when the lifetime is over and the message was not read', async () => {
    await startOne()
    const { uuids } = await send(to('79160000001'), { callbackEvents: ['read'] })
    await eventually(async () => {
      const [message] = await db.sql`select status from messages where message_uuid = ${uuids[0]!}`
      expect(message!.status).toBe('DELIVERED')
    })
    expect(wordsOf(uuids[0]!)).toEqual([])
    shiftMs = 26 * 3600_000
    await eventually(() => expect(wordsOf(uuids[0]!)).toEqual(['unread']))
  })

  test('sends only the final event of each message when no other events were requested', async () => {
    await startOne()
    const { uuids } = await send(to('79160000008', '79160000003'), { callbackEvents: null })
    await eventually(() => expect(uuids.map(wordsOf)).toEqual([['delivered'], ['undelivered']]))
  })

  test('sends the events of many messages in arrays of up to a hundred, each event once', async () => {
    await startOne()
    const { uuids } = await send(someRecipients(250), { callbackEvents: ['delivered'] })
    await eventually(() => expect(arrays.flat()).toHaveLength(250))
    expect(arrays.length).toBeLessThan(250)
    expect(Math.max(...arrays.map(array => array.length))).toBeLessThanOrEqual(100)
    expect(new Set(arrays.flat().map(event => event.message_uuid))).toEqual(new Set(uuids))
  })

  test('sends no event for recipients that the response refused', async () => {
    await startOne()
    const { uuids } = await send(to('no number', '79160000001'), { callbackEvents: everything })
    await eventually(() => expect(wordsOf(uuids[1]!)).toEqual(['sent', 'delivered', 'price']))
    expect(wordsOf(uuids[0]!)).toEqual([])
  })
})

describe('a dispatch by cascade', () => {
  const LINK = 'https://shop.example.com/sale?very=long&address=of-a-page'

  const stepsOf = (given: Partial<CascadeStep> = {}): CascadeStep[] => [
    {
      channelType: 'VK',
      senderName: 'shop',
      text: 'Hello',
      content: null,
      condition: 'not_delivered',
      ttl: 60,
      ...given,
    },
    { channelType: 'SMS', senderName: 'sms_promo', text: `See ${LINK}`, content: null, condition: null, ttl: null },
  ]

  const laterStepOf = (uuid: string) =>
    eventually(async () => {
      const [step] = await db.sql<{ uuid: string; text: string; status: string }[]>`
        select message_uuid as uuid, text, status from messages where cascade_uuid = ${uuid} and cascade_step = 2`
      expect(step).toBeDefined()
      return step!
    })

  test('sends events of the first step and of later steps, each with its step number', async () => {
    await startOne()
    const { uuids } = await send(to('79160000003'), { cascade: stepsOf(), callbackEvents: everything })
    const [first] = uuids as [string]
    const { uuid: second } = await laterStepOf(first)
    await eventually(() => expect(wordsOf(first)).toEqual(['sent', 'undelivered', 'price']))
    await eventually(() => expect(wordsOf(second)).toEqual(['sent', 'undelivered', 'price']))
    const places = [...eventsOf(first), ...eventsOf(second)].map(event => [
      event.channel_type,
      event.cascade_message_uuid,
      event.cascade_step,
    ])
    expect(places).toEqual([...Array(3).fill(['VK', first, 1]), ...Array(3).fill(['SMS', first, 2])])
    await expectBooksInOrder(db.sql, world)
  })

  test('sends the next step when the time of the first step has passed, with events of both', async () => {
    await startOne()
    const { uuids } = await send(to('79160000005'), { cascade: stepsOf(), callbackEvents: ['delivered'] })
    await eventually(async () => {
      const [message] = await db.sql`select status from messages where message_uuid = ${uuids[0]!}`
      expect(message!.status).toBe('SENT')
    })
    shiftMs = 61_000
    await laterStepOf(uuids[0]!)
    await eventually(() => expect(eventsOf(uuids[0]!)).toMatchObject([{ status: 'undelivered', error_code: 7060 }]))
  })

  test('shortens the links of later steps, with different short links for each message', async () => {
    await startOne()
    const options = { shortUrl: true }
    const { uuids } = await send(to('79160000003', '79030000003'), { cascade: stepsOf(), options })
    for (const each of uuids) {
      const { uuid, text } = await laterStepOf(each)
      const links = await db.sql`
        select 'See https://t.example/s/' || code as text, url from short_links where message_uuid = ${uuid}`
      expect(links).toEqual([{ text, url: LINK }])
    }
  })

  test('sends later steps only in its sending hours', async () => {
    const hour = Number(moscowTime(new Date()).slice(11, 13))
    const options = { hours: [hour, (hour + 1) % 24], useLocalTime: false }
    await startOne()
    const { uuids } = await send(to('79160000005'), { cascade: stepsOf(), options })
    await eventually(async () => {
      const [message] = await db.sql`select status from messages where message_uuid = ${uuids[0]!}`
      expect(message!.status).toBe('SENT')
    })
    shiftMs = 2 * 3600_000
    const { uuid, status } = await laterStepOf(uuids[0]!)
    expect(status).toBe('CREATED')
    const [timer] = await db.sql<{ dueAt: Date }[]>`
      select due_at from message_timers where message_uuid = ${uuid} and kind = 'send'`
    expect(timer!.dueAt.getTime()).toBeGreaterThan(clock().getTime())
    expect(moscowTime(timer!.dueAt).slice(11)).toBe(`${String(hour).padStart(2, '0')}:00:00`)
  })
})
