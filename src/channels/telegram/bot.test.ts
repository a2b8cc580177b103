import { afterEach, describe, expect, test } from 'vitest'
import { type Deed, json } from '../../testing/providers/fake-server.ts'
import { failure, startFakeTelegram, tooMany } from '../../testing/providers/telegram-bot-api.ts'
import { submitTo } from '../../testing/submitting.ts'
import { aFeed } from '../channel.contract.ts'
import type { Feed, Gone, Outgoing } from '../channel.ts'
import { createTelegramBot } from './bot.ts'

const secret = 'AAFakeFakeFakeFakeFakeFakeFakeFakeFa'
const token = `7000000001:${secret}`
const chat = '5550001'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

async function aBot(given: Record<string, unknown> = {}, feed: Feed = aFeed()) {
  const telegram = await startFakeTelegram({ token })
  const gone: Gone[] = []
  const bot = createTelegramBot(
    { token, baseUrl: telegram.url, ...given },
    { ...feed, gone: async address => void gone.push(address) },
  )
  atEnd.push(
    () => telegram.stop(),
    () => bot.stop(),
    () => expect(telegram.complaints).toEqual([]),
  )
  return { telegram, bot, gone }
}

let count = 0
const aMessage = (given: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 7,
  uuid: `01980000-0000-7000-8000-${String(++count).padStart(12, '0')}`,
  channelType: 'TELEGRAM',
  senderName: 'romashka_bot',
  destination: '79160000001',
  text: 'Good morning, Vera',
  parts: 1,
  attempts: 0,
  addresses: [chat],
  ...given,
})

describe('a request', () => {
  test('a text is sent to the chat unchanged, in any script', async () => {
    const { telegram, bot } = await aBot()
    const text = 'Доброе утро, Вера! <b>5 < 6</b> _и_ *так далее* 🌼'
    await submitTo(bot, aMessage({ text }))
    expect(telegram.taken).toEqual([{ chat, text }])
  })

  test('buttons with an address have one row each; buttons with a phone number are left out', async () => {
    const { telegram, bot } = await aBot()
    const content = {
      contentType: 'text' as const,
      text: 'Choose',
      button: { text: 'Shop', url: 'https://shop.example/' },
      buttons: [
        { text: 'Call', phone: '79160000002' },
        { text: 'News', url: 'https://news.example/1?a=b' },
      ],
    }
    await submitTo(bot, aMessage({ text: 'Choose', content }))
    expect(telegram.taken).toEqual([
      {
        chat,
        text: 'Choose',
        keyboard: [
          [{ text: 'Shop', url: 'https://shop.example/' }],
          [{ text: 'News', url: 'https://news.example/1?a=b' }],
        ],
      },
    ])
  })

  test('content without buttons has no keyboard', async () => {
    const { telegram, bot } = await aBot()
    await submitTo(bot, aMessage({ content: { contentType: 'text', text: 'x', buttons: null, button: null } }))
    await submitTo(bot, aMessage({ content: { contentType: 'authentication', code: '1234' } }))
    expect(telegram.taken.map(({ keyboard }) => keyboard)).toEqual([undefined, undefined])
  })

  test('4096 characters are accepted with any number of bytes, and 4097 are refused without a call', async () => {
    const { telegram, bot } = await aBot()
    const results = await submitTo(bot, aMessage({ text: '🌼'.repeat(4096) }), aMessage({ text: 'a'.repeat(4097) }))
    expect(results).toMatchObject([{ kind: 'accepted' }, { kind: 'refused', errorCode: 152 }])
    expect(telegram.requests()).toBe(1)
  })

  test('an accepted message is delivered in the same result; a refused message is not', async () => {
    const feed = aFeed()
    const { telegram, bot } = await aBot({}, feed)
    telegram.plan('2', failure(400, 'Bad Request: chat not found'))
    telegram.plan('3', failure(500, 'Internal Server Error'))
    const results = await submitTo(bot, aMessage(), aMessage({ addresses: ['2'] }), aMessage({ addresses: ['3'] }))
    expect(results).toEqual([
      { kind: 'accepted', delivered: true },
      expect.objectContaining({ kind: 'refused' }),
      expect.objectContaining({ kind: 'unknown' }),
    ])
    await bot.stop()
    expect(feed.taken).toEqual([])
  })
})

describe('chats', () => {
  test.each([[undefined], [[]], [['@news', '', '12 34', 'chat']]])('addresses %j are no chat: 150', async addresses => {
    const { telegram, bot } = await aBot()
    const [result] = await submitTo(bot, aMessage({ addresses }))
    expect(result).toMatchObject({ kind: 'refused', errorCode: 150 })
    expect(telegram.requests()).toBe(0)
  })

  test('after a closed chat the next one is tried', async () => {
    const { telegram, bot, gone } = await aBot()
    telegram.plan('1', failure(403, 'Forbidden: bot was blocked by the user'))
    telegram.plan('2', failure(403, 'Forbidden: user is deactivated'))
    const [result] = await submitTo(bot, aMessage({ addresses: ['1', '2', '3', '4'] }))
    expect(result).toMatchObject({ kind: 'accepted' })
    expect(telegram.taken.map(message => message.chat)).toEqual(['3'])
    expect(gone).toEqual([{ companyId: 7, channelType: 'TELEGRAM', senderName: 'romashka_bot', address: '2' }])
  })

  test('if a chat may have the message, no other chat gets it', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan('1', failure(500, 'Internal Server Error'))
    expect(await submitTo(bot, aMessage({ addresses: ['1', '2'] }))).toMatchObject([{ kind: 'unknown' }])
    expect(telegram.taken).toEqual([])
  })

  test('a group that has moved is followed once', async () => {
    const { telegram, bot, gone } = await aBot()
    const moved = (to: number) =>
      failure(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: to })
    telegram.plan('-1', moved(-1001))
    telegram.plan('-2', moved(-1002))
    telegram.plan('-1002', moved(-1003))
    const results = await submitTo(bot, aMessage({ addresses: ['-1'] }), aMessage({ addresses: ['-2'] }))
    expect(results).toMatchObject([{ kind: 'accepted' }, { kind: 'refused', errorCode: 456 }])
    expect(telegram.taken.map(message => message.chat)).toEqual(['-1001'])
    expect(gone).toEqual([])
  })

  test('if the end of a chat cannot be stored, the message still has its result', async () => {
    const feed = { ...aFeed(), gone: () => Promise.reject(new Error('not now')) }
    const telegram = await startFakeTelegram({ token })
    const bot = createTelegramBot({ token, baseUrl: telegram.url }, feed)
    atEnd.push(
      () => telegram.stop(),
      () => bot.stop(),
    )
    telegram.plan(chat, failure(400, 'Bad Request: chat not found'))
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'refused', errorCode: 150 }])
  })
})

describe('refusals', () => {
  test.each<[number, string, number, boolean]>([
    [403, 'Forbidden: bot was blocked by the user', 125, false],
    [403, 'Forbidden: bot was kicked from the supergroup chat', 125, false],
    [403, 'Forbidden: user is deactivated', 149, true],
    [403, 'Forbidden: the group chat was deleted', 149, true],
    [400, 'Bad Request: chat not found', 150, true],
    [400, 'Bad Request: user not found', 150, true],
    [403, "Forbidden: bot can't initiate conversation with a user", 150, false],
    [400, 'Bad Request: PEER_ID_INVALID', 150, false],
    [400, 'Bad Request: message is too long', 152, false],
    [400, 'Bad Request: message text is empty', 152, false],
    [400, "Bad Request: can't parse entities: unexpected end tag at byte offset 4", 152, false],
    [400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed", 152, false],
    [400, "Bad Request: inline keyboard button URL 'x' is invalid: Wrong HTTP URL", 152, false],
    [400, 'Bad Request: BUTTON_URL_INVALID', 152, false],
    [400, 'Bad Request: reply markup is too long', 152, false],
    [400, 'Bad Request: strings must be encoded in UTF-8', 152, false],
    [400, 'Bad Request: CHAT_WRITE_FORBIDDEN', 456, false],
    [403, "Forbidden: bot can't send messages to bots", 456, false],
    [413, 'Request Entity Too Large', 456, false],
  ])('%i "%s" is %i', async (status, description, errorCode, isGone) => {
    const { telegram, bot, gone } = await aBot()
    telegram.plan(chat, failure(status, description))
    const [result] = await submitTo(bot, aMessage())
    expect(result).toEqual({
      kind: 'refused',
      errorCode,
      reason: `Telegram: ${description}`,
      operatorError: description,
    })
    expect(gone.map(({ address }) => address)).toEqual(isGone ? [chat] : [])
  })
})

describe('limits', () => {
  test('a limited message is busy for the time of the limit', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, tooMany(17))
    const results = [...(await submitTo(bot, aMessage())), ...(await submitTo(bot, aMessage()))]
    expect(results).toMatchObject([{ kind: 'busy', retryAfterMs: 17_000 }, { kind: 'accepted' }])
  })

  test('a repeatedly limited chat does not delay other chats', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, tooMany(60), tooMany(60), tooMany(60), tooMany(60))
    for (let n = 0; n < 4; n++) expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy' }])
    expect(await submitTo(bot, aMessage({ addresses: ['2'] }))).toMatchObject([{ kind: 'accepted' }])
  })

  test('three limited chats in a row pause all messages', async () => {
    const { telegram, bot } = await aBot()
    for (const limited of ['1', '2', '3']) {
      telegram.plan(limited, tooMany(60))
      await submitTo(bot, aMessage({ addresses: [limited] }))
    }
    const [result] = await submitTo(bot, aMessage({ addresses: ['4'] }))
    expect(result).toMatchObject({ kind: 'busy', reason: 'Telegram asks to wait 60 s' })
    expect(telegram.requests()).toBe(3)
  })

  test('limited chats with a sent message between them pause no other chat', async () => {
    const { telegram, bot } = await aBot()
    for (const limited of ['1', '2', '3', '4']) {
      telegram.plan(limited, tooMany(60))
      await submitTo(bot, aMessage({ addresses: [limited] }))
      await submitTo(bot, aMessage())
    }
    expect(telegram.taken).toHaveLength(4)
  })

  test('a limit of an hour makes a message wait; a longer limit refuses it: 151', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, tooMany(3600), tooMany(3601))
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 3600_000 }])
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'refused', errorCode: 151 }])
  })

  test('a limit without a time takes it from the header, or half a minute', async () => {
    const { telegram, bot } = await aBot()
    const bare = { status: 429, body: '<h1>429</h1>' }
    telegram.plan(chat, { ...bare, headers: { 'retry-after': '9' } }, bare)
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 9000 }])
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 30_000 }])
  })
})

describe('trouble', () => {
  const unavailable = (status: number, headers = {}): Deed => ({ status, body: '<html>', headers })

  test.each<[string, Deed, object]>([
    ['500', failure(500, 'Internal Server Error'), { kind: 'unknown' }],
    ['502', unavailable(502), { kind: 'unknown' }],
    ['502 with a time', unavailable(502, { 'retry-after': '3' }), { kind: 'unknown' }],
    ['503', unavailable(503), { kind: 'unknown' }],
    ['503 with a time', unavailable(503, { 'retry-after': '4' }), { kind: 'busy', retryAfterMs: 4000 }],
    ['504 with a time', unavailable(504, { 'retry-after': '4' }), { kind: 'unknown' }],
    ['silence', 'silence', { kind: 'unknown', reason: 'no answer in time' }],
    ['a reset', 'reset', { kind: 'unknown' }],
    ['half an answer', 'half an answer', { kind: 'unknown' }],
    ['200 with no JSON', { status: 200, body: 'fine' }, { kind: 'unknown' }],
    ['200 without a number', json(200, { ok: true, result: {} }), { kind: 'unknown' }],
    ['200 with nothing', json(200, { ok: true, result: null }), { kind: 'unknown' }],
    ['200 with a list', json(200, []), { kind: 'unknown' }],
    ['a redirect', { status: 302, body: '', headers: { location: '/login' } }, { kind: 'busy', retryAfterMs: 60_000 }],
    ["a proxy's 403", { status: 403, body: '<html>' }, { kind: 'busy', retryAfterMs: 60_000 }],
    ['parameters that are none', json(400, { ok: false, parameters: 7 }), { kind: 'busy' }],
  ])('%s', async (_, deed, expected) => {
    const { telegram, bot, gone } = await aBot({ timeoutMs: deed === 'silence' ? 2000 : 5000 })
    telegram.plan(chat, deed)
    expect(await submitTo(bot, aMessage())).toMatchObject([expected])
    expect(gone).toEqual([])
  })

  test('503 with a time pauses all messages until then', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, unavailable(503, { 'retry-after': '60' }))
    await submitTo(bot, aMessage())
    expect(await submitTo(bot, aMessage({ addresses: ['2'] }))).toMatchObject([
      { kind: 'busy', reason: 'Telegram answered 503' },
    ])
    expect(bot.health().up).toBe(false)
    expect(telegram.requests()).toBe(1)
  })

  test('an unreachable server is busy', async () => {
    const { telegram, bot } = await aBot()
    await telegram.stop()
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', reason: 'the call failed: ECONNREFUSED' }])
  })

  test.each([
    ['7000000001:AAWrongWrongWrongWrongWrongWrongWron', ''],
    [token, '/elsewhere'],
  ])('a wrong token or address is tried once, and all messages wait', async (wrong, path) => {
    const { telegram } = await aBot()
    const bot = createTelegramBot({ token: wrong, baseUrl: telegram.url + path }, aFeed())
    atEnd.push(() => bot.stop())
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 300_000 }])
    expect(await submitTo(bot, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: expect.any(Number) }])
    expect(telegram.requests()).toBe(1)
    expect(bot.health().lastError).toMatch(/does not know the bot/)
  })
})

describe('secrets', () => {
  const echo = `/bot${token}/sendMessage bot7000000001%3A${secret} ${secret}`

  test.each<[string, Deed]>([
    ...[200, 400, 401, 403, 404, 409, 413, 418, 421, 429, 500, 502, 503].map((status): [string, Deed] => [
      `${status}`,
      failure(status, `Bad Request: ${echo}`),
    ]),
    ['a limit', failure(429, echo, { retry_after: 9999 })],
    ['a long word', failure(400, `${'x'.repeat(190)}${echo}`)],
    ['no JSON', { status: 400, body: echo }],
    ['a redirect', { status: 301, body: echo, headers: { location: `/bot${token}/sendMessage` } }],
    ['silence', 'silence'],
    ['reset', 'reset'],
    ['half an answer', 'half an answer'],
  ])('no reason contains the token: %s', async (_, deed) => {
    const { telegram, bot } = await aBot({ timeoutMs: 300 })
    telegram.plan(chat, deed)
    const results = await submitTo(bot, aMessage())
    const words = JSON.stringify([results, bot.health()])
    expect(results[0]!.kind).not.toBe('accepted')
    for (const part of [token, secret, secret.slice(0, 12)]) expect(words).not.toContain(part)
  })

  test('no reason contains the token: an unreachable server', async () => {
    const { telegram, bot } = await aBot()
    await telegram.stop()
    expect(JSON.stringify([await submitTo(bot, aMessage()), bot.health()])).not.toContain(secret)
  })

  test('the text of Telegram is cut', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, failure(400, 'y'.repeat(10_000)))
    const [result] = await submitTo(bot, aMessage())
    expect(JSON.stringify(result).length).toBeLessThan(1000)
  })

  test('the text of Telegram has no control characters', async () => {
    const { telegram, bot } = await aBot()
    telegram.plan(chat, failure(400, 'Bad\nRequest:\u001b[2J\0odd'))
    expect(await submitTo(bot, aMessage())).toMatchObject([{ operatorError: 'Bad Request: [2J odd' }])
  })
})
