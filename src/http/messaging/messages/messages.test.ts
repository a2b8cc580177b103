import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChannelType } from '../../../base/channel-types.ts'
import { money } from '../../../base/money.ts'
import { addToBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { setBilling, topUp } from '../../../domain/ledger/ledger.ts'
import { suspendSender } from '../../../domain/senders/senders.ts'
import { countLockWaits } from '../../../testing/database.ts'
import { eventually } from '../../../testing/eventually.ts'
import { anApprovedSender, aSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { testOnOneServer } from '../../../testing/one-server.ts'
import { aWorld, type World } from '../../../testing/world.ts'

const api = useMessagingApi()
let world: World
let key: string

beforeAll(async () => {
  world = await aWorld(api.sql)
})

beforeEach(async () => {
  world = await aWorld(api.sql)
  key = (await aKey(api.sql, world.companyId)).key
})

type Form = Record<string, unknown>

const sms = (given: Form = {}): Form => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: numberOf.MTS,
  content: 'Hello',
  ...given,
})

const post = (body: unknown, headers: Record<string, string> = {}) =>
  api.call({ method: 'POST', path: '/message', body: body as object, key, headers })

const stored = async () =>
  await api.sql`select * from messages where company_id = ${world.companyId} order by message_uuid`

const accepted = (count: number) =>
  Array.from({ length: count }, () => ({ messageUuid: expect.any(String), code: 201 }))

describe('a request', () => {
  test('with one message, alone or in an array, is answered in the same way', async () => {
    for (const body of [sms(), [sms()]]) {
      expect(await post(body)).toMatchObject({ status: 200, body: { errors: false, items: accepted(1) } })
    }
    expect(await stored()).toHaveLength(2)
  })

  test('keeps everything that was said of a message', async () => {
    const form = sms({
      externalMessageId: 'order-17',
      tags: ['autumn', 'скидки_2026'],
      ttl: 600,
      hours: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23],
      days: [1, 2, 3, 4, 5, 6, 7],
      useLocalTime: false,
      callbackUrl: 'https://user:word@client.example/hook',
      callbackEvents: ['sent', 'delivered', 'price'],
      trafficType: 'SERVICE',
    })
    const { body } = await post([form])
    expect(body.items).toEqual([{ messageUuid: expect.any(String), code: 201, externalMessageId: 'order-17' }])
    const [row] = await stored()
    expect(row).toMatchObject({
      messageUuid: body.items[0].messageUuid,
      status: 'CREATED',
      text: 'Hello',
      parts: 1,
      channelType: 'SMS',
      senderName: 'ROMASHKA',
      externalId: 'order-17',
      trafficType: 'SERVICE',
      sendingMethod: 'API',
      callbackUrl: 'https://user:word@client.example/hook',
      callbackEvents: ['sent', 'delivered', 'price'],
      options: { tags: ['autumn', 'скидки_2026'], ttl: 600, useLocalTime: false, shortUrl: false },
    })
    expect(row!.centerId).toEqual(expect.any(Number))
    const shown = await api.call({ method: 'GET', path: `/message/${row!.messageUuid}`, key })
    expect(shown.body.callbackUrl).toBe('https://user:***@client.example/hook') // the password is for the sender alone
  })

  test('with empty lists, as public clients send them, has nothing set', async () => {
    const callbackUrl = 'https://client.example/hook'
    const { body } = await post(sms({ hours: [], days: [], tags: [], callbackUrl, callbackEvents: [] }))
    const [row] = await stored()
    expect(row).toMatchObject({
      options: { useLocalTime: true, shortUrl: false },
      callbackEvents: ['delivered'],
      sendAt: null,
    })
    expect(Object.keys(row!.options).sort()).toEqual(['shortUrl', 'useLocalTime'])
    const shown = await api.call({ method: 'GET', path: `/message/${body.items[0].messageUuid}`, key })
    expect(shown.body).toMatchObject({ hours: null, days: null, tags: null, callbackEvents: ['delivered'] })
  })

  test('reads ten digits that begin with 9 as a Russian number, unless a plus says otherwise', async () => {
    await post([
      sms({ destination: '9160000001' }),
      sms({ destination: '(916) 000-00-02' }),
      sms({ channelType: 'VK', senderName: 'shop', destination: '+95 9 123 4567' }),
    ])
    const destinations = (await stored()).map(({ destination }) => destination)
    expect(destinations).toEqual(['79160000001', '79160000002', '9591234567'])
    const found = (written: string) =>
      api.call({ method: 'GET', path: `/message?destination=${written}`, key }).then(({ body }) => body.total)
    expect(await found('9160000001')).toBe(1)
    expect(await found('%2B9591234567')).toBe(1)
    expect(await found('+9591234567')).toBe(1) // a plus that is not escaped
  })

  test('whose header and footer have the text null has neither', async () => {
    const content = { contentType: 'text', text: 'Hello', header: { text: null }, footer: { text: null } }
    expect((await post(sms({ channelType: 'WHATSAPP', senderName: 'SHOP', content }))).status).toBe(400) // no such name
    await anApprovedSender(api.sql, world.companyId, { senderName: 'SHOP', channelType: 'WHATSAPP' })
    expect((await post(sms({ channelType: 'WHATSAPP', senderName: 'SHOP', content }))).status).toBe(200)
    expect((await stored())[0]).toMatchObject({ content: { ...content, header: null, footer: null } })
  })

  test('the same externalMessageId may come twice', async () => {
    expect(await post([sms({ externalMessageId: 'a' }), sms({ externalMessageId: 'a' })])).toMatchObject({
      status: 200,
    })
  })

  test('with some wrong messages has the others accepted, in their places', async () => {
    const { status, body } = await post([
      sms(),
      sms({ destination: 'nobody' }),
      sms({ ttl: 59, externalMessageId: 'x' }),
      'no message',
      sms({ destination: numberOf.TELE2 }),
    ])
    expect(status).toBe(200)
    expect(body).toEqual({
      errors: true,
      items: [
        accepted(1)[0],
        { code: 400, error: { code: 7401, msg: expect.stringContaining('destination') } },
        { code: 400, error: { code: 4000, msg: 'ttl: must be 60 to 86400' }, externalMessageId: 'x' },
        { code: 400, error: { code: 4000, msg: expect.any(String) } },
        accepted(1)[0],
      ],
    })
    expect(await stored()).toHaveLength(2)
  })

  test('of which nothing is right is refused as a whole', async () => {
    expect(await post([sms({ ttl: 1 }), sms({ destination: '12' })])).toMatchObject({
      status: 400,
      body: { error: { code: 4000, msg: 'ttl: must be 60 to 86400' } },
    })
    expect(await post(sms({ destination: '12' }))).toMatchObject({ status: 400, body: { error: { code: 7401 } } })
    expect(await stored()).toHaveLength(0)
  })

  test.each([
    ['an empty array', []],
    ['1001 messages', Array.from({ length: 1001 }, () => sms())],
    ['a number', 5],
    ['a text', '"hello"'],
  ])('that is %s is refused', async (_, body) => {
    const headers = { 'content-type': 'application/json' }
    const payload = typeof body === 'object' ? body : String(body)
    expect(await post(payload, headers)).toMatchObject({ status: 400, body: { error: { code: 4000 } } })
  })

  test('of a thousand is taken whole, in order', async () => {
    const forms = Array.from({ length: 1000 }, (_, i) => sms({ content: `Number ${i}` }))
    const { body } = await post(forms)
    expect(body.items).toHaveLength(1000)
    const rows = await stored()
    expect(rows.map(({ text }) => text)).toEqual(forms.map(({ content }) => content))
    expect(rows.map(({ messageUuid }) => messageUuid)).toEqual(
      body.items.map((item: { messageUuid: string }) => item.messageUuid),
    )
  })

  test.each([
    ['SMS', 'ROMASHKA', 'Hello', 60],
    ['FLASHCALL', 'anyone', '1234', 30],
  ])('with a ttl out of the bounds of %s is told these', async (channelType, senderName, content, least) => {
    for (const ttl of [-1, 0, 5, least - 1, 86_401, 1e300])
      expect(await post(sms({ channelType, senderName, content, ttl }))).toMatchObject({
        status: 400,
        body: { error: { code: 4000, msg: `ttl: must be ${least} to 86400` } },
      })
  })
})

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'k1' }
  const cascade = {
    destination: numberOf.MTS,
    cascade: [
      { channelType: 'VK', senderName: 'anyone', content: 'Hello' },
      { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' },
    ],
  }
  const requests: [string, object][] = [
    ['/message', sms()],
    ['/message/cascade', cascade],
  ]
  const send = (path: string, body: object) => api.call({ method: 'POST', path, body, key, headers })
  const money402 = { status: 402, body: { error: { code: 4020 } } }
  const payIn = (amount: string) =>
    topUp(api.sql, world.companyId, { amount: money(amount) }, { billingZone: 'Europe/Moscow', now: new Date() })

  test.each(requests)('of %s is answered again, and sends nothing', async (path, body) => {
    const first = await send(path, [body])
    expect(first.status).toBe(200)
    expect((await send(path, [body])).body).toEqual(first.body)
    expect((await send(path, [body, body])).status).toBe(422)
    expect(await stored()).toHaveLength(1)
  })

  test.each(requests)('of %s that was refused for want of money is free once there is some', async (path, body) => {
    await setBilling(api.sql, world.companyId, 'PREPAID')
    expect(await send(path, body)).toMatchObject(money402)
    expect(await send(path, body)).toMatchObject(money402)
    await payIn('100')
    const first = await send(path, body)
    expect(first).toMatchObject({ status: 200, body: { errors: false } })
    expect((await send(path, body)).body).toEqual(first.body)
    expect(await stored()).toHaveLength(1)
  })

  test('that was refused is free for a corrected request too', async () => {
    expect((await send('/message', sms({ destination: '12' }))).status).toBe(400)
    expect((await send('/message', sms())).status).toBe(200)
  })

  test('of a batch that was refused in part is used up: a repetition gets the same answer, even after changes', async () => {
    await setBilling(api.sql, world.companyId, 'PREPAID')
    await payIn('12')
    const batch = [sms({ ttl: 1 }), sms(), sms(), sms({ destination: 'nobody' })]
    const first = await send('/message', batch)
    expect(first.status).toBe(200)
    expect(first.body.items.map(({ code }: { code: number }) => code)).toEqual([400, 201, 402, 400])
    await payIn('100')
    expect(await send('/message', batch)).toMatchObject({ status: 200, body: first.body })
    expect(await stored()).toHaveLength(1)
  })

  testOnOneServer.each(requests)('of %s that is still in flight is 409', async (path, body) => {
    let first: ReturnType<typeof send> | undefined
    await api.sql.begin(async sql => {
      await sql`select from accounts where company_id = ${world.companyId} for update`
      first = send(path, body)
      first.catch(() => {})
      await eventually(async () => expect(await countLockWaits(api.sql)).toBeGreaterThan(0))
      expect(await send(path, body)).toMatchObject({ status: 409, body: { error: { code: 4090 } } })
    })
    expect((await first!).status).toBe(200)
    expect(await stored()).toHaveLength(1)
  })
})

describe('a name', () => {
  const refusal = (msg: string) => ({ status: 400, body: { error: { code: 4000, msg: `senderName: ${msg}` } } })

  test('must be one of the company, approved, for the operator, and not suspended', async () => {
    expect(await post(sms({ senderName: 'UNKNOWN' }))).toMatchObject(refusal('there is no name UNKNOWN for SMS'))
    await aSender(api.sql, world.companyId, { senderName: 'FRESH' })
    expect(await post(sms({ senderName: 'FRESH' }))).toMatchObject(refusal('FRESH is not approved'))
    const mine = await anApprovedSender(api.sql, world.companyId, { senderName: 'MINE', brand: 'MTS' })
    expect(await post(sms({ senderName: 'MINE' }))).toMatchObject({ status: 200 })
    expect(await post(sms({ senderName: 'MINE', destination: numberOf.BEELINE }))).toMatchObject(
      refusal("MINE is not registered with the recipient's operator, BEELINE"),
    )
    await suspendSender(api.sql, mine, undefined)
    expect(await post(sms({ senderName: 'MINE' }))).toMatchObject(refusal('MINE is suspended'))
  })

  test('sms_promo needs no registration', async () => {
    expect(await post(sms({ senderName: 'sms_promo' }))).toMatchObject({ status: 200 })
    const [row] = await stored()
    expect(row).toMatchObject({ senderId: null, senderName: 'sms_promo' })
    expect(row!.price).toBeGreaterThan(0n)
  })
})

describe('money', () => {
  test('that is not there refuses what it does not reach for, with 402', async () => {
    await setBilling(api.sql, world.companyId, 'PREPAID')
    expect(await post(sms())).toMatchObject({ status: 402, body: { error: { code: 4020 } } })
    await topUp(api.sql, world.companyId, { amount: money('12') }, { billingZone: 'Europe/Moscow', now: new Date() })
    const { status, body } = await post([sms(), sms(), sms()])
    expect(status).toBe(200)
    expect(body.errors).toBe(true)
    expect(body.items[0]).toEqual(accepted(1)[0])
    expect(body.items[2]).toEqual({ code: 402, error: { code: 4020, msg: expect.any(String) } })
  })
})

test('a number on the blacklist is refused with 7402', async () => {
  await addToBlacklist(api.sql, world.companyId, numberOf.MTS, undefined)
  const { body } = await post([sms(), sms({ destination: numberOf.TELE2 })])
  expect(body.items).toEqual([{ code: 400, error: { code: 7402, msg: expect.any(String) } }, accepted(1)[0]])
})

describe('every channel', () => {
  const text = (words: string) => ({ contentType: 'text', text: words })
  const rows: [ChannelType, string, unknown, string][] = [
    ['SMS', 'ROMASHKA', 'Hello', 'Hello'],
    ['SMS', 'ROMASHKA', { text: 'Hello' }, 'Hello'],
    ['VK', 'anyone', 'Привет', 'Привет'],
    ['VIBER', 'ROMASHKA', 'Hello', 'Hello'],
    [
      'VIBER',
      'ROMASHKA',
      { ...text('Hi'), image: 'https://client.example/a.png', button: { text: 'Go', url: 'https://client.example/' } },
      'Hi',
    ],
    [
      'WHATSAPP',
      'ROMASHKA',
      {
        ...text('Hi'),
        header: { text: 'Shop' },
        footer: null,
        buttons: [
          { text: 'Site', url: 'https://client.example/' },
          { text: 'Call', phone: '+79160000000' },
        ],
      },
      'Hi',
    ],
    ['WHATSAPP', 'ROMASHKA', { contentType: 'template', templateId: 'sale', parameters: ['Anna', '10'] }, 'Anna 10'],
    ['WHATSAPP', 'ROMASHKA', { contentType: 'authentication', code: '4321' }, '4321'],
    ['TELEGRAM', 'shop_bot', text('Hi'), 'Hi'],
    ['FLASHCALL', 'x', '0042', '0042'],
    ['FLASHCALL', 'x', 4321, '4321'],
    ['VOICECODE', 'VoiceCode', text('Your code is 1 2 3 4'), 'Your code is 1 2 3 4'],
    ['TEXT_TO_SPEECH', '74950000000', { contentType: 'tts', text: 'Hello', sex: 'male', speed: 1.5 }, 'Hello'],
    ['WEASY', 'anyone', { text: 'Hi' }, 'Hi'],
    ['PUSH', 'shop', { text: 'Hi', title: 'Shop', url: 'https://client.example/', data: { a: 1 } }, 'Hi'],
  ]

  test.each(rows)('%s takes its content: %s %j', async (channelType, senderName, content, said) => {
    for (const channel of ['VIBER', 'WHATSAPP'] as const) {
      await anApprovedSender(api.sql, world.companyId, { channelType: channel, brand: 'MTS' })
    }
    const { status, body } = await post({ channelType, senderName, destination: numberOf.MTS, content })
    expect({ status, body }).toMatchObject({ status: 200, body: { errors: false } })
    const [row] = await stored()
    expect(row).toMatchObject({ channelType: channelType, senderName: senderName, text: said, parts: 1 })
    if (typeof content === 'object' && 'contentType' in content!) expect(row!.content).toEqual(content)
  })

  test.each<[ChannelType, string, unknown]>([
    ['SMS', 'ROMASHKA', 5],
    ['SMS', 'ROMASHKA', ''],
    ['SMS', 'ROMASHKA', { contentType: 'text' }],
    ['VK', 'x', 'a'.repeat(2049)],
    ['VIBER', 'ROMASHKA', { contentType: 'tts', text: 'Hi' }],
    ['VIBER', 'ROMASHKA', { ...text('Hi'), button: { text: 'Go' } }],
    ['WHATSAPP', 'ROMASHKA', 'Hi'],
    ['WHATSAPP', 'ROMASHKA', { contentType: 'template' }],
    ['WHATSAPP', 'ROMASHKA', { ...text('Hi'), buttons: [{ text: 'Neither' }] }],
    ['TELEGRAM', 'bot', 'Hi'],
    ['FLASHCALL', 'x', '12345'],
    ['FLASHCALL', 'x', 123],
    ['FLASHCALL', 'x', 'abcd'],
    ['VOICECODE', 'someone', text('Code 1234')],
    ['VOICECODE', 'voicecode', text('No code here 12')],
    ['TEXT_TO_SPEECH', 'name', { contentType: 'tts', text: 'Hi' }],
    ['TEXT_TO_SPEECH', '74950000000', { contentType: 'tts', text: 'Hi', speed: 3 }],
    ['PUSH', 'shop', { title: 'Only' }],
  ])('%s refuses a content of another form: %s %j', async (channelType, senderName, content) => {
    const answer = await post({ channelType, senderName, destination: numberOf.MTS, content })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 4000 } } })
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
