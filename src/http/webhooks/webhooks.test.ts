import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChannelType } from '../../base/channel-types.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { entryOf } from '../../channels/catalogue.ts'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { addGateway, changeGateway, removeGateway } from '../../domain/gateways/gateways.ts'
import { gatewayKey } from '../../domain/gateways/secrets.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { addressesOf } from '../../domain/subscribers/subscribers.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, completed, expectBooksInOrder, fatesOf, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { aKey } from '../../testing/messaging-api.ts'
import { signed, startFakeProvider } from '../../testing/providers/http-provider.ts'
import { startFakeTelegram } from '../../testing/providers/telegram-bot-api.ts'
import { startCloud } from '../../testing/providers/whatsapp-cloud-api.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../testing/world.ts'
import { type App, buildApp } from '../app.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
const secret = 'a secret of the tests, 32 or longer'
const webhookKey = Buffer.alloc(32, 7)
const whsec = `whsec_${webhookKey.toString('base64')}`
const lines: string[] = []
const atEnd: (() => unknown)[] = []
let app: App
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'trace' }, { write: line => void lines.push(line) }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret,
  })
})

afterAll(() => app.close())

beforeEach(async () => {
  lines.splice(0)
  await db.sql`delete from receipt_inbox`
  await db.sql`delete from gateways`
})

afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

const settingRulesOf = (connector: string, sealedWith = secret) => {
  const { secrets, check } = entryOf(connector)
  return { key: gatewayKey(sealedWith), secretNames: secrets, check }
}

async function gatewayOf(
  connector: string,
  channelType: ChannelType,
  settings: Record<string, unknown>,
  sealedWith = secret,
): Promise<Gateway> {
  const gateway = { name: connector, channelType, connector, brands: [], settings, partsPerSecond: null }
  return (await addGateway(db.sql, gateway, settingRulesOf(connector, sealedWith)))!
}

const anHttpGateway = (sealedWith = secret) =>
  gatewayOf('http', 'SMS', { url: 'http://127.0.0.1:1/messages', secret: whsec }, sealedWith)

function post(gatewayId: number | string, body: string, headers: Record<string, string>) {
  return app.inject({ method: 'POST', url: `/webhooks/${gatewayId}`, payload: body, headers })
}

const tell = (gateway: Pick<Gateway, 'gatewayId'>, told: unknown, id = 't-1') => {
  const body = JSON.stringify(told)
  return post(gateway.gatewayId, body, { 'content-type': 'application/json', ...signed(webhookKey, id, body) })
}

/** A surprise of ours: it is logged with all that there is to know. */
async function withoutGateways(work: () => Promise<void>) {
  await db.sql`alter table gateways rename to gateways_away`
  try {
    await work()
  } finally {
    await db.sql`alter table gateways_away rename to gateways`
  }
}

const inbox = () => db.sql`
  select gateway_id, provider_id, status, error_code, operator_error
  from receipt_inbox order by receipt_id`

describe('receipts', () => {
  test('are in the inbox when they are acknowledged, with the word of the provider', async () => {
    const gateway = await anHttpGateway()
    const answer = await tell(gateway, {
      events: [
        { id: 'p-1', status: 'delivered' },
        { id: 'p-2', status: 'failed', error: { code: 'absent' } },
        { id: 'p-3', status: 'read' },
        { id: 'p-4', status: 'queued' },
      ],
    })
    expect({ status: answer.statusCode, body: answer.json() }).toEqual({ status: 200, body: {} })
    const { gatewayId } = gateway
    expect(await inbox()).toEqual([
      { gatewayId, providerId: 'p-1', status: 'DELIVERED', errorCode: null, operatorError: null },
      { gatewayId, providerId: 'p-2', status: 'FAILED', errorCode: expect.any(Number), operatorError: 'absent' },
      { gatewayId, providerId: 'p-3', status: 'READ', errorCode: null, operatorError: null },
    ])
  })

  test('that cannot be stored are not acknowledged', async () => {
    const gateway = await anHttpGateway()
    await db.sql`alter table receipt_inbox rename to receipt_inbox_away`
    try {
      const answer = await tell(gateway, { events: [{ id: 'p-1', status: 'delivered' }] })
      expect(answer.statusCode).toBe(500)
    } finally {
      await db.sql`alter table receipt_inbox_away rename to receipt_inbox`
    }
    expect(await inbox()).toEqual([])
  })

  test('of a message come to its end: sent, told by a signed webhook, delivered and settled', async () => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const provider = await startFakeProvider({
      secret: whsec,
      tells: ({ destination }) =>
        destination.endsWith('3077') ? { status: 'failed', error: { code: 'absent' } } : { status: 'delivered' },
    })
    atEnd.push(() => provider.stop())
    const gateway = await gatewayOf('http', 'SMS', { url: provider.url, secret: whsec })
    const statusUrl = `http://127.0.0.1:${port}/webhooks/${gateway.gatewayId}`
    await changeGateway(db.sql, gateway.gatewayId, { settings: { statusUrl } }, settingRulesOf('http'))
    await anEngine({ secret })
    const world = await aWorld(db.sql)
    const recipients = [...someRecipients(10), { destination: '79160003077' }]
    const dispatchId = await aDispatch(db.sql, numbering, world, recipients)
    await start(db.sql, world, dispatchId)

    const { messages } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ delivered: 10, failed: 1 })
    expect(Object.values(await fatesOf(db.sql, dispatchId)).reduce((sum, count) => sum + count, 0)).toBe(11)
    expect(provider.faults).toEqual([])
    expect(provider.taken).toHaveLength(11)
    await eventually(async () => expect(await inbox()).toEqual([]))
    await expectBooksInOrder(db.sql, world)
  })
})

describe('who calls', () => {
  test.each([
    ['with no signature', {}],
    ['with a signature of another key', signed(Buffer.alloc(32, 8), 't-1', '{"events":[]}')],
    ['with one of long ago', signed(webhookKey, 't-1', '{"events":[]}', new Date(Date.now() - 3_600_000))],
  ])('%s is not believed, and is not told why', async (_, headers) => {
    const { gatewayId } = await anHttpGateway()
    const answer = await post(gatewayId, '{"events":[]}', { 'content-type': 'application/json', ...headers })
    expect({ status: answer.statusCode, body: answer.json() }).toEqual({
      status: 401,
      body: { error: { code: 4010, msg: 'The signature or the token is wrong' } },
    })
    const forged = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'webhook.forged')
    expect(forged).toEqual([expect.objectContaining({ requestId: answer.headers['x-request-id'] })])
  })

  test('rightly and says nothing that can be read gets 400', async () => {
    const answer = await tell(await anHttpGateway(), { events: 'many' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({ error: { code: 4000, msg: 'body: cannot be read' } })
  })

  test.each(['999999', '0', 'x', '1e3', '99999999999999999999'])('gateway %s gets 404', async id => {
    const answer = await post(id, '{}', {})
    expect({ status: answer.statusCode, code: answer.json().error.code }).toEqual({ status: 404, code: 4040 })
  })

  test('a gateway without webhooks gets 404', async () => {
    const { gatewayId } = await aGateway(db.sql)
    expect((await post(gatewayId, '{}', {})).statusCode).toBe(404)
  })

  test('a gateway that has been removed gets 404 within a second', async () => {
    const gateway = await anHttpGateway()
    expect((await tell(gateway, { events: [] })).statusCode).toBe(200)
    await removeGateway(db.sql, gateway.gatewayId)
    await eventually(async () => expect((await tell(gateway, { events: [] })).statusCode).toBe(404))
  })

  test('a gateway whose secrets cannot be opened is asked to come again', async () => {
    const gateway = await anHttpGateway('another secret, also 32 or longer')
    const answer = await tell(gateway, { events: [] })
    expect({ status: answer.statusCode, retry: answer.headers['retry-after'] }).toEqual({ status: 503, retry: '60' })
    expect(answer.body).not.toContain('TIDINGS_SECRET')
  })

  test('with more than 4 MiB gets 413', async () => {
    const { gatewayId } = await anHttpGateway()
    const answer = await post(gatewayId, 'x'.repeat(4 * 1024 * 1024 + 1), { 'content-type': 'text/plain' })
    expect({ status: answer.statusCode, code: answer.json().error.code }).toEqual({ status: 413, code: 4130 })
  })

  test('may call the body what it likes', async () => {
    const gateway = await anHttpGateway()
    const body = '{"events":[]}'
    for (const type of [undefined, 'text/plain', 'application/json; charset=utf-8', 'application/vnd.provider']) {
      const headers = { ...(type ? { 'content-type': type } : {}), ...signed(webhookKey, 't-1', body) }
      expect((await post(gateway.gatewayId, body, headers)).statusCode, type).toBe(200)
    }
  })

  test('leaves no secret in the log', async () => {
    const gateway = await anHttpGateway()
    await post(gateway.gatewayId, '{}', {})
    await tell(gateway, {})
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('')).not.toContain(whsec)
  })
})

describe('WhatsApp', () => {
  const account = { phoneNumberId: '106540352242922', accessToken: 'EAAG', appSecret: 'shibboleth' }
  const aWhatsapp = (given: Record<string, unknown> = {}) =>
    gatewayOf('whatsapp', 'WHATSAPP', { ...account, verifyToken: 'mellon', ...given })

  test('asks whether the address is ours, and is answered in plain text', async () => {
    const { gatewayId } = await aWhatsapp()
    const ask = (token: string) =>
      app.inject(`/webhooks/${gatewayId}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`)
    const answer = await ask('mellon')
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 200, body: '1158201444' })
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    expect((await ask('friend')).statusCode).toBe(401)
  })

  test('leaves no token of its question in the log, right or wrong, known or unknown', async () => {
    const { gatewayId } = await aWhatsapp()
    const ask = async (id: number | string, query: string) => (await app.inject(`/webhooks/${id}?${query}`)).statusCode
    expect(await ask(gatewayId, 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=mellon')).toBe(200)
    expect(await ask(gatewayId, 'hub.mode=other&hub.challenge=1&hub.verify_token=mellon')).toBe(400)
    expect(await ask(gatewayId, 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=mellon-once')).toBe(401)
    expect(await ask(999_999, 'hub.mode=subscribe&hub.verify_token=mellon')).toBe(404)
    await withoutGateways(async () => expect(await ask('1', 'hub.verify_token=mellon')).toBe(500))
    expect(lines.join('')).toMatch(/webhook\.forged/)
    expect(lines.join('')).toMatch(/webhook\.unreadable/)
    expect(lines.join('')).not.toMatch(/mellon|shibboleth|EAAG/)
  })

  const tellStatuses = ({ gatewayId }: Gateway, statuses: object[]) => {
    const value = {
      metadata: { phone_number_id: '106540352242922', display_phone_number: '74950000000' },
      statuses,
    }
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ changes: [{ field: 'messages', value }] }],
    })
    const signature = `sha256=${createHmac('sha256', 'shibboleth').update(body).digest('hex')}`
    return post(gatewayId, body, { 'x-hub-signature-256': signature })
  }

  test('may tell as much at once as Meta says: 3 MB', async () => {
    const note = 'x'.repeat(3_000_000)
    const answer = await tellStatuses(await aWhatsapp(), [{ id: 'wamid.1', status: 'delivered', note }])
    expect(answer.statusCode).toBe(200)
    expect(await inbox()).toMatchObject([{ providerId: 'wamid.1', status: 'DELIVERED' }])
  })

  test('tells the end of a message whose submission it never answered', async () => {
    const world = await aWorld(db.sql)
    const { companyId } = world
    await anApprovedSender(db.sql, companyId, { channelType: 'WHATSAPP', senderName: 'ROMASHKA' })
    const { key } = await aKey(db.sql, companyId)
    const cloud = await startCloud({ ...account, apiVersion: 'v25.0', displayPhoneNumber: '74950000000' })
    atEnd.push(() => cloud.stop())
    cloud.play({ do: 'silence' })
    const gateway = await aWhatsapp({ baseUrl: cloud.url, timeoutMs: 2000, senderNames: 'ROMASHKA' })
    const content = { contentType: 'template', templateId: 'hello', parameters: [] }
    const sent = await app.inject({
      method: 'POST',
      url: '/api/v1/message',
      headers: { authorization: `Bearer ${key}` },
      payload: { channelType: 'WHATSAPP', senderName: 'ROMASHKA', destination: '79160001122', content },
    })
    const uuid = sent.json().items[0].messageUuid
    await anEngine({ secret })
    const statusIs = (status: string) =>
      eventually(async () =>
        expect(await db.sql`select status from messages where message_uuid = ${uuid}`).toEqual([{ status }]),
      )
    await statusIs('SENT')
    const delivered = { id: 'wamid.7', status: 'delivered', biz_opaque_callback_data: uuid }
    expect((await tellStatuses(gateway, [delivered])).statusCode).toBe(200)
    await statusIs('DELIVERED')
    await eventually(async () => expect(await inbox()).toEqual([]))
    expect(cloud.requests).toHaveLength(1)
    await expectBooksInOrder(db.sql, world)
  })

  test('tells that a message was read', async () => {
    const read = { id: 'wamid.1', status: 'read', timestamp: '1700000000' }
    expect((await tellStatuses(await aWhatsapp(), [read])).statusCode).toBe(200)
    expect(new Set((await inbox()).map(({ providerId, status }) => `${providerId} ${status}`))).toEqual(
      new Set(['wamid.1 DELIVERED', 'wamid.1 READ']),
    )
  })
})

describe('a bot of Telegram', () => {
  const token = `123:${'a'.repeat(35)}`
  const aBot = () => gatewayOf('telegram', 'TELEGRAM', { token, botName: 'shop_bot', webhookSecret: 'mellon' })
  const update = ({ gatewayId }: Gateway, message: Record<string, unknown>) =>
    post(gatewayId, JSON.stringify({ update_id: 1, message: { chat: { id: 777, type: 'private' }, ...message } }), {
      'content-type': 'application/json',
      'x-telegram-bot-api-secret-token': 'mellon',
    })

  test('leaves no secret of its header in the log, right or wrong', async () => {
    const bot = await aBot()
    const tellAs = async (given: string, body: string) =>
      (await post(bot.gatewayId, body, { 'x-telegram-bot-api-secret-token': given })).statusCode
    expect(await tellAs('mellon', '{"update_id":1}')).toBe(200)
    expect(await tellAs('mellon', 'no JSON')).toBe(400)
    expect(await tellAs('mellon-once', '{"update_id":1}')).toBe(401)
    await db.sql`delete from gateways`
    await eventually(async () => expect(await tellAs('mellon', '{"update_id":1}')).toBe(404))
    await withoutGateways(async () => expect(await tellAs('mellon', '{"update_id":1}')).toBe(500))
    expect(lines.join('')).toMatch(/webhook\.forged/)
    expect(lines.join('')).not.toMatch(/mellon|aaaaaaaaaa/)
  })

  test('tells whose chat it is, and a stop from that chat is a stop of that number', async () => {
    const companyId = await aCompany(db.sql, await aPartner(db.sql))
    await anApprovedSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot' })
    const bot = await aBot()
    const contact = { user_id: 777, phone_number: '79160001122' }
    expect((await update(bot, { from: { id: 777 }, contact })).statusCode).toBe(200)
    expect(await addressesOf(db.sql, bot.gatewayId, companyId, 'TELEGRAM', 'shop_bot', ['79160001122'])).toEqual(
      new Map([['79160001122', ['777']]]),
    )
    expect((await update(bot, { message_id: 5, date: 1_700_000_000, text: 'STOP' })).statusCode).toBe(200)
    expect(await blacklistedAmong(db.sql, companyId, ['79160001122'])).toEqual(new Set(['79160001122']))
  })

  test.each([
    ['@shop_bot', { botName: 'shop_bot' }],
    ['shop_bot', { senderNames: '@shop_bot' }],
  ])('brings the stop of a chat that was uploaded under %s to its company: with %o', async (senderName, name) => {
    const { companyId } = await aWorld(db.sql)
    const { key } = await aKey(db.sql, companyId)
    const [anna, boris] = ['79160001122', '79030001122']
    const call = (path: string, payload: object) =>
      app.inject({ method: 'POST', url: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` }, payload })
    const telegram = await startFakeTelegram({ token })
    atEnd.push(() => telegram.stop())
    const settings = { token, baseUrl: telegram.url, webhookSecret: 'mellon', ...name }
    const bot = await gatewayOf('telegram', 'TELEGRAM', settings)
    await db.sql`update gateways set companies = ${[companyId]}::bigint[] where gateway_id = ${bot.gatewayId}`
    const subscribers = [
      { destination: anna, externalId: 777 },
      { destination: boris, externalId: 778 },
    ]
    expect((await call('/subscribers', { channelType: 'TELEGRAM', senderName, subscribers })).json()).toEqual({
      accepted: 2,
      rejected: 0,
    })

    const content = { contentType: 'text', text: 'News' }
    const messages = [anna, boris].map(destination => ({ channelType: 'TELEGRAM', senderName, destination, content }))
    expect((await call('/message', messages)).json()).toMatchObject({ errors: false })
    expect((await update(bot, { message_id: 5, text: ' stop ' })).statusCode).toBe(200)
    await anEngine({ secret })
    await eventually(async () =>
      expect(
        await db.sql`select destination, status, error_code from messages where company_id = ${companyId}
          order by destination`,
      ).toEqual([
        { destination: boris, status: 'DELIVERED', errorCode: null },
        { destination: anna, status: 'FAILED', errorCode: errorCodes.blacklisted },
      ]),
    )
    expect(telegram.taken.map(({ chat }) => chat)).toEqual(['778'])
  })
})
