import { createHmac } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import { entryOf } from '../../channels/catalogue.ts'
import { type App, buildApp } from '../../http/app.ts'
import { local, useCallbackSender } from '../../testing/callback-sender.ts'
import { aGateway, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender } from '../../testing/factories.ts'
import { aKey } from '../../testing/messaging-api.ts'
import { setSwitches } from '../companies/companies.ts'
import { addGateway, writeSimulatedInbound } from '../gateways/gateways.ts'
import { gatewayKey } from '../gateways/secrets.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { ensureCenter } from '../traffic-centers/traffic-centers.ts'
import { receiveInbound } from './inbound.ts'
import { addRule } from './rules.ts'

const world = useCallbackSender()
const { db, startSender, aReceiver } = world
const { anEngine } = useEngines(db)
const secret = 'a secret of the tests, 32 or longer'
const receivedAt = new Date('2026-05-01T12:00:00.250Z')
let numbering: Numbering
let app: App
let name: string
let names = 0

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret,
  })
})

afterAll(() => app.close())

beforeEach(async () => {
  await db.sql`delete from gateways`
  name = `Shop ${++names}`
  await setSwitches(db.sql, world.companyId, { inbound: true })
  await anApprovedSender(db.sql, world.companyId, { channelType: 'WHATSAPP', senderName: name })
})

const aRule = (callbackUrl: string) =>
  addRule(db.sql, world.companyId, { channelType: 'WHATSAPP', senderNames: [name], callbackUrl, center: 'Shop' })

/** A message as the messaging API returns it. */
async function shown(messageUuid: string): Promise<unknown> {
  const { key } = await aKey(db.sql, world.companyId)
  const answer = await app.inject({
    url: `/api/v1/message/${messageUuid}`,
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

const bodyOf = (messageUuid: string, statusTime: string, item: unknown) =>
  `[{"message_uuid":"${messageUuid}","callback_event":"inbound_sent","channel_type":"WHATSAPP",` +
  `"status":"inbound_sent","status_time":"${statusTime}","item":${JSON.stringify(item)}}]`

test('the callback has the message exactly as GET /message returns it', async () => {
  const receiver = await aReceiver()
  await aRule(receiver.url)
  const { gatewayId } = await aGateway(db.sql, { channelType: 'WHATSAPP' })
  const message = { from: '79160000061', to: name, text: 'Здравствуйте! "7" \\ 🙂', receivedAt, providerId: 'wamid.1' }
  const outcome = await receiveInbound(db.sql, gatewayId, message, undefined, numbering)
  const { messageUuid } = outcome as { messageUuid: string }
  startSender()
  await eventually(() => expect(receiver.requests).toHaveLength(1))

  const { body, headers } = receiver.requests[0]!
  const item = {
    createdTime: timeOfUuid7(messageUuid).toISOString(),
    channelType: 'WHATSAPP',
    direction: 'inbound',
    sendingMethod: null,
    trafficType: null,
    templateId: null,
    dispatchId: null,
    messageUuid,
    externalMessageId: null,
    trafficCenterId: (await ensureCenter(db.sql, world.companyId, 'Shop')).centerId,
    senderName: name,
    destination: '79160000061',
    brand: 'MTS',
    country: 'Россия',
    region: 'Москва и Московская область',
    content: 'Здравствуйте! "7" \\ 🙂',
    specialContent: { contentType: 'text', text: 'Здравствуйте! "7" \\ 🙂' },
    tags: null,
    ttl: null,
    hours: null,
    days: null,
    localSendTime: null,
    localCompletionTime: null,
    useLocalTime: null,
    shortUrl: null,
    callbackEvents: null,
    callbackUrl: null,
    totalParts: 1,
    price: { totalPrice: 0, currency: 'RUB', invoicedParts: 0, final: true },
    sentTime: '2026-05-01T12:00:00.250Z',
    statusTime: '2026-05-01T12:00:00.250Z',
    status: 'inbound_sent',
    readStatus: null,
    readStatusTime: null,
    cascadeMessageUuid: null,
    cascadeStep: null,
    errorCode: null,
  }
  expect(headers['content-type']).toBe('application/json')
  expect(body).toBe(bodyOf(messageUuid, '2026-05-01T12:00:00.250Z', item))
  expect(await shown(messageUuid)).toEqual(item)
})

test('the callback for a message from a webhook has the message as GET /message returns it, for every operator', async () => {
  const receiver = await aReceiver()
  await aRule(receiver.url)
  const { secrets, check } = entryOf('whatsapp')
  const settings = {
    phoneNumberId: '106540352242922',
    accessToken: 'EAAG',
    appSecret: 'shibboleth',
    verifyToken: 'mellon',
    senderName: name,
  }
  const gateway = await addGateway(
    db.sql,
    { name: 'wa', channelType: 'WHATSAPP', connector: 'whatsapp', brands: [], settings, partsPerSecond: null },
    { key: gatewayKey(secret), secretNames: secrets, check },
  )
  const numbers = ['79030000061', '79770000061', '79160000061', '375290000061']
  const messages = numbers.map(from => {
    const id = `wamid.${from}`
    return { from, id, timestamp: '1777636800', type: 'text', text: { body: `I am ${from}` } }
  })
  const value = { metadata: { phone_number_id: '106540352242922', display_phone_number: '74950000000' }, messages }
  const payload = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ changes: [{ field: 'messages', value }] }],
  })
  const signature = `sha256=${createHmac('sha256', 'shibboleth').update(payload).digest('hex')}`
  const post = () =>
    app.inject({
      method: 'POST',
      url: `/webhooks/${gateway!.gatewayId}`,
      payload,
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
    })
  expect([(await post()).statusCode, (await post()).statusCode]).toEqual([200, 200])

  startSender()
  const told = () => receiver.requests.flatMap(({ body }) => JSON.parse(body))
  await eventually(() => expect(told()).toHaveLength(4))
  expect(new Set(told().map(({ item }) => `${item.brand} ${item.country} ${item.content}`))).toEqual(
    new Set([
      'BEELINE Россия I am 79030000061',
      'TELE2 Россия I am 79770000061',
      'MTS Россия I am 79160000061',
      'null Беларусь I am 375290000061',
    ]),
  )
  for (const { message_uuid, item } of told()) expect(await shown(message_uuid)).toEqual(item)
})

test('a message from a simulated subscriber is stored, causes one callback, and GET /message returns it', async () => {
  const receiver = await aReceiver()
  await aRule(receiver.url)
  await aGateway(db.sql, { channelType: 'WHATSAPP' })
  await anEngine({ callbacks: local })
  await writeSimulatedInbound(db.sql, 'WHATSAPP', { from: '375290000061', to: name, text: 'When do you open?' })
  await eventually(() => expect(receiver.requests).toHaveLength(1))

  const { body } = receiver.requests[0]!
  const [{ message_uuid: messageUuid, status_time: statusTime, item }] = JSON.parse(body)
  expect(item).toMatchObject({ senderName: name, destination: '375290000061', content: 'When do you open?' })
  expect(body).toBe(bodyOf(messageUuid, statusTime, item))
  expect(await shown(messageUuid)).toEqual(item)
  // The simulator deletes the message after the service stored it. The callback may be sent before that.
  await eventually(async () => expect(await db.sql`select from simulator_inbound`).toHaveLength(0))
  await eventually(async () => expect(await world.statuses()).toEqual(['DELIVERED']))
  expect(await db.sql`select from inbound_messages where company_id = ${world.companyId}`).toHaveLength(1)
})
