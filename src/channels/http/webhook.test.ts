import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signed } from '../../testing/providers/http-provider.ts'
import type { WebhookRequest } from '../webhook.ts'
import { readWebhook } from './webhook.ts'

const key = Buffer.alloc(32, 7)
const otherKey = Buffer.alloc(32, 8)
const settings = { secret: `whsec_${key.toString('base64')}` }
const now = new Date('2026-11-15T02:30:00.500Z')
const at = '2026-11-15T02:24:09.304Z'

const requestOf = (body: string, headers = signed(key, 'w-1', body, now)): WebhookRequest => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  query: {},
  body: Buffer.from(body),
})

const read = (body: unknown) => readWebhook(settings, requestOf(JSON.stringify(body)), now)
const event = (given: object) => ({ events: [{ id: 'p-1', status: 'delivered', at, ...given }] })
const written = (given: object) => ({
  inbound: [{ id: 'in-1', from: '79160000001', to: 'SHOP', text: 'Hi', at, ...given }],
})

describe('an event', () => {
  test.each([
    ['delivered', 'DELIVERED'],
    ['read', 'READ'],
  ])('%s is a receipt %s', (status, expected) => {
    expect(read(event({ status, error: { code: 'ignored' } }))).toEqual({
      kind: 'told',
      receipts: [{ of: { providerId: 'p-1' }, status: expected, happenedAt: new Date(at) }],
      inbound: [],
      chats: [],
    })
  })

  test.each([
    [undefined, 601, undefined],
    [{ code: 'no_answer' }, 601, 'no_answer'],
    [{ code: 34 }, 601, '34'],
    [{ code: 'bad_number' }, 7401, 'bad_number'],
    [{ code: 'no_route' }, 455, 'no_route'],
    [{ code: 'blocked' }, 7402, 'blocked'],
    [{ code: 'content' }, 456, 'content'],
    [{ code: 'expired' }, 7060, 'expired'],
    ['broken', 601, undefined],
    [{ code: {} }, 601, undefined],
  ])('failed with %j is a receipt FAILED %i', (error, errorCode, operatorError) => {
    const receipt = { of: { providerId: 'p-1' }, status: 'FAILED', errorCode, happenedAt: new Date(at) }
    expect(read(event({ status: 'failed', error }))).toMatchObject({
      receipts: [operatorError ? { ...receipt, operatorError } : receipt],
    })
  })

  test('with an unknown status is skipped, and the other events are read', () => {
    const events = [
      { id: '1', status: 'queued' },
      { id: 2, status: 'delivered', whatever: true },
      { id: '3', status: 'constructor' },
    ]
    expect(read({ events, more: 1 })).toMatchObject({ kind: 'told', receipts: [{ of: { providerId: '2' } }] })
  })

  test('has its own time, at the latest now', () => {
    const happenedAt = (at: unknown) =>
      (read(event({ at })) as { receipts: { happenedAt: Date }[] }).receipts[0]!.happenedAt
    expect(happenedAt('2026-11-15T05:24:09+03:00')).toEqual(new Date('2026-11-15T02:24:09Z'))
    expect([happenedAt(undefined), happenedAt(null), happenedAt('2030-01-01T00:00:00Z')]).toEqual([now, now, now])
  })

  test('a message of a subscriber has the number unchanged, and no characters that the database cannot store', () => {
    expect(read(written({ from: ' +79160000001 ', text: 'a\0b\ud800c' }))).toMatchObject({
      inbound: [{ from: '+79160000001', to: 'SHOP', text: 'ab\ufffdc', receivedAt: new Date(at), providerId: 'in-1' }],
    })
    expect(read(written({ text: '' }))).toMatchObject({ inbound: [{ text: '' }] })
    expect(read(written({ text: 'x'.repeat(20_000) }))).toMatchObject({ inbound: [{ text: 'x'.repeat(10_000) }] })
  })

  test('an empty webhook is acknowledged', () => {
    expect(read({ events: [] })).toEqual({ kind: 'told', receipts: [], inbound: [], chats: [] })
  })
})

test.each<unknown>([
  null,
  [],
  7,
  {},
  { event: [] },
  { events: {} },
  { events: [null] },
  { events: ['p-1'] },
  { events: Array(1001).fill({ id: 'p-1', status: 'delivered' }) },
  event({ id: '' }),
  event({ id: 'a\0' }),
  event({ id: 1.5 }),
  event({ id: undefined }),
  event({ status: undefined }),
  event({ at: 'yesterday' }),
  event({ at: '2026-11-15T02:24:09' }),
  event({ at: 1763173449 }),
  { inbound: 'Hi' },
  written({ id: undefined }),
  written({ from: '' }),
  written({ to: 5 }),
  written({ to: 'a\nb' }),
  written({ text: null }),
])('a signed but wrong body %# is unreadable as a whole', body => {
  expect(read(body)).toMatchObject({ kind: 'unreadable', reason: expect.any(String) })
})

test('a body without JSON, and a request other than POST, are unreadable', () => {
  expect(readWebhook(settings, requestOf('{"events": ['), now)).toMatchObject({ kind: 'unreadable' })
  expect(readWebhook(settings, { ...requestOf('{"events":[]}'), method: 'GET' }, now)).toMatchObject({
    kind: 'unreadable',
  })
})

describe('a signature', () => {
  const body = JSON.stringify(event({}))
  const kindWith = (headers: Record<string, string>, using: object = settings) =>
    readWebhook({ ...using }, requestOf(body, headers), now).kind
  const shifted = (seconds: number) => new Date(now.getTime() + seconds * 1000)

  test('of a known value equals the example of Standard Webhooks', () => {
    // The example of the specification's libraries.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const request = requestOf('{"test": 2432232314}', {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
    const then = new Date(1614265330_000)
    expect(readWebhook({ secret }, request, then).kind).toBe('unreadable') // genuine, and not of our protocol
  })

  test('may be one of several, of which one must be right', () => {
    const good = signed(key, 'w-1', body, now)
    const other = signed(otherKey, 'w-1', body, now)
    const both = `v1a,AAAA ${other['webhook-signature']} ${good['webhook-signature']}`
    expect(kindWith({ ...good, 'webhook-signature': both })).toBe('told')
    expect(kindWith(other)).toBe('forged')
  })

  test('is valid for five minutes, before and after', () => {
    const kinds = [-299, 299, -302, 302].map(seconds => kindWith(signed(key, 'w-1', body, shifted(seconds))))
    expect(kinds).toEqual(['told', 'told', 'forged', 'forged'])
  })

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s is invalid', name => {
    const { [name]: _, ...headers } = signed(key, 'w-1', body, now)
    expect(kindWith(headers)).toBe('forged')
  })

  test.each(['v2', 'V1', 'v1a', ''])('of version "%s" is invalid', version => {
    const good = signed(key, 'w-1', body, now)
    expect(kindWith({ ...good, 'webhook-signature': good['webhook-signature']!.replace('v1', version) })).toBe('forged')
  })

  test.each([{}, { secret: '' }, { secret: 'whsec_' }, { secret: null }])(
    'is invalid for a gateway with the settings %j',
    using => {
      expect(kindWith(signed(Buffer.alloc(0), 'w-1', body, now), using)).toBe('forged')
    },
  )

  test('of a message that we sent is no valid webhook', () => {
    const submission = JSON.stringify({ version: 1, id: 'x', text: '{"events":[]}', content: { data: { events: [] } } })
    expect(readWebhook(settings, requestOf(submission), now).kind).toBe('unreadable')
  })
})

describe('any input', () => {
  const body = JSON.stringify({ ...event({ status: 'failed', error: { code: 'no_answer' } }), ...written({}) })
  const genuine = requestOf(body)

  test('with one changed byte is forged', () => {
    const places = [
      ...Array.from(genuine.body, (_, index) => ({ of: 'body', index })),
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap(of =>
        Array.from(genuine.headers[of]!, (_, index) => ({ of, index })),
      ),
    ]
    expect(readWebhook(settings, genuine, now).kind).toBe('told')
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.integer({ min: 1, max: 127 }), ({ of, index }, flip) => {
        expect(readWebhook(settings, changed(genuine, of, index, flip), now).kind).toBe('forged')
      }),
      { numRuns: 2000 },
    )
  })

  test('is read or refused, and never throws', () => {
    const kinds = ['told', 'forged', 'unreadable']
    const header = fc.option(fc.string({ unit: 'binary' }), { nil: undefined })
    const headers = fc.record({ 'webhook-id': header, 'webhook-timestamp': header, 'webhook-signature': header })
    fc.assert(
      fc.property(
        headers,
        fc.uint8Array(),
        fc.constantFrom('GET' as const, 'POST' as const),
        (headers, bytes, method) => {
          const request = { method, headers, query: {}, body: Buffer.from(bytes) }
          expect(kinds).toContain(readWebhook(settings, request, now).kind)
        },
      ),
    )
  })

  test('with a right signature is read or unreadable, and never throws', () => {
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom('p-1', 'delivered', 'failed', at, '79160000001'))
    const one = fc.record(
      { id: member, status: member, at: member, error: member, from: member, to: member, text: member },
      { requiredKeys: [] },
    )
    const list = fc.oneof(fc.array(one, { maxLength: 5 }), fc.jsonValue())
    fc.assert(
      fc.property(fc.record({ events: list, inbound: list }, { requiredKeys: [] }), told => {
        expect(['told', 'unreadable']).toContain(read(told).kind)
      }),
    )
  })

  function changed(request: WebhookRequest, of: string, index: number, flip: number): WebhookRequest {
    const bytes = Buffer.from(of === 'body' ? request.body : request.headers[of]!)
    bytes[index]! ^= flip
    if (of === 'body') return { ...request, body: bytes }
    return { ...request, headers: { ...request.headers, [of]: bytes.toString('latin1') } }
  }
})
