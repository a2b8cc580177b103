import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { startFakeTelegram } from '../../testing/providers/telegram-bot-api.ts'
import { signed } from '../../testing/providers/telegram-gateway-api.ts'
import { startReceiver } from '../../testing/providers/telegram-webhook-receiver.ts'
import type { RawSettings } from '../settings.ts'
import type { ReadWebhook, WebhookResult } from '../webhook.ts'
import { readGatewayWebhook, readWebhook } from './webhook.ts'

const now = new Date('2026-03-01T12:00:00Z')
const nowSeconds = now.getTime() / 1000

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

function ask(
  read: ReadWebhook,
  settings: RawSettings,
  headers: Record<string, string | undefined>,
  body: string | Uint8Array,
) {
  return read(settings, { method: 'POST', headers, query: {}, body: Buffer.from(body as string) }, now)
}

const nothing: WebhookResult = { kind: 'told', receipts: [], inbound: [], chats: [] }

describe('an update of the bot', () => {
  const token = '7000000001:AAFakeFakeFakeFakeFakeFakeFakeFakeFa'
  const webhookSecret = 'only-Telegram-knows_1'
  const settings = { token, webhookSecret, botName: '@romashka_bot' }
  const vera = { id: 5550001, is_bot: false, first_name: 'Vera' }
  const chat = { id: 5550001, type: 'private', first_name: 'Vera' }
  const message = (given: object) => ({
    update_id: 10,
    message: { message_id: 3, date: 1_772_000_000, from: vera, chat, ...given },
  })
  const membership = (status: string, given: object = {}) => ({
    update_id: 11,
    my_chat_member: {
      chat,
      from: vera,
      date: 1_772_000_000,
      old_chat_member: { user: { id: 7000000001, is_bot: true }, status: 'member' },
      new_chat_member: { user: { id: 7000000001, is_bot: true }, status },
      ...given,
    },
  })
  const read = (update: unknown, given: RawSettings = settings) =>
    ask(readWebhook, given, { 'x-telegram-bot-api-secret-token': webhookSecret }, JSON.stringify(update))

  test('a text is an inbound message from the chat', () => {
    expect(read(message({ text: 'СТОП' }))).toEqual({
      ...nothing,
      inbound: [
        {
          from: 'chat:5550001',
          to: 'romashka_bot',
          text: 'СТОП',
          receivedAt: new Date(1_772_000_000_000),
          providerId: '5550001:3',
        },
      ],
    })
  })

  test('a bot without a name has the number of its token', () => {
    expect(read(message({ text: 'hi' }), { token, webhookSecret })).toMatchObject({ inbound: [{ to: '7000000001' }] })
  })

  test.each([
    ['romashka_bot', 'romashka_bot'],
    [['@romashka_bot'], 'romashka_bot'],
    ['romashka_bot, @tulip_bot', '7000000001'],
  ])('or the only one of its sender names: of %j, %s', (senderNames, to) => {
    const given = { token, webhookSecret, senderNames }
    expect(read(message({ text: 'STOP' }), given)).toMatchObject({ inbound: [{ to }] })
  })

  test('a text without a date has the present time, and no NUL', () => {
    expect(read(message({ text: 'a\0b', date: 'x' }))).toMatchObject({ inbound: [{ text: 'ab', receivedAt: now }] })
  })

  test('a text from the future has the present time', () => {
    expect(read(message({ text: 'a', date: nowSeconds + 60 }))).toMatchObject({ inbound: [{ receivedAt: now }] })
  })

  test.each(['/start', '/start ref_42', '/start@romashka_bot'])(
    '%s opens the chat, and is no inbound message',
    text => {
      expect(read(message({ text }))).toEqual({ ...nothing, chats: [{ address: '5550001', gone: false }] })
    },
  )

  test('/started is a text like any other', () => {
    expect(read(message({ text: '/started' }))).toMatchObject({ inbound: [{ text: '/started' }], chats: [] })
  })

  test.each([
    ['79160000001', '79160000001'],
    ['+79160000001', '79160000001'],
    ['+7 916 000-00-01', '79160000001'],
    ['84912345678', '84912345678'],
  ])("the subscriber's own contact %s gives the number of the chat", (phone_number, destination) => {
    const contact = { phone_number, first_name: 'Vera', user_id: vera.id }
    expect(read(message({ contact }))).toEqual({
      ...nothing,
      chats: [{ address: '5550001', destination, gone: false }],
    })
  })

  test.each([
    ["someone else's", { phone_number: '79160000002', user_id: 5550002 }],
    ['one without an owner', { phone_number: '79160000002' }],
    ['one without a number', { user_id: vera.id }],
    ['a contact without a number', { phone_number: 'none', user_id: vera.id }],
  ])('a contact is ignored: %s', (_, contact) => {
    expect(read(message({ contact }))).toEqual(nothing)
  })

  test('a contact without a user, from a message without a sender, is ignored', () => {
    expect(read(message({ from: undefined, contact: { phone_number: '79160000001' } }))).toEqual(nothing)
  })

  test.each([
    ['kicked', [{ address: '5550001', gone: true }]],
    ['left', [{ address: '5550001', gone: true }]],
    ['member', [{ address: '5550001', gone: false }]],
    ['restricted', []],
  ])('a bot that becomes "%s"', (status, chats) => {
    expect(read(membership(status))).toEqual({ ...nothing, chats })
  })

  test.each([
    { id: -100777, type: 'supergroup', title: 'Flowers' },
    { id: 777, type: 'group', title: 'Flowers' },
    { id: -777, type: 'private' },
    { id: '777', type: 'private' },
  ])('an update in %j is ignored', elsewhere => {
    const contact = { phone_number: '79160000001', user_id: vera.id }
    expect(read(message({ chat: elsewhere, text: 'hi' }))).toEqual(nothing)
    expect(read(message({ chat: elsewhere, contact }))).toEqual(nothing)
    expect(read(membership('kicked', { chat: elsewhere }))).toEqual(nothing)
  })

  test.each([
    { update_id: 1, edited_message: { text: 'x' } },
    { update_id: 1, callback_query: {} },
    { update_id: 1 },
    message({ sticker: {} }),
  ])('an update of another kind is acknowledged without effect: %j', update => {
    expect(read(update)).toEqual(nothing)
  })

  test.each(['', 'x', '[]', '7', 'null', '{}', '{"update_id":"1"}', '{"message":{}}'])('unreadable: %s', body => {
    const headers = { 'x-telegram-bot-api-secret-token': webhookSecret }
    expect(ask(readWebhook, settings, headers, body)).toMatchObject({ kind: 'unreadable' })
  })

  test.each<[string, RawSettings, string | undefined]>([
    ['a wrong secret', settings, 'wrong'],
    ['a secret cut short', settings, webhookSecret.slice(0, -1)],
    ['a longer secret', settings, `${webhookSecret}1`],
    ['an empty secret', settings, ''],
    ['no secret', settings, undefined],
    ['a gateway without one', { token }, undefined],
    ['a gateway with an empty one', { token, webhookSecret: '' }, ''],
    ['settings that are none', { webhookSecret }, webhookSecret],
  ])('forged: %s', (_, given, secret) => {
    const headers = { 'x-telegram-bot-api-secret-token': secret }
    expect(ask(readWebhook, given, headers, JSON.stringify(message({ text: 'hi' })))).toMatchObject({ kind: 'forged' })
  })

  test('any body is read or unreadable with the secret, and forged without it', () => {
    fc.assert(
      fc.property(anyBody(message({ text: 'x' })), fc.string(), (body, wrong) => {
        fc.pre(wrong !== webhookSecret)
        const right = ask(readWebhook, settings, { 'x-telegram-bot-api-secret-token': webhookSecret }, body)
        expect(['told', 'unreadable']).toContain(right.kind)
        if (right.kind === 'told') for (const { address } of right.chats) expect(address).toMatch(/^\d+$/)
        expect(ask(readWebhook, settings, { 'x-telegram-bot-api-secret-token': wrong }, body).kind).toBe('forged')
      }),
    )
  })

  test('updates arrive over a socket', async () => {
    const telegram = await startFakeTelegram({ token, webhookSecret })
    const stranger = await startFakeTelegram({ token, webhookSecret: 'guessed' })
    const receiver = await startReceiver(readWebhook, settings, async () => {})
    atEnd.push(
      () => telegram.stop(),
      () => stranger.stop(),
      () => receiver.stop(),
    )
    expect(await telegram.tell(receiver.url, membership('kicked'))).toBe(true)
    expect(receiver.results).toEqual([{ ...nothing, chats: [{ address: '5550001', gone: true }] }])
    expect(await stranger.tell(receiver.url, membership('kicked'))).toBe(false)
    expect(receiver.results.at(-1)).toMatchObject({ kind: 'forged' })
  })
})

describe('a report of the Gateway API', () => {
  const token = 'AAFakeGatewayToken'
  const settings = { token }
  const report = (status: unknown, given: object = {}) =>
    JSON.stringify({
      request_id: 'request1',
      phone_number: '+79160000001',
      request_cost: 0.01,
      delivery_status: { status, updated_at: nowSeconds - 3 },
      ...given,
    })
  const read = (body: string, timestamp = String(nowSeconds)) =>
    ask(readGatewayWebhook, settings, signed(token, body, timestamp), body)
  const receipt = (status: string, rest: object = {}) => ({
    of: { providerId: 'request1' },
    status,
    happenedAt: new Date((nowSeconds - 3) * 1000),
    ...rest,
  })

  test.each([
    ['sent', []],
    ['delivered', [receipt('DELIVERED')]],
    ['read', [receipt('DELIVERED'), receipt('READ')]],
    ['expired', [receipt('FAILED', { errorCode: 7060, operatorError: 'expired' })]],
    ['revoked', [receipt('FAILED', { errorCode: 601, operatorError: 'revoked' })]],
    ['something new', []],
    [7, []],
  ])('%s', (status, receipts) => {
    expect(read(report(status))).toEqual({ ...nothing, receipts })
  })

  test('repeats our uuid, if the request had one', () => {
    const payload = '01980000-0000-7000-8000-000000000001'
    expect(read(report('delivered', { payload }))).toMatchObject({ receipts: [{ ownId: payload }] })
    for (const other of ['order 17', `${payload}0`, 7, null])
      expect(read(report('delivered', { payload: other }))).toEqual({ ...nothing, receipts: [receipt('DELIVERED')] })
  })

  test('whether the subscriber entered the right code is not read', () => {
    const verification_status = { status: 'code_invalid', updated_at: nowSeconds, code_entered: '1111' }
    expect(read(report('x', { delivery_status: undefined, verification_status }))).toEqual(nothing)
  })

  test.each([1e300, nowSeconds + 60])('an impossible or a future time becomes now: %d', updated_at => {
    const delivery_status = { status: 'delivered', updated_at }
    expect(read(report('x', { delivery_status }))).toMatchObject({ receipts: [{ happenedAt: now }] })
  })

  test.each([
    '',
    'x',
    '[]',
    '{}',
    '{"request_id":7}',
    '{"request_id":""}',
    '{"request_id":"a\\u0000"}',
    '{"request_id":"a\\n"}',
  ])('unreadable: %s', body => {
    expect(read(body)).toMatchObject({ kind: 'unreadable' })
  })

  test('the signature is the documented one', () => {
    // HMAC-SHA256 of "1772366400\n{}" with SHA256("AAFakeGatewayToken"), computed with another program
    expect(signed(token, '{}', '1772366400')['x-request-signature']).toBe(
      '2d8ebe3559ffe0f95650346462c01fb05e1fc8be7f08da06875626ea7c8ba6a0',
    )
  })

  test('a report of five minutes ago is accepted; an older report, or one from the future, is forged', () => {
    for (const seconds of [-300, 0, 300])
      expect(read(report('delivered'), String(nowSeconds + seconds)).kind).toBe('told')
    for (const seconds of [-301, 301, -86_400, 1e9])
      expect(read(report('delivered'), String(nowSeconds + seconds)).kind).toBe('forged')
  })

  test.each(['', 'now', '-1', '1e9', `${nowSeconds}.0`, ` ${nowSeconds}`, `0x${nowSeconds.toString(16)}`])(
    'a timestamp "%s" is forged, though signed',
    timestamp => {
      expect(read(report('delivered'), timestamp)).toMatchObject({ kind: 'forged' })
    },
  )

  test('forged: any other token, timestamp, body or signature, and a missing signature', () => {
    const body = report('delivered')
    const right = signed(token, body, String(nowSeconds))
    const wrong: [RawSettings, Record<string, string | undefined>, string][] = [
      [settings, signed('AAOther', body, String(nowSeconds)), body],
      [settings, { ...right, 'x-request-timestamp': String(nowSeconds + 1) }, body],
      [settings, { ...right, 'x-request-timestamp': undefined }, body],
      [settings, right, `${body} `],
      [settings, { ...right, 'x-request-signature': right['x-request-signature'].slice(0, -1) }, body],
      [settings, { ...right, 'x-request-signature': '' }, body],
      [settings, { ...right, 'x-request-signature': undefined }, body],
      [settings, {}, body],
      [{}, right, body],
    ]
    expect(ask(readGatewayWebhook, settings, right, body).kind).toBe('told')
    for (const [given, headers, text] of wrong)
      expect(ask(readGatewayWebhook, given, headers, text)).toMatchObject({ kind: 'forged' })
  })

  test('any body is read or unreadable with a signature, and forged otherwise', () => {
    fc.assert(
      fc.property(anyBody(JSON.parse(report('read'))), fc.string(), (body, wrong) => {
        const headers = signed(token, body, String(nowSeconds))
        expect(['told', 'unreadable']).toContain(ask(readGatewayWebhook, settings, headers, body).kind)
        const forgery = { ...headers, 'x-request-signature': wrong }
        expect(ask(readGatewayWebhook, settings, forgery, body).kind).toBe('forged')
      }),
    )
  })
})

/** Random bytes, random JSON, and readable bodies with one wrong value. */
function anyBody(sound: object): fc.Arbitrary<string | Uint8Array> {
  const paths = pathsOf(sound)
  const spoiled = fc
    .tuple(fc.constantFrom(...paths), fc.jsonValue())
    .map(([path, value]) => JSON.stringify(replaced(sound, path, value)))
  return fc.oneof(fc.uint8Array(), fc.json(), spoiled)
}

const pathsOf = (value: unknown): string[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsOf(inner).map(path => [key, ...path])])
    : []

function replaced(value: unknown, [key, ...rest]: string[], by: unknown): unknown {
  const fields = value as Record<string, unknown>
  return { ...fields, [key!]: rest.length > 0 ? replaced(fields[key!], rest, by) : by }
}
