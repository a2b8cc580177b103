import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import {
  errorBody,
  type FakeProviderOptions,
  type Reply,
  startFakeProvider,
} from '../../testing/providers/http-provider.ts'
import { startReceiver } from '../../testing/providers/http-webhook-receiver.ts'
import { aFeed } from '../channel.contract.ts'
import type { Channel, Inbound, Outgoing, SendResult } from '../channel.ts'
import { type RawSettings, secretsOf } from '../settings.ts'
import { createHttpGateway } from './http.ts'
import { httpSchema, readSettings } from './settings.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

describe('an answer', () => {
  const after = async (reply: Reply, settings: RawSettings = {}, message: Partial<Outgoing> = {}) => {
    const { channel } = await aGateway({ reply: () => reply }, settings)
    return submitOne(channel, message)
  }
  const json = (status: number, body: unknown, headers?: Record<string, string>): Reply => ({
    status,
    body: JSON.stringify(body),
    ...(headers ? { headers } : {}),
  })

  test.each([200, 202])('%i with an id is accepted', async status => {
    expect(await after(json(status, { id: 'abc' }))).toEqual({ kind: 'accepted', providerIds: ['abc'] })
    expect(await after(json(status, { id: 42, note: 'x' }))).toEqual({ kind: 'accepted', providerIds: ['42'] })
  })

  test('with ids names the parts', async () => {
    expect(await after(json(202, { ids: ['a', 'b', 3] }), {}, { parts: 3 })).toEqual({
      kind: 'accepted',
      providerIds: ['a', 'b', '3'],
    })
  })

  const bad = { code: 'bad_number', message: 'No such number' }
  test.each([
    [400, bad, 7401, 'No such number'],
    [422, { code: 'no_route' }, 455, 'no_route'],
    [400, { code: 'blocked' }, 7402, 'blocked'],
    [400, { code: 'bad_sender' }, 7403, 'bad_sender'],
    [400, { code: 'bad_text' }, 7405, 'bad_text'],
    [400, { code: 'content' }, 456, 'content'],
    [402, { code: 'expired' }, 453, 'expired'],
    [400, { code: 'quota_of_the_moon' }, 456, 'quota_of_the_moon'],
    [400, { code: 'toString' }, 456, 'toString'],
    [400, { code: 17 }, 456, '17'],
  ])('%i %j refuses with %i', async (status, error, errorCode, reason) => {
    const operatorError = String(error.code)
    expect(await after(json(status, { error }))).toEqual({ kind: 'refused', errorCode, reason, operatorError })
  })

  test('refuses with one short line, for any text of the provider', async () => {
    const error = { code: `a\0b${'c'.repeat(500)}`, message: `\x1b[31m${'d'.repeat(5000)}` }
    const refused = (await after(json(400, { error }))) as { reason: string; operatorError: string }
    expect(refused.operatorError).toBe(`a b${'c'.repeat(97)}`)
    expect(refused.reason).toMatch(/^\[31md{296}$/)
  })

  test.each([401, 403, 404, 405, 410])('%i is about the gateway: its messages wait for a minute', async status => {
    expect(await after(json(status, { error: bad }))).toMatchObject({
      kind: 'busy',
      reason: expect.stringContaining(String(status)),
      retryAfterMs: 60_000,
    })
  })

  test.each<[string, Reply]>([
    ['a 4xx without an error code', { status: 400, body: '<h1>Bad Request</h1>' }],
    ['a 4xx with an empty one', json(400, { error: { code: ' ' } })],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }],
  ])('with %s makes messages wait for a minute', async (_, reply) => {
    expect(await after(reply)).toMatchObject({ kind: 'busy', retryAfterMs: 60_000 })
  })

  test.each([429, 503])('%i with Retry-After pauses the provider for that time', async status => {
    const fake = await aGateway({ reply: () => ({ status, headers: { 'retry-after': '7' } }) })
    expect(await submitOne(fake.channel)).toMatchObject({ kind: 'busy', retryAfterMs: 7000 })
    expect(await submitOne(fake.channel)).toMatchObject({ kind: 'busy' })
    expect(fake.provider.bodies).toHaveLength(1)
  })

  test('429 without Retry-After pauses the provider for a second', async () => {
    expect(await after({ status: 429 })).toMatchObject({ kind: 'busy', retryAfterMs: 1000 })
  })

  test('429 with Retry-After 0 delays this message alone', async () => {
    const fake = await aGateway({
      reply: ({ text }) => (text === 'not me' ? { status: 429, headers: { 'retry-after': '0' } } : undefined),
    })
    expect(await submitOne(fake.channel, { text: 'not me' })).toMatchObject({ kind: 'busy', retryAfterMs: 1000 })
    expect(await submitOne(fake.channel)).toMatchObject({ kind: 'accepted' })
  })

  test('409 means that the provider still works on the message: it is sent again, to the same provider only', async () => {
    expect(await after(json(409, { error: { code: 'in_progress' } }))).toMatchObject({
      kind: 'lost',
      retryAfterMs: 1000,
    })
  })

  const troubles: [string, Reply][] = [
    ['500', { status: 500, body: errorBody('oops') }],
    ['502', { status: 502 }],
    ['503 without Retry-After', { status: 503 }],
    ['200 without an id', { status: 200, body: '{}' }],
    ['204', { status: 204 }],
    ['200 with broken JSON', { status: 200, body: '{"id": "a' }],
    ['200 with an array', { status: 200, body: '[{"id": "a"}]' }],
    ['200 with an id that is none', { status: 200, body: '{"id": "a b\\u0000"}' }],
    ['200 with no ids', { status: 200, body: '{"ids": []}' }],
    ['200 with an id twice', { status: 200, body: '{"ids": ["a", "a"]}' }],
    ['200 with an id too long', json(200, { id: 'a'.repeat(201) })],
    ['an answer without end', 'take and flood'],
  ]

  test.each(troubles)('with %s: the message may have been sent and is not sent again', async (_, reply) => {
    expect(await after(reply)).toMatchObject({ kind: 'unknown', reason: expect.any(String) })
  })

  test.each(troubles)('with %s from an idempotent provider: the message is sent again', async (_, reply) => {
    expect(await after(reply, { idempotent: true })).toMatchObject({ kind: 'lost', retryAfterMs: 10_000 })
  })

  const losses: Reply[] = ['reset', 'take and reset', 'take in silence', 'take and drip', 'take and break off']

  test.each(losses)('that does not come (%s): the message may have been sent and is not sent again', async reply => {
    expect(await after(reply, { timeoutMs: 2000 })).toMatchObject({ kind: 'unknown', reason: expect.any(String) })
  })

  test.each(losses)('that does not come (%s) from an idempotent provider: the message is lost', async reply => {
    expect(await after(reply, { timeoutMs: 2000, idempotent: true })).toMatchObject({ kind: 'lost' })
  })

  test('from a provider that closes the connection before it reads is unknown too', async () => {
    const { channel } = await aGateway({ hangsUp: () => true })
    expect(await submitOne(channel)).toMatchObject({ kind: 'unknown' })
  })

  test('without a connection is busy: nothing was sent', async () => {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise(resolve => server.close(resolve))
    for (const idempotent of [true, false]) {
      const channel = createHttpGateway({ url: `http://127.0.0.1:${port}`, secret, idempotent }, aFeed())
      expect(await submitOne(channel)).toMatchObject({ kind: 'busy', retryAfterMs: 5000 })
    }
  })
})

test('an idempotent provider accepts a message once, even if its answers are lost', async () => {
  const { channel, provider } = await aGateway(
    { idempotent: true, reply: (_, before) => (before < 2 ? 'take and reset' : undefined) },
    { idempotent: true },
  )
  const message = aMessage()
  const kinds = [
    await submitOne(channel, message),
    await submitOne(channel, message),
    await submitOne(channel, message),
  ]
  expect(kinds).toEqual([
    expect.objectContaining({ kind: 'lost' }),
    expect.objectContaining({ kind: 'lost' }),
    { kind: 'accepted', providerIds: ['p-1'] },
  ])
  expect({ taken: provider.taken.length, times: provider.times(message.uuid) }).toEqual({ taken: 1, times: 3 })
})

test('a gateway without the right to send goes down and gives the reason, without its secrets', async () => {
  const { channel } = await aGateway({ reply: () => ({ status: 401 }) }, { authorization: 'Bearer hunter2' })
  for (let i = 0; i < 5; i++) await submitOne(channel)
  expect(channel.health()).toMatchObject({ up: false, lastError: expect.stringContaining('401') })
  expect(JSON.stringify(channel.health())).not.toMatch(/hunter2|whsec/)
})

describe('a message', () => {
  const handedOver = async (message: Partial<Outgoing>, settings: RawSettings = {}) => {
    const { channel, provider } = await aGateway({}, settings)
    const result = await submitOne(channel, message)
    return { result, body: provider.bodies[0] && JSON.parse(provider.bodies[0]) }
  }
  const contentOf = async (message: Partial<Outgoing>) => (await handedOver(message)).body?.content

  test('has exactly these members', async () => {
    const expiresAt = new Date('2026-11-16T03:00:00.000Z')
    const message = aMessage({ parts: 2, text: 'Привет 👋', expiresAt })
    const { body } = await handedOver(message, { statusUrl: 'https://tidings.example/webhooks/7' })
    expect(body).toEqual({
      version: 1,
      id: message.uuid,
      channel: 'SMS',
      sender: 'ROMASHKA',
      destination: '79160000001',
      text: 'Привет 👋',
      parts: 2,
      expiresAt: '2026-11-16T03:00:00.000Z',
      statusUrl: 'https://tidings.example/webhooks/7',
    })
  })

  test('is sent to the address with the authorization unchanged', async () => {
    const { channel, provider } = await aGateway(
      { authorization: 'Basic dXNlcjpodW50ZXIy' },
      { authorization: ' Basic dXNlcjpodW50ZXIy ' },
    )
    await submitOne(channel)
    expect(provider.taken).toHaveLength(1)
  })

  test('of VIBER has its image and its button', async () => {
    const button = { text: 'Open', url: 'https://shop.example/' }
    const image = 'https://shop.example/a.png'
    const content = { contentType: 'text', text: 'Hello' } as const
    expect(await contentOf({ channelType: 'VIBER', content: { ...content, image, button } })).toEqual({ image, button })
    expect(await contentOf({ channelType: 'VIBER', content: { ...content, image: null, button } })).toEqual({ button })
    expect(await contentOf({ channelType: 'VIBER', content })).toBeUndefined()
    expect(await contentOf({ channelType: 'VIBER' })).toBeUndefined()
  })

  test.each(['SMS', 'VK', 'WEASY', 'TELEGRAM'] as const)('of %s is its text alone', async channelType => {
    const { body } = await handedOver({ channelType, content: { contentType: 'text', text: 'Hello', image: null } })
    expect(body).toMatchObject({ channel: channelType, text: 'Hello' })
    expect(body).not.toHaveProperty('content')
  })

  test.each([
    ['Your code is 1234', '1234'],
    ['Code 12345678!', '12345678'],
    ['1-2-3-4 is the code', '1234'],
    ['The code: 1, 2, 3, 4, 5', '12345'],
    ['Dial 12 34', '1234'],
    ['Order 17, code 4567', '4567'],
    ['It is 99 1. 2. 3. 4', '1234'],
  ])('of VOICECODE has the code in "%s"', async (text, code) => {
    const { body } = await handedOver({ channelType: 'VOICECODE', text })
    expect(body).toMatchObject({ text, content: { code } })
  })

  test.each([
    ['VOICECODE', 'No code'],
    ['VOICECODE', 'Call 79160000001'],
    ['VOICECODE', '1-2-3'],
    ['FLASHCALL', '123'],
    ['FLASHCALL', '12345'],
    ['FLASHCALL', 'Code 1234'],
  ] as const)('of %s without a code ("%s") is refused and nothing is sent', async (channelType, text) => {
    const { result, body } = await handedOver({ channelType, text })
    expect(result).toMatchObject({ kind: 'refused', errorCode: 7405 })
    expect(body).toBeUndefined()
  })

  test('of FLASHCALL has its four digits', async () => {
    expect(await contentOf({ channelType: 'FLASHCALL', text: '0042' })).toEqual({ code: '0042' })
  })

  test('of TEXT_TO_SPEECH has voice and speed', async () => {
    const content = { contentType: 'tts', text: 'Hello', sex: 'female', speed: 1.5 } as const
    expect(await contentOf({ channelType: 'TEXT_TO_SPEECH', content })).toEqual({ sex: 'female', speed: 1.5 })
    expect(await contentOf({ channelType: 'TEXT_TO_SPEECH', content: { ...content, sex: null } })).toEqual({
      speed: 1.5,
    })
  })

  test('of WHATSAPP has its text around the text, its template or its code', async () => {
    const around = {
      header: { text: 'Shop' },
      footer: { text: 'Bye' },
      buttons: [
        { text: 'Open', url: 'https://shop.example/' },
        { text: 'Call', phone: '79160000002' },
      ],
    }
    expect(
      await contentOf({ channelType: 'WHATSAPP', content: { contentType: 'text', text: 'Hi', ...around } }),
    ).toEqual(around)
    const template = { templateId: 'order_ready', parameters: ['17', ''] }
    expect(await contentOf({ channelType: 'WHATSAPP', content: { contentType: 'template', ...template } })).toEqual(
      template,
    )
    expect(
      await contentOf({ channelType: 'WHATSAPP', content: { contentType: 'authentication', code: '1234' } }),
    ).toEqual({ code: '1234' })
  })

  test('of PUSH has its title, link, image and data, and the addresses of the subscriber', async () => {
    const shown = {
      title: 'Shop',
      url: 'https://shop.example/',
      image: 'https://shop.example/a.png',
      data: { order: 17 },
    }
    const content = { contentType: 'push', text: 'Hello', ...shown } as const
    const { body } = await handedOver({ channelType: 'PUSH', content, addresses: ['device-1', 'device-2'] })
    expect(body).toMatchObject({ content: shown, addresses: ['device-1', 'device-2'] })
  })
})

describe('webhooks of the provider', () => {
  test('arrive as receipts and as messages of subscribers; a repeated webhook has the same content', async () => {
    const { feed, inbound, provider, receiver } = await aConversation()
    const at = '2026-11-15T02:24:09.304Z'
    const written = { id: 'in-1', from: '+79160000001', to: 'ROMASHKA', text: 'STOP', at }
    await provider.tell(receiver.url, { events: [{ id: 'p-1', status: 'read', at }], inbound: [written] }, 2)
    const receipt = { of: { providerId: 'p-1' }, status: 'READ', happenedAt: new Date(at) }
    const message = { from: '+79160000001', to: 'ROMASHKA', text: 'STOP', receivedAt: new Date(at), providerId: 'in-1' }
    expect(feed.taken).toEqual([receipt, receipt])
    expect(inbound).toEqual([message, message])
  })

  test('are repeated until the feed accepts them', async () => {
    const { feed, provider, receiver } = await aConversation({ refuses: 2 })
    await provider.tell(receiver.url, { events: [{ id: 'p-1', status: 'delivered' }] })
    expect(receiver.statuses).toEqual([500, 500, 204])
    expect(feed.taken).toHaveLength(1)
  })

  test('with another secret are rejected', async () => {
    const { feed, receiver } = await aConversation()
    const stranger = await startFakeProvider({ secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` })
    const told = stranger.tell(receiver.url, { events: [{ id: 'p-1', status: 'delivered' }] })
    await eventually(() => expect(receiver.statuses).toContain(401))
    await stranger.stop()
    await told
    expect(new Set(receiver.statuses)).toEqual(new Set([401]))
    expect(feed.taken).toEqual([])
  })

  async function aConversation(given: { refuses?: number } = {}) {
    const inbound: Inbound[] = []
    const feed = { ...aFeed(given), inbound: async (message: Inbound) => void inbound.push(message) }
    const receiver = await startReceiver({ secret }, feed)
    const provider = await startFakeProvider({ secret })
    atEnd.push(
      () => provider.stop(),
      () => receiver.close(),
    )
    return { feed, inbound, receiver, provider }
  }
})

describe('settings', () => {
  const least = { url: 'https://provider.example/messages', secret }

  test('have defaults for all settings but the address and the secret', () => {
    expect(readSettings(least)).toEqual({
      url: 'https://provider.example/messages',
      key: Buffer.alloc(32, 7),
      authorization: undefined,
      statusUrl: undefined,
      idempotent: false,
      window: 20,
      timeoutMs: 30_000,
    })
  })

  test.each<[string, unknown]>([
    ['url', undefined],
    ['url', 'provider.example'],
    ['secret', undefined],
    ['secret', ''],
    ['secret', 'whsec_'],
    ['secret', 'whsec_c2hvcnQ='],
    ['secret', Buffer.alloc(32, 7).toString('base64')],
    ['secret', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['secret', `whsec_${'-_'.repeat(22)}`],
    ['authorization', 'Bearer a\r\nx-other: b'],
    ['authorization', 'Bearer ключ'],
    ['statusUrl', 'nowhere'],
    ['idempotent', 'perhaps'],
    ['window', 0],
    ['timeoutMs', 'long'],
  ])('%s may not be %j', (name, value) => {
    expect(() => createHttpGateway({ ...least, [name]: value }, aFeed())).toThrow(`setting "${name}"`)
  })

  test('list the secret ones', () => {
    expect(secretsOf(httpSchema)).toEqual(['secret', 'authorization'])
  })
})

async function aGateway(options: Partial<FakeProviderOptions>, settings: RawSettings = {}) {
  const authorization = settings.authorization ? { authorization: String(settings.authorization).trim() } : {}
  const provider = await startFakeProvider({ secret, ...authorization, ...options })
  const channel = createHttpGateway({ url: provider.url, secret, ...settings }, aFeed())
  atEnd.push(
    () => channel.stop(),
    () => provider.stop(),
    () => expect(provider.faults).toEqual([]),
  )
  return { channel, provider }
}

let count = 0

const aMessage = (given: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 1,
  uuid: `01980000-0000-7000-8000-${String(++count).padStart(12, '0')}`,
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: '79160000001',
  text: 'Hello',
  parts: 1,
  attempts: 0,
  ...given,
})

async function submitOne(channel: Channel, message: Partial<Outgoing> = {}): Promise<SendResult> {
  const reports: SendResult[] = []
  await channel.submit(
    [aMessage(message)],
    (_, result) => reports.push(result),
    () => true,
  )
  expect(reports).toHaveLength(1)
  return reports[0]!
}
