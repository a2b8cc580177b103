import { beforeAll, describe, expect, test } from 'vitest'
import { type Money, money } from '../../base/money.ts'
import { keyTypes } from '../../domain/keys/key.ts'
import type { Entry } from '../../domain/ledger/account.ts'
import { changeReserved, charge, topUp } from '../../domain/ledger/ledger.ts'
import { aCompany, aPartner, type TestPartner } from '../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../testing/messaging-api.ts'

const api = useMessagingApi()
const prefixes = ['/api/v1', '/v1', '/api/v1/v1'] as const
let partner: TestPartner

beforeAll(async () => {
  partner = await aPartner(api.sql)
})

const balanceWith = async (key: string) => (await api.call({ method: 'GET', path: '/balance', key })).text
const topUpBy = (companyId: number, amount: Money) =>
  topUp(api.sql, companyId, { amount }, { billingZone: 'Europe/Moscow', now: new Date() })

describe('GET /ping', () => {
  test.each(prefixes)('under %s is PONG in plain text, with a trailing slash too', async prefix => {
    for (const path of ['/ping', '/ping/']) {
      const answer = await api.call({ method: 'GET', path, prefix })
      expect([answer.status, answer.text]).toEqual([200, 'PONG'])
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    }
  })

  test.each(['Bearer d3Jvbmc6a2V5', 'Basic d3Jvbmc6a2V5', 'Digest abc', 'abc', ''])(
    'does not look at the header "%s"',
    async authorization => {
      const answer = await api.call({ method: 'GET', path: '/ping', headers: { authorization } })
      expect([answer.status, answer.text]).toEqual([200, 'PONG'])
    },
  )
})

describe('GET /balance', () => {
  test.each(keyTypes)('takes a key of the type %s, under every prefix', async type => {
    const companyId = await aCompany(api.sql, partner)
    await topUpBy(companyId, money('12.50'))
    const { key } = await aKey(api.sql, companyId, type)
    for (const prefix of prefixes) {
      const answer = await api.call({ method: 'GET', path: '/balance', prefix, key })
      expect([answer.status, answer.text]).toEqual([200, '{"RUB":12.5}'])
    }
  })

  test('of a new company is 0, then exactly the top-ups minus the spending, to the last decimal place', async () => {
    const companyId = await aCompany(api.sql, partner)
    const { key } = await aKey(api.sql, companyId)
    expect(await balanceWith(key)).toBe('{"RUB":0}')
    await topUpBy(companyId, money('1000.1234'))
    expect(await balanceWith(key)).toBe('{"RUB":1000.1234}')
    const billing = { billingZone: 'Europe/Moscow', now: new Date() }
    const spend = (amount: Money) => {
      const entries: Entry[] = [{ kind: 'MESSAGES', amount, currency: 'RUB', month: '2026-07-01' }]
      return api.sql.begin(tx => charge(tx, companyId, { balance: 0n }, { entries, shares: [] }, billing))
    }
    await spend(money('0.0034'))
    expect(await balanceWith(key)).toBe('{"RUB":1000.12}')
    await spend(money('2000.62'))
    expect(await balanceWith(key)).toBe('{"RUB":-1000.5}')
  })

  test('does not subtract reserved money', async () => {
    const companyId = await aCompany(api.sql, partner)
    const { key } = await aKey(api.sql, companyId)
    await topUpBy(companyId, money('100'))
    await changeReserved(api.sql, companyId, money('30'))
    expect(await balanceWith(key)).toBe('{"RUB":100}')
  })

  test("is the key's own company's, in its own currency", async () => {
    const [mine, other] = [await aCompany(api.sql, partner), await aCompany(api.sql, { ...partner, currency: 'KZT' })]
    await topUpBy(mine, money('5'))
    await topUpBy(other, money('700'))
    expect(await balanceWith((await aKey(api.sql, mine)).key)).toBe('{"RUB":5}')
    expect(await balanceWith((await aKey(api.sql, other)).key)).toBe('{"KZT":700}')
  })
})

describe('every spelling of the address', () => {
  test.each(prefixes)('%s asks for a key, and knows what it does not have', async prefix => {
    expect(await api.call({ method: 'GET', path: '/balance', prefix })).toMatchObject({
      status: 401,
      body: { error: { code: 4010 } },
    })
    const { key } = await aKey(api.sql, await aCompany(api.sql, partner))
    for (const [method, path] of [
      ['GET', '/balances'],
      ['GET', '/'],
      ['GET', '/v1/v1/balance'],
    ] as const) {
      const answer = await api.call({ method, path, prefix, key })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { error: { code: 4040 } } })
    }
  })

  test.each(prefixes)('%s invites no browser', async prefix => {
    const { key } = await aKey(api.sql, await aCompany(api.sql, partner))
    const headers = {
      origin: 'https://shop.example.com',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    }
    for (const method of ['GET', 'OPTIONS'] as const) {
      for (const path of ['/ping', '/balance', '/nothing']) {
        const authorization = `Bearer ${key}`
        const answer = await api.app.inject({ method, url: prefix + path, headers: { ...headers, authorization } })
        const names = Object.keys(answer.headers).filter(name => name.startsWith('access-control-'))
        expect(names, `${method} ${path}`).toEqual([])
        if (method === 'OPTIONS') expect(answer.json().error.code).toBe(path === '/nothing' ? 4040 : 4050)
      }
    }
  })
})

describe('the reference', () => {
  type Operation = {
    summary?: string
    description?: string
    security?: object[]
    responses: Record<string, { description: string; content: object }>
  }
  let document: { openapi: string; paths: Record<string, Record<string, Operation>>; [name: string]: unknown }

  beforeAll(async () => {
    document = (await api.app.inject('/docs/messaging.json')).json()
  })

  test('is an OpenAPI 3.1 document that knows every path once', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.servers).toMatchObject([{ url: '/api/v1' }])
    const paths = Object.keys(document.paths)
    expect(paths).toEqual(expect.arrayContaining(['/ping', '/balance']))
    expect(paths.filter(path => path.startsWith('/v1') || path.startsWith('/api'))).toEqual([])
  })

  test('asks for a key everywhere but for the ping, and says which', () => {
    expect(document.components).toMatchObject({
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } },
    })
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of Object.values(item)) {
        if (path === '/ping') expect(operation.security ?? [], path).toEqual([])
        else {
          expect(operation.security, path).toEqual([{ basic: [] }, { bearer: [] }])
          expect(operation.description, path).toMatch(/Takes a key of the type [A-Z_]+( or [A-Z_]+)*\.$/)
        }
      }
    }
  })

  test('describes every answer in words of its own', () => {
    const operations = Object.values(document.paths).flatMap(item => Object.values(item))
    const descriptions = operations.flatMap(({ responses }) => Object.values(responses).map(one => one.description))
    expect(descriptions).not.toContain('Default Response')
    for (const { summary, responses } of operations) {
      expect(summary).toMatch(/\w/)
      expect(responses[500]).toBeDefined()
    }
  })

  test('stands on the page beside that of the partner API, which stays as it is', async () => {
    const page = (await api.app.inject('/docs')).body
    for (const path of ['/docs/partner.json', '/docs/messaging.json']) {
      expect(page).toContain(path)
      expect((await api.app.inject(path)).statusCode).toBe(200)
    }
    const partnerDocument = (await api.app.inject('/docs/partner.json')).json()
    expect(Object.keys(partnerDocument.paths)).toContain('/company')
    expect(Object.keys(partnerDocument.paths)).not.toContain('/balance')
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
