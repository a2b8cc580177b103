import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noticeOf, signatureOf, statusOf } from '../../testing/providers/whatsapp-cloud-api.ts'
import type { WebhookRequest } from '../webhook.ts'
import { readWebhook } from './webhook.ts'

const settings = {
  phoneNumberId: '106540352242922',
  accessToken: 'EAAJB-token',
  appSecret: 'app-secret',
  verifyToken: 'verify-token',
}
const number = { phoneNumberId: settings.phoneNumberId, displayPhoneNumber: '+7 495 000-00-00' }
const now = new Date('2026-02-16T12:00:00Z')
const then = new Date(1771200000_000)

const post = (body: Buffer | string, signature: string | undefined = signatureOf(body, settings.appSecret)) => {
  const request: WebhookRequest = {
    method: 'POST',
    headers: { 'x-hub-signature-256': signature },
    query: {},
    body: Buffer.from(body),
  }
  return request
}

const read = (notice: unknown, raw: Record<string, unknown> = settings) =>
  readWebhook(raw, post(JSON.stringify(notice)), now)

const told = (...values: object[]) => read(noticeOf(number, values))
const nothing = { kind: 'told', receipts: [], inbound: [], chats: [] }

describe('a subscription', () => {
  const ask = (query: Record<string, string | undefined>) =>
    readWebhook(settings, { method: 'GET', headers: {}, query, body: Buffer.alloc(0) }, now)
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': 'verify-token', 'hub.challenge': '1158201444' }

  test('with our token is answered with its challenge', () => {
    expect(ask(right)).toEqual({ kind: 'asked', answer: '1158201444' })
  })

  test.each([undefined, '', 'verify-toke', 'verify-token ', 'VERIFY-TOKEN'])('with the token %j is forged', token => {
    expect(ask({ ...right, 'hub.verify_token': token })).toEqual({ kind: 'forged', reason: 'wrong verify token' })
  })

  test.each([{ 'hub.mode': 'unsubscribe' }, { 'hub.mode': undefined }, { 'hub.challenge': undefined }])(
    'with %o is unreadable',
    change => {
      expect(ask({ ...right, ...change })).toMatchObject({ kind: 'unreadable' })
    },
  )
})

describe('a signature', () => {
  const body = JSON.stringify(noticeOf(number, []))
  const right = signatureOf(body, settings.appSecret)

  test('of the application makes a webhook valid', () => {
    expect(readWebhook(settings, post(body, right), now)).toEqual(nothing)
    expect(
      readWebhook(
        settings,
        post(
          body,
          right.replace(/[a-f]/g, hex => hex.toUpperCase()),
        ),
        now,
      ),
    ).toEqual(nothing)
  })

  test.each([
    '',
    'sha256=',
    right.slice(7),
    right.slice(0, -1),
    `${right}0`,
    right.replace('sha256', 'sha1'),
    signatureOf(body, 'another'),
    signatureOf(`${body} `, settings.appSecret),
    signatureOf(body, ''),
  ])('%j is wrong', signature => {
    expect(readWebhook(settings, post(body, signature), now)).toEqual({ kind: 'forged', reason: 'wrong signature' })
  })

  test('that is missing is wrong', () => {
    const request = { ...post(body), headers: {} }
    expect(readWebhook(settings, request, now)).toEqual({ kind: 'forged', reason: 'wrong signature' })
  })

  test('is computed from the bytes, not from their meaning', () => {
    const spaced = JSON.stringify(JSON.parse(body), null, 1)
    expect(readWebhook(settings, post(spaced, right), now)).toMatchObject({ kind: 'forged' })
    expect(readWebhook(settings, post(spaced), now)).toEqual(nothing)
  })

  test('cannot be checked without a secret, so every webhook is rejected', () => {
    expect(readWebhook({ ...settings, appSecret: '' }, post(body, signatureOf(body, '')), now)).toEqual({
      kind: 'forged',
      reason: 'setting "appSecret" is empty',
    })
  })
})

describe('receipts', () => {
  const of = { providerId: 'wamid.1' }
  const status = (kind: string, change: object = {}) =>
    told({ statuses: [{ ...statusOf('wamid.1', '79161234567', kind), ...change }] })

  test('the status "sent" is ignored', () => {
    expect(status('sent')).toEqual(nothing)
  })

  test('delivered', () => {
    expect(status('delivered')).toEqual({ ...nothing, receipts: [{ of, status: 'DELIVERED', happenedAt: then }] })
  })

  test('"read" means delivered too', () => {
    expect(status('read')).toEqual({
      ...nothing,
      receipts: [
        { of, status: 'DELIVERED', happenedAt: then },
        { of, status: 'READ', happenedAt: then },
      ],
    })
  })

  test.each([
    [[{ code: 131026 }, { code: 1 }], { errorCode: 601, operatorError: '131026' }],
    [[{ code: 131047 }], { errorCode: 456, operatorError: '131047' }],
    [[{ code: '131049' }], { errorCode: 456, operatorError: '131049' }],
    [[{ code: '1310\n49\0' }], { errorCode: 456, operatorError: '1310 49' }],
    [[{ code: 'x'.repeat(5000) }], { errorCode: 456, operatorError: 'x'.repeat(200) }],
    [[{ code: '\0' }], { errorCode: 456 }],
    [[{}], { errorCode: 456 }],
    [[], { errorCode: 456 }],
    [undefined, { errorCode: 456 }],
    ['why not', { errorCode: 456 }],
  ])('failed with the errors %j', (errors, expected) => {
    expect(status('failed', { errors })).toEqual({
      ...nothing,
      receipts: [{ of, status: 'FAILED', happenedAt: then, ...expected }],
    })
  })

  test.each([undefined, '', 'yesterday', '-5', '99999999999999', '9999999999', 1e300, {}])(
    'happened now when their time is %j',
    timestamp => {
      expect(status('delivered', { timestamp })).toMatchObject({ receipts: [{ happenedAt: now }] })
    },
  )

  test('repeat our uuid, if our request had one', () => {
    const uuid = '01980000-0000-7000-8000-000000000001'
    expect(status('read', { biz_opaque_callback_data: uuid })).toMatchObject({
      receipts: [{ ownId: uuid }, { ownId: uuid }],
    })
    for (const other of ['order 17', `${uuid}0`, 7, null]) {
      const { receipts } = status('delivered', { biz_opaque_callback_data: other }) as { receipts: object[] }
      expect(receipts).toEqual([{ of, status: 'DELIVERED', happenedAt: then }])
    }
  })

  test.each(['deleted', 'warning', 'constructor', ''])('of the kind %j are ignored', kind => {
    expect(status(kind)).toEqual(nothing)
  })

  test.each([undefined, '', 'wamid\0', 'wamid\n1', 'w'.repeat(201)])('with the id %j are ignored', id => {
    expect(status('delivered', { id })).toEqual(nothing)
  })
})

describe('messages of subscribers', () => {
  const message = { from: '79161234567', id: 'wamid.7', timestamp: '1771200000' }
  const inbound = { from: '+79161234567', to: '74950000000', receivedAt: then, providerId: 'wamid.7' }

  test.each([
    [{ type: 'text', text: { body: 'Привет' } }, 'Привет'],
    [{ type: 'button', button: { payload: 'no', text: 'Отписаться' } }, 'Отписаться'],
    [{ type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Да' } } }, 'Да'],
    [{ type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: 'Завтра' } } }, 'Завтра'],
    [{ type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: {} } }, ''],
    [{ type: 'image', image: { id: '5', caption: 'Чек' } }, 'Чек'],
    [{ type: 'audio', audio: { id: '5', voice: true } }, ''],
    [{ type: 'location', location: { latitude: 55, longitude: 37 } }, ''],
    [{ type: 'unsupported', errors: [{ code: 131051 }] }, ''],
    [{ type: 'text', text: { body: 'a\0b' } }, 'ab'],
    [{ type: 'text' }, ''],
    [{}, ''],
  ])('%j is a message with the text %j', (given, text) => {
    expect(told({ messages: [{ ...message, ...given }] })).toEqual({ ...nothing, inbound: [{ ...inbound, text }] })
  })

  test.each([
    { type: 'reaction', reaction: { message_id: 'wamid.1', emoji: '👍' } },
    { type: 'system', system: { body: 'changed the number', type: 'user_changed_number' } },
    { type: 'text', text: { body: 'Hi' }, from: undefined, from_user_id: 'RU.13491208655302741918' },
  ])('%j is no message', given => {
    expect(told({ messages: [{ ...message, ...given }] })).toEqual(nothing)
  })

  test('go to our sender name if the gateway has one', () => {
    const notice = noticeOf(number, [{ messages: [{ ...message, type: 'text', text: { body: 'Hi' } }] }])
    expect(read(notice, { ...settings, senderName: 'Ромашка' })).toMatchObject({ inbound: [{ to: 'Ромашка' }] })
  })

  test('or, if the gateway has only one sender name, to that name', () => {
    const notice = noticeOf(number, [{ messages: [{ ...message, type: 'text', text: { body: 'Hi' } }] }])
    const toOf = (more: object) => read(notice, { ...settings, ...more })
    expect(toOf({ senderNames: 'ROMASHKA' })).toMatchObject({ inbound: [{ to: 'ROMASHKA' }] })
    expect(toOf({ senderNames: ['ROMASHKA'], senderName: 'Ромашка' })).toMatchObject({ inbound: [{ to: 'Ромашка' }] })
    expect(toOf({ senderNames: 'ROMASHKA,TULIP' })).toMatchObject({ inbound: [{ to: '74950000000' }] })
  })
})

describe('a webhook', () => {
  const message = { from: '79161234567', id: 'wamid.7', timestamp: '1771200000', type: 'text', text: { body: 'Hi' } }
  const delivered = (id: string) => statusOf(id, '79161234567', 'delivered')

  test('may have many statuses and messages in several entries', () => {
    const [first] = noticeOf(number, [
      { statuses: [delivered('a'), delivered('b')] },
      { messages: [message, message], statuses: [delivered('c')] },
    ]).entry
    const [second] = noticeOf(number, [{ statuses: [delivered('d')] }]).entry
    const result = read({ object: 'whatsapp_business_account', entry: [first, second] })
    expect(result).toMatchObject({ kind: 'told', inbound: [{ text: 'Hi' }, { text: 'Hi' }] })
    expect((result as { receipts: { of: unknown }[] }).receipts.map(({ of }) => of)).toEqual(
      ['a', 'b', 'c', 'd'].map(providerId => ({ providerId })),
    )
  })

  test('about another number of the application is ignored', () => {
    const value = { messages: [message], statuses: [delivered('a')] }
    expect(read(noticeOf({ ...number, phoneNumberId: '7' }, [value]))).toEqual(nothing)
  })

  test('about something else is ignored', () => {
    const notice = noticeOf(number, [{ statuses: [delivered('a')] }])
    notice.entry[0]!.changes[0]!.field = 'message_template_status_update'
    expect(read(notice)).toEqual(nothing)
  })

  test.each(['', 'not json', 'null', '[]', '"text"', '{}', '{"object":"page","entry":[]}', '\ud800'])(
    'that says %j is unreadable',
    body => {
      expect(readWebhook(settings, post(body), now)).toMatchObject({ kind: 'unreadable' })
    },
  )
})

describe('any input', () => {
  const whole = noticeOf(number, [
    {
      contacts: [{ profile: { name: 'Anna' }, wa_id: '79161234567' }],
      messages: [{ from: '79161234567', id: 'wamid.7', timestamp: '1771200000', type: 'text', text: { body: 'Hi' } }],
      statuses: [statusOf('wamid.1', '79161234567', 'failed'), statusOf('wamid.2', '79161234567', 'read')],
    },
  ])
  const bytes = Buffer.from(JSON.stringify(whole))

  test('a webhook with changed bytes is always forged', () => {
    const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 5,
    })
    fc.assert(
      fc.property(changes, changes => {
        const changed = Buffer.from(bytes)
        for (const [at, by] of changes) changed[at]! ^= by
        fc.pre(!changed.equals(bytes))
        expect(readWebhook(settings, post(changed, signatureOf(bytes, settings.appSecret)), now).kind).toBe('forged')
      }),
    )
  })

  test('any wrong signature is forged', () => {
    const signature = fc.oneof(fc.string(), fc.stringMatching(/^sha256=[0-9a-f]{64}$/))
    fc.assert(
      fc.property(signature, signature => {
        expect(readWebhook(settings, post(bytes, signature), now).kind).toBe('forged')
      }),
    )
  })

  test('any bytes with the right signature are read or unreadable, and never throw', () => {
    const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 5 })
    fc.assert(
      fc.property(changes, fc.nat(bytes.length), (changes, length) => {
        const changed = Buffer.from(bytes)
        for (const [at, to] of changes) changed[at] = to
        for (const body of [changed, changed.subarray(0, length)])
          expect(['told', 'unreadable']).toContain(readWebhook(settings, post(body), now).kind)
      }),
      { numRuns: 500 },
    )
  })

  test('any value in any place of a webhook gives complete receipts and messages, or none', () => {
    fc.assert(
      fc.property(fc.nat(), fc.jsonValue(), (place, value) => {
        const result = read(withSomethingElse(whole, place, value))
        expect(['told', 'unreadable']).toContain(result.kind)
        if (result.kind !== 'told') return
        for (const { of, happenedAt, status } of result.receipts) {
          expect('providerId' in of && of.providerId).toMatch(/./s)
          expect(happenedAt.getTime()).toBeGreaterThanOrEqual(0)
          expect(['DELIVERED', 'READ', 'FAILED']).toContain(status)
        }
        for (const { from, text, receivedAt } of result.inbound) {
          expect(from).toMatch(/^\+\d+$/)
          expect(text).not.toContain('\0')
          expect(receivedAt.getTime()).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 1000 },
    )
  })

  /** A copy of the webhook with another value at one of its places, counted from the outside. */
  function withSomethingElse(notice: object, place: number, value: unknown): unknown {
    const copy = structuredClone(notice)
    const places: [Record<string, unknown>, string][] = []
    const visit = (node: unknown) => {
      if (typeof node !== 'object' || node === null) return
      for (const key of Object.keys(node)) {
        places.push([node as Record<string, unknown>, key])
        visit((node as Record<string, unknown>)[key])
      }
    }
    visit(copy)
    const [node, key] = places[place % places.length]!
    node[key] = value
    return copy
  }
})
