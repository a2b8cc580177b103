import { brotliCompressSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { formOf } from '../testing/api.ts'
import { aCompany, anApprovedSender, aPartner, numberOf, type TestPartner } from '../testing/factories.ts'
import { aKey, useMessagingApi } from '../testing/messaging-api.ts'

/** What holds for every route of both APIs, by the rules of HTTP. */

const api = useMessagingApi()
let partner: TestPartner
let companyId: number
let key: string
let senderId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  key = (await aKey(api.sql, companyId)).key
  senderId = (await anApprovedSender(api.sql, companyId, { brand: 'MTS' })).senderId
})

type Asked = { headers?: Record<string, string>; payload?: string | Buffer | object }

const ask = (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS', url: string, asked: Asked = {}) => {
  const bearer = url.startsWith('/partner') ? partner.token : key
  return api.app.inject({ method, url, ...asked, headers: { authorization: `Bearer ${bearer}`, ...asked.headers } })
}

const json = { 'content-type': 'application/json' }
const aDispatch = (given: object = {}) => ({
  companyId,
  name: 'Sale',
  senderIds: [senderId],
  channelType: 'SMS',
  text: 'Sale',
  messages: [{ destination: numberOf.MTS }],
  ...given,
})

describe('HEAD', () => {
  test.each([
    '/healthz',
    '/readyz',
    '/docs',
    '/docs/partner.json',
    '/api/v1/ping',
    '/v1/ping',
    '/api/v1/balance',
    '/partner/v1/company',
    '/partner/v1/company/abc',
  ])('%s answers as GET does, without the body', async url => {
    const [get, head] = [await ask('GET', url), await ask('HEAD', url)]
    expect([head.statusCode, head.body]).toEqual([get.statusCode, ''])
    for (const name of ['content-type', 'content-length']) expect(head.headers[name], name).toBe(get.headers[name])
  })

  test('of a report reads none of its lines', async () => {
    const { id } = (await ask('POST', '/partner/v1/dispatches', { payload: aDispatch() })).json()
    const head = await ask('HEAD', `/partner/v1/dispatches/${id}/report`)
    expect([head.statusCode, head.headers['content-type'], head.body]).toEqual([200, 'text/csv; charset=utf-8', ''])
    expect(head.headers['content-length']).toBeUndefined() // the answer to GET has lines
  })
})

describe('a body in gzip', () => {
  const gzip = { ...json, 'content-encoding': 'gzip' }

  test('is read as it is unpacked', async () => {
    const payload = gzipSync(JSON.stringify(aDispatch()))
    const answer = await ask('POST', '/partner/v1/dispatches', { headers: gzip, payload })
    expect([answer.statusCode, answer.json().success]).toEqual([200, 1])
  })

  test('is the same request as its plain form for an Idempotency-Key', async () => {
    const text = JSON.stringify({ company: { name: 'Packed', counteragentInn: '7707083893' } })
    const once = { 'idempotency-key': 'packed' }
    const plain = await ask('POST', '/partner/v1/company', { headers: { ...json, ...once }, payload: text })
    const packed = await ask('POST', '/partner/v1/company', { headers: { ...gzip, ...once }, payload: gzipSync(text) })
    expect(packed.json()).toEqual(plain.json())
  })

  test('is 4130 when it unpacks to more than the route takes', async () => {
    const payload = gzipSync(Buffer.alloc(2 * 1024 * 1024, ' '))
    const answer = await ask('POST', '/partner/v1/company', { headers: gzip, payload })
    expect([answer.statusCode, answer.json().error]).toEqual([
      413,
      { code: 4130, msg: 'The request body is larger than 1 MiB' },
    ])
  })

  test.each([
    ['is no gzip at all', Buffer.from('{}')],
    ['was cut short', gzipSync('{"company": {"name": "Packed"}}').subarray(0, -6)],
  ])('is 4000 when it %s', async (_, payload) => {
    const answer = await ask('POST', '/partner/v1/company', { headers: gzip, payload })
    expect([answer.statusCode, answer.json().error]).toEqual([400, { code: 4000, msg: 'body: is not valid gzip' }])
  })

  test('is 4150 in any other encoding', async () => {
    const headers = { ...json, 'content-encoding': 'br' }
    const answer = await ask('POST', '/partner/v1/company', { headers, payload: brotliCompressSync('{}') })
    expect([answer.statusCode, answer.json().error]).toEqual([
      415,
      { code: 4150, msg: 'Content-Encoding: must be gzip or absent' },
    ])
  })

  test('is 4150 for a form', async () => {
    const form = formOf({ name: 'file', filename: 'a.pdf', content: '%PDF-1.7' })
    const headers = { ...form.headers, 'content-encoding': 'gzip' }
    const url = `/partner/v1/company/${companyId}/documents`
    const answer = await ask('POST', url, { headers, payload: gzipSync(form.body) })
    expect([answer.statusCode, answer.json().error.code]).toEqual([415, 4150])
  })
})

describe('an error', () => {
  test.each([
    ['DELETE', '/partner/v1/company', 'GET, HEAD, POST'],
    ['PUT', '/partner/v1/company/', 'GET, HEAD, POST'],
    ['DELETE', '/partner/v1/company/1?x=/y', 'GET, HEAD, PUT'],
    ['GET', '/partner/v1/auth/token', 'POST'],
    ['POST', '/api/v1/ping', 'GET, HEAD'],
    ['OPTIONS', '/v1/message', 'GET, HEAD, POST'],
    ['DELETE', '/healthz', 'GET, HEAD'],
  ] as const)('for %s %s is 405 with the methods there are', async (method, url, allowed) => {
    const answer = await ask(method, url)
    expect([answer.statusCode, answer.json().error.code, answer.headers.allow]).toEqual([405, 4050, allowed])
  })

  test('for a path of no route is 404, before its body is read', async () => {
    const answer = await ask('POST', '/nowhere', { headers: json, payload: '{ this is no JSON' })
    expect([answer.statusCode, answer.json().error.code, answer.headers.allow]).toEqual([404, 4040, undefined])
  })

  test.each([
    ['GET', '/partner/v1/company', { authorization: 'Bearer nobody' }, 401, 4010],
    ['GET', '/api/v1/balance', { authorization: 'Digest x' }, 401, 4012],
    ['GET', '/nowhere', {}, 404, 4040],
    ['GET', '/partner/v1/company/%zz', {}, 404, 4040],
    ['DELETE', '/healthz', {}, 405, 4050],
    ['GET', '/partner/v1/company?page=0', {}, 400, 4000],
    ['POST', '/api/v1/message', {}, 400, 4000],
    ['GET', '/readyz', {}, 503, 5030],
  ] as const)('of %s %s %j links to its explanation', async (method, url, headers, status, code) => {
    const answer = await ask(method, url, { headers })
    expect([answer.statusCode, answer.json().error.code]).toEqual([status, code])
    expect(answer.headers.link).toBe(`</docs/errors#${code}>; rel="help"`)
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer realm="Tidings"' : undefined)
  })

  test('of a message that is refused on its own links to its explanation too', async () => {
    const payload = [{ channelType: 'SMS', senderName: 'NONE', destination: numberOf.MTS, content: 'Hello' }]
    const answer = await ask('POST', '/api/v1/message', { payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers.link).toBe(`</docs/errors#${answer.json().error.code}>; rel="help"`)
  })
})

describe('the request id', () => {
  test('is the id that the client gave', async () => {
    const answer = await ask('GET', '/healthz', { headers: { 'x-request-id': 'order-17:retry.2' } })
    expect(answer.headers['x-request-id']).toBe('order-17:retry.2')
  })

  test.each([['spaces in it'], ['x'.repeat(129)], [''], ['a"b'], ['line\u0085']])(
    'is made anew in place of %j',
    async id => {
      const answer = await ask('GET', '/healthz', { headers: { 'x-request-id': id } })
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

describe('unknown fields', () => {
  const ignoredIn = async (url: string, payload: object) =>
    (await ask('POST', url, { payload })).headers['tidings-ignored-fields']

  test.each([
    ['of a dispatch', () => aDispatch({ colour: 'red' }), 'colour'],
    [
      'of a recipient, by the first one',
      () => recipients({ a: 1 }, { nick: 'x', b: 1 }, { nick: 'y' }),
      'messages[0].a, messages[1].nick, messages[1].b',
    ],
    [
      'of the schedule',
      () => aDispatch({ schedule: { startAt: '2030-01-01T00:00:00Z', hours: [1], days: [1], zone: 'x' } }),
      'schedule.zone',
    ],
    ['with names of other scripts', () => aDispatch({ 'цвет, red': 1 }), '%D1%86%D0%B2%D0%B5%D1%82%2C%20red'],
    [
      'called like something every object has',
      () => aDispatch({ constructor: 1, toString: 2 }),
      'constructor, toString',
    ],
    ['none', () => recipients({ substitutions: { anything: 'x' } }), undefined],
  ] as const)('%s are named', async (_, payload, named) => {
    expect(await ignoredIn('/partner/v1/dispatches?dryRun=true', payload())).toBe(named)
  })

  const recipients = (...more: object[]) =>
    aDispatch({ messages: more.map(one => ({ destination: numberOf.MTS, ...one })) })

  const message = (channelType: string, content: unknown, more: object = {}) => ({
    channelType,
    senderName: 'NONE',
    destination: numberOf.MTS,
    content,
    ...more,
  })

  test.each([
    ['of a message alone', () => message('SMS', 'Hello', { text: 'Hello' }), 'text'],
    [
      'of one in a list',
      () => [message('SMS', 'Hello'), message('SMS', 'Hello', { ttlSeconds: 60 })],
      '[1].ttlSeconds',
    ],
    ['of the content', () => message('SMS', { text: 'Hello', header: {} }), 'content.header'],
    [
      'of the content of another kind',
      () => message('WHATSAPP', { contentType: 'template', templateId: 'a', text: 'x' }),
      'content.text',
    ],
    ['none of a push', () => message('PUSH', { contentType: 'push', text: 'Hello', data: { any: 1 } }), undefined],
    [
      'none of a button',
      () =>
        message('WHATSAPP', {
          contentType: 'text',
          text: 'x',
          buttons: [{ text: 'a', url: 'https://example.com' }],
          footer: null,
        }),
      undefined,
    ],
  ] as const)('%s are named in the messaging API', async (_, payload, named) => {
    expect(await ignoredIn('/api/v1/message', payload())).toBe(named)
  })

  test('are named beside the required field that is missing', async () => {
    const answer = await ask('POST', '/partner/v1/dispatches', { payload: aDispatch({ name: undefined, nmae: 'x' }) })
    expect(answer.json().error).toEqual({ code: 4000, msg: 'name: is required' })
    expect(answer.headers['tidings-ignored-fields']).toBe('nmae')
  })

  test('in any number make a header of bearable length', async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'ё'.repeat(300)}${i}`, i]))
    const header = String(await ignoredIn('/partner/v1/dispatches?dryRun=true', aDispatch(many)))
    expect(header.length).toBeLessThan(2000)
    expect(header).toMatch(/, \.\.\.$/)
  })

  test('are 4000 with strict=true, and nothing is stored', async () => {
    const payload = aDispatch({ colour: 'red', size: 1 })
    const answer = await ask('POST', '/partner/v1/dispatches?strict=true', { payload })
    expect([answer.statusCode, answer.json().error]).toEqual([
      400,
      { code: 4000, msg: 'colour, size: are not known fields' },
    ])
    const start = await ask('POST', '/partner/v1/dispatches/1/start?strict=true', { payload: { now: true } })
    expect(start.json().error).toEqual({ code: 4000, msg: 'now: is not a known field' })
    const fine = await ask('POST', '/partner/v1/dispatches?strict=true', { payload: aDispatch() })
    expect(fine.statusCode).toBe(200)
    const unclear = await ask('POST', '/partner/v1/dispatches?strict=perhaps', { payload })
    expect(unclear.json().error).toEqual({ code: 4000, msg: 'strict: must be true or false' })
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})

test.each([
  [0, 'companyId: must be at least 1'],
  [1e30, 'companyId: must be at most 9007199254740991'],
])('an id of %s is refused with the bound that it breaks', async (id, msg) => {
  const answer = await ask('POST', '/partner/v1/dispatches', { payload: aDispatch({ companyId: id }) })
  expect(answer.json().error).toEqual({ code: 4000, msg })
})
