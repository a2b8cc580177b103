import { afterEach, describe, expect, test } from 'vitest'
import { type Deed, json } from '../../testing/providers/fake-server.ts'
import { failure, startFakeGateway } from '../../testing/providers/telegram-gateway-api.ts'
import { startReceiver } from '../../testing/providers/telegram-webhook-receiver.ts'
import { submitTo } from '../../testing/submitting.ts'
import { aFeed } from '../channel.contract.ts'
import type { Outgoing, Receipt, SendResult } from '../channel.ts'
import { createTelegramGateway } from './gateway.ts'
import { readGatewayWebhook } from './webhook.ts'

const token = 'AAFakeGatewayToken+/='
const destination = '79160000001'
const number = `+${destination}`

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

async function aGateway(given: Record<string, unknown> = {}) {
  const telegram = await startFakeGateway({ token })
  const gateway = createTelegramGateway({ token, baseUrl: telegram.url, ...given }, aFeed())
  atEnd.push(
    () => telegram.stop(),
    () => telegram.quiet(),
    () => gateway.stop(),
    () => expect(telegram.complaints).toEqual([]),
  )
  return { telegram, gateway }
}

let count = 0
const aMessage = (given: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 7,
  uuid: `01980000-0000-7000-8000-${String(++count).padStart(12, '0')}`,
  channelType: 'TELEGRAM',
  senderName: 'ROMASHKA',
  destination,
  text: 'Your code is 271828. Do not share it.',
  parts: 1,
  attempts: 0,
  ...given,
})

describe('a request', () => {
  test('has the number with a plus, the code and our uuid', async () => {
    const { telegram, gateway } = await aGateway()
    const message = aMessage()
    expect(await submitTo(gateway, message)).toEqual([{ kind: 'accepted', providerIds: ['request1'] }])
    expect(telegram.taken).toEqual([{ phone_number: number, code: '271828', payload: message.uuid }])
  })

  test('has the values of the settings', async () => {
    const { telegram, gateway } = await aGateway({
      callbackUrl: 'http://127.0.0.1:9/hooks/1',
      senderUsername: '@romashka',
      ttlSeconds: 120,
    })
    await submitTo(gateway, aMessage())
    expect(telegram.taken).toMatchObject([
      { callback_url: 'http://127.0.0.1:9/hooks/1', sender_username: 'romashka', ttl: 120 },
    ])
  })

  test('has a time to live within the limits of Telegram, from the end of the message', async () => {
    const { telegram, gateway } = await aGateway({ ttlSeconds: 120 })
    const inSeconds = (seconds: number) => ({ expiresAt: new Date(Date.now() + seconds * 1000) })
    for (const seconds of [-5, 10, 100_000, 600]) await submitTo(gateway, aMessage(inSeconds(seconds)))
    const ttls = telegram.taken.map(({ ttl }) => ttl!)
    expect(ttls.slice(0, 3)).toEqual([30, 30, 3600])
    expect(ttls[3]).toBeGreaterThan(500)
    expect(ttls[3]).toBeLessThanOrEqual(600)
  })
})

describe('whether Telegram reaches a number', () => {
  const aCode = (given: Partial<Outgoing> = {}) => aMessage({ channelType: 'TELEGRAM_GATEWAY', ...given })

  test('is checked before a code, which is then sent under the same request for the same fee', async () => {
    const { telegram, gateway } = await aGateway()
    expect(await submitTo(gateway, aCode())).toEqual([{ kind: 'accepted', providerIds: ['request1'] }])
    expect(telegram.taken).toMatchObject([{ phone_number: number, request_id: 'request1', code: '271828' }])
    expect([telegram.checked, telegram.charged]).toEqual([[number], [number]])
  })

  test('and does not: the message is refused without a fee, and no code is sent', async () => {
    const { telegram, gateway } = await aGateway()
    telegram.lose(number)
    expect(await submitTo(gateway, aCode())).toMatchObject([{ kind: 'refused', errorCode: 149 }])
    expect([telegram.checked, telegram.taken, telegram.charged]).toEqual([[number], [], []])
  })

  test('is checked once for a delayed code: there is one fee', async () => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure('FLOOD_WAIT_5'))
    const code = aCode()
    expect(await submitTo(gateway, code)).toMatchObject([{ kind: 'busy', retryAfterMs: 5000 }])
    expect(await submitTo(gateway, code)).toEqual([{ kind: 'accepted', providerIds: ['request1'] }])
    expect(await submitTo(gateway, aCode())).toEqual([{ kind: 'accepted', providerIds: ['request2'] }])
    expect([telegram.checked, telegram.charged]).toEqual([
      [number, number],
      [number, number],
    ])
  })

  test.each<[string, Deed]>([
    ['silence', 'silence'],
    ['a reset', 'reset'],
    ['a server in trouble', { status: 500, body: '' }],
    ['no JSON', { status: 200, body: 'fine' }],
    ['no id', json(200, { ok: true })],
  ])('is checked again after %s: no code was sent', async (_, deed) => {
    const { telegram, gateway } = await aGateway({ timeoutMs: deed === 'silence' ? 2000 : 5000 })
    telegram.planCheck(number, deed)
    const code = aCode()
    expect(await submitTo(gateway, code)).toMatchObject([{ kind: 'busy' }])
    expect(telegram.taken).toEqual([])
    expect(await submitTo(gateway, code)).toMatchObject([{ kind: 'accepted' }])
  })

  test('is not checked for other messages, or if the settings say so', async () => {
    const { telegram, gateway } = await aGateway()
    await submitTo(gateway, aMessage())
    const { telegram: other, gateway: unasking } = await aGateway({ abilityCheck: 'false' })
    await submitTo(unasking, aCode())
    expect([telegram.checked, other.checked]).toEqual([[], []])
    expect([telegram.taken.length, other.taken.length]).toEqual([1, 1])
  })
})

describe('the code', () => {
  test.each<[string, string | undefined, number?]>([
    ['1234', '1234'],
    ['12345678 is yours', '12345678'],
    ['Код: 004217, никому', '004217'],
    ['4217 and once more 4217', '4217'],
    ['Call 79160000002, your code is 4217', '4217'],
    ['Order 12, code 4217', '4217'],
    ['Hello', undefined],
    ['123', undefined],
    ['123456789', undefined],
    ['4217 or 4218', undefined],
    ['In 2026 your code is 271828', undefined],
    ['In 2026 your code is 271828', '271828', 6],
    ['4217', undefined, 6],
    ['', undefined],
  ])('of "%s" is %s', async (text, code, codeLength) => {
    const { telegram, gateway } = await aGateway({ codeLength })
    const [result] = await submitTo(gateway, aMessage({ text }))
    expect(result).toMatchObject(code ? { kind: 'accepted' } : { kind: 'refused', errorCode: 152 })
    expect(telegram.taken.map(taken => taken.code)).toEqual(code ? [code] : [])
  })

  test('an authentication has a field for it', async () => {
    const { telegram, gateway } = await aGateway()
    const content = { contentType: 'authentication' as const, code: '5566' }
    await submitTo(gateway, aMessage({ text: 'In 2026 your code is 5566', content }))
    expect(telegram.taken).toMatchObject([{ code: '5566' }])
  })
})

describe('refusals', () => {
  test.each([
    ['PHONE_NUMBER_INVALID', 149],
    ['PHONE_NUMBER_NOT_FOUND', 149],
    ['PHONE_NUMBER_NOT_AVAILABLE', 149],
    ['CODE_INVALID', 152],
    ['CODE_LENGTH_INVALID', 152],
    ['CODE_LENGTH_REQUIRED', 152],
    ['PHONE_NUMBER_MISMATCH', 456],
    ['REQUEST_ID_INVALID', 456],
    ['PAYLOAD_INVALID', 456],
    ['TTL_INVALID', 456],
    ['SOMETHING_NEW', 456],
  ])('%s is %i, with any status', async (error, errorCode) => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure(error), failure(error, 400))
    const expected = { kind: 'refused', errorCode, reason: `Telegram: ${error}`, operatorError: error }
    expect(await submitTo(gateway, aMessage())).toEqual([expected])
    expect(await submitTo(gateway, aMessage())).toEqual([expected])
  })

  test('a message that was already sent is not sent again', async () => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure('MESSAGE_ALREADY_SENT'))
    const message = aMessage()
    expect(await submitTo(gateway, message)).toMatchObject([{ kind: 'unknown', taken: { 0: message.uuid } }])
  })

  test.each([
    'ACCESS_TOKEN_INVALID',
    'ACCESS_TOKEN_REQUIRED',
    'BALANCE_NOT_ENOUGH',
    'SENDER_USERNAME_INVALID',
    'SENDER_NOT_VERIFIED',
    'SENDER_NOT_OWNED',
    'CALLBACK_URL_INVALID',
    'UNKNOWN_METHOD',
  ])('%s is a mistake of our settings: all messages wait', async error => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure(error))
    expect(await submitTo(gateway, aMessage())).toMatchObject([{ kind: 'busy', retryAfterMs: 300_000 }])
    expect(await submitTo(gateway, aMessage({ destination: '79160000002' }))).toMatchObject([{ kind: 'busy' }])
    expect(telegram.taken).toEqual([])
    expect(gateway.health().lastError).toContain(error)
  })

  test('a wrong token is distinguished from a wrong number', async () => {
    const { telegram } = await aGateway()
    const gateway = createTelegramGateway({ token: 'AAWrong', baseUrl: telegram.url }, aFeed())
    atEnd.push(() => gateway.stop())
    expect(await submitTo(gateway, aMessage())).toMatchObject([
      { kind: 'busy', reason: 'Telegram: ACCESS_TOKEN_INVALID', retryAfterMs: 300_000 },
    ])
  })
})

describe('limits', () => {
  test('a FLOOD_WAIT makes messages wait for its time', async () => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure('FLOOD_WAIT_42'), failure('FLOOD_WAIT'), failure('FLOOD_WAIT_9', 429))
    const waits = []
    for (let n = 0; n < 3; n++) waits.push(...(await submitTo(gateway, aMessage())))
    expect(waits).toMatchObject([
      { kind: 'busy', retryAfterMs: 42_000 },
      { kind: 'busy', retryAfterMs: 30_000 },
      { kind: 'busy', retryAfterMs: 9000 },
    ])
    expect(await submitTo(gateway, aMessage())).toMatchObject([{ kind: 'accepted' }])
  })

  test('three limited numbers in a row pause all messages; a limit of more than an hour refuses: 151', async () => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, failure('FLOOD_WAIT_3601'))
    expect(await submitTo(gateway, aMessage())).toMatchObject([{ kind: 'refused', errorCode: 151 }])
    for (const limited of ['79160000011', '79160000012', '79160000013']) {
      telegram.plan(`+${limited}`, failure('FLOOD_WAIT_60'))
      await submitTo(gateway, aMessage({ destination: limited }))
    }
    expect(await submitTo(gateway, aMessage())).toMatchObject([{ kind: 'busy', reason: 'Telegram asks to wait 60 s' }])
    expect(telegram.taken).toEqual([])
  })
})

describe('trouble', () => {
  test.each<[string, Deed, object]>([
    ['500', failure('INTERNAL_ERROR', 500), { kind: 'unknown' }],
    ['502', { status: 502, body: '<html>' }, { kind: 'unknown' }],
    ['502 with a time', { status: 502, body: '', headers: { 'retry-after': '4' } }, { kind: 'unknown' }],
    ['503', { status: 503, body: '' }, { kind: 'unknown' }],
    [
      '503 with a time',
      { status: 503, body: '', headers: { 'retry-after': '4' } },
      { kind: 'busy', retryAfterMs: 4000 },
    ],
    [
      '429 with a time',
      { status: 429, body: '', headers: { 'retry-after': '4' } },
      { kind: 'busy', retryAfterMs: 4000 },
    ],
    ['401 without a word', { status: 401, body: '' }, { kind: 'busy', retryAfterMs: 300_000 }],
    ['silence', 'silence', { kind: 'unknown', reason: 'no answer in time' }],
    ['a reset', 'reset', { kind: 'unknown' }],
    ['half an answer', 'half an answer', { kind: 'unknown' }],
    ['200 with no JSON', { status: 200, body: 'fine' }, { kind: 'unknown' }],
    ['200 without an id', json(200, { ok: true, result: { request_id: '' } }), { kind: 'unknown' }],
    ['200 with an odd id', json(200, { ok: true, result: { request_id: 'request\n1' } }), { kind: 'unknown' }],
    ['200 with a huge id', json(200, { ok: true, result: { request_id: 'r'.repeat(201) } }), { kind: 'unknown' }],
    ['200 with nothing', json(200, { ok: true }), { kind: 'unknown' }],
    ['an error that is no word', json(200, { ok: false, error: 7 }), { kind: 'unknown' }],
    ["a proxy's 403", { status: 403, body: '<html>' }, { kind: 'busy', retryAfterMs: 60_000 }],
  ])('%s', async (_, deed, expected) => {
    const { telegram, gateway } = await aGateway({ timeoutMs: deed === 'silence' ? 2000 : 5000 })
    telegram.plan(number, deed)
    expect(await submitTo(gateway, aMessage())).toMatchObject([expected])
  })

  test('an unreachable server is busy', async () => {
    const { telegram, gateway } = await aGateway()
    await telegram.stop()
    expect(await submitTo(gateway, aMessage())).toMatchObject([{ kind: 'busy' }])
  })

  test.each<[string, Deed]>([
    ['an error', failure(`ODD Bearer ${token}`)],
    ['an error of ours', failure(`ACCESS_TOKEN_INVALID ${token}`)],
    ['a sent one', failure(`FLOOD_WAIT_5 ${token}`)],
    ['no JSON', { status: 400, body: token }],
    ['a server in trouble', { status: 500, body: token }],
  ])('no reason contains the token: %s', async (_, deed) => {
    const { telegram, gateway } = await aGateway()
    telegram.plan(number, deed)
    const results = await submitTo(gateway, aMessage())
    expect(results[0]!.kind).not.toBe('accepted')
    expect(JSON.stringify([results, gateway.health()])).not.toContain(token)
  })
})

test('reports arrive at the callback address as receipts, and are repeated until they are accepted', async () => {
  const receipts: Receipt[] = []
  let refusals = 3
  const receiver = await startReceiver(readGatewayWebhook, { token }, async batch => {
    if (refusals-- > 0) throw new Error('not now')
    receipts.push(...batch)
  })
  const { telegram, gateway } = await aGateway({ callbackUrl: receiver.url })
  atEnd.push(() => receiver.stop())
  telegram.become(number, 'sent', 'delivered', 'read')
  telegram.become('+79160000002', 'sent', 'expired')
  telegram.become('+79160000003', 'revoked')
  const results: SendResult[] = []
  for (const to of [destination, '79160000002', '79160000003'])
    results.push(...(await submitTo(gateway, aMessage({ destination: to }))))
  await telegram.quiet()

  const of = (index: number) => ({ providerId: (results[index] as { providerIds: string[] }).providerIds[0] })
  const statusesOf = (index: number) =>
    receipts
      .filter(receipt => JSON.stringify(receipt.of) === JSON.stringify(of(index)))
      .map(({ status, errorCode }) => [status, errorCode])
  expect(statusesOf(0)).toEqual([
    ['DELIVERED', undefined],
    ['DELIVERED', undefined],
    ['READ', undefined],
  ])
  expect(statusesOf(1)).toEqual([['FAILED', 7060]])
  expect(statusesOf(2)).toEqual([['FAILED', 601]])
})
