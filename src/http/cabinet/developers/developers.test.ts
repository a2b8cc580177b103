import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7 } from '../../../base/uuid7.ts'
import { enqueueCallbacks } from '../../../domain/callbacks/callbacks.ts'
import { listLog } from '../../../domain/callbacks/log.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { eventually } from '../../../testing/eventually.ts'
import { aCompany, aPartner, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { CallbackLogAnswer } from './callback-log.ts'
import type { KeysAnswer } from './keys.ts'
import type { RequestLogAnswer } from './request-log.ts'

/** The routes of the page for developers: keys, callbacks and the request log. */

const { api, ask } = useApp('/docs/messaging.json')
let partner: TestPartner
let companyId: number
let elsewhere: number
let owner: CabinetBrowser

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  elsewhere = await aCompany(api.sql, await aPartner(api.sql))
  owner = await signedIn(ofCompany(companyId), 'owner')
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  return browser
}

const aKey = async (given: object = {}) =>
  (await owner.ask('POST', '/keys', { type: 'MESSAGE', name: 'shop', ...given })).body as { keyId: number; key: string }

const keysOf = async (browser: CabinetBrowser, query = '') =>
  (await browser.ask('GET', `/keys${query}`)).body as KeysAnswer

const keyWith = async (keyId: number) => (await keysOf(owner)).keys.find(key => key.keyId === keyId)!

async function aCallback(company = companyId, at = new Date(), url = 'https://user:hidden@hooks.example/tidings') {
  const event = { event: 'delivered' as const, messageUuid: uuid7(at), destination: '79160000001', at }
  await api.sql.begin(tx => enqueueCallbacks(tx, company, [{ url, event }], at))
  const [row] = await api.sql<
    { id: number }[]
  >`select max(callback_id) as id from callbacks where company_id = ${company}`
  return row!.id
}

describe('keys', () => {
  test('a key is shown once, works from its addresses, and its requests are counted', async () => {
    const { keyId, key } = await aKey({ addresses: ['198.51.100.0/24'] })
    const balance = (address: string) => ask('/api/v1', key, { method: 'GET', path: '/balance', address })
    expect((await balance('198.51.100.7')).status).toBe(200)
    expect((await balance('203.0.113.7')).status).toBe(401)
    expect(JSON.stringify(await keysOf(owner))).not.toContain(key)
    await eventually(async () => expect(await keyWith(keyId)).toMatchObject({ requests: 2, usedAt: expect.anything() }))
    expect(await keyWith(keyId)).toMatchObject({ name: 'shop', addresses: ['198.51.100.0/24'], isActive: true })
  })

  test('a key is renamed, restricted, reissued, deactivated and activated', async () => {
    const { keyId, key } = await aKey()
    const balance = async (value: string) => (await ask('/api/v1', value, { method: 'GET', path: '/balance' })).status
    await owner.ask('PATCH', `/keys/${keyId}`, { name: ' crm ', addresses: ['2001:db8::/32', '127.0.0.1'] })
    expect(await keyWith(keyId)).toMatchObject({ name: 'crm', addresses: ['2001:db8::/32', '127.0.0.1'] })
    const { entries } = (await owner.ask('GET', `/audit?subject=key:${keyId}&what=key.changed`)).body
    expect(entries).toMatchObject([
      { before: { name: 'shop', addresses: [] }, after: { name: 'crm', addresses: ['2001:db8::/32', '127.0.0.1'] } },
    ])
    const renewed = (await owner.ask('POST', `/keys/${keyId}/reissue`)).body.key
    expect([await balance(key), await balance(renewed)]).toEqual([401, 200])
    await owner.ask('PATCH', `/keys/${keyId}`, { isActive: false })
    expect(await balance(renewed)).toBe(401)
    await owner.ask('PATCH', `/keys/${keyId}`, { isActive: true })
    expect(await balance(renewed)).toBe(200)
  })

  test('a wrong address is refused, and the change takes no effect', async () => {
    const { keyId } = await aKey()
    const refused = await owner.ask('PATCH', `/keys/${keyId}`, { name: 'other', addresses: ['10.0.0.0/33'] })
    expect(refused).toMatchObject({ status: 400, body: { error: { msg: expect.stringContaining('10.0.0.0/33') } } })
    expect(await keyWith(keyId)).toMatchObject({ name: 'shop', addresses: [] })
  })

  test('of two people who change the addresses at once, the second is refused', async () => {
    const { keyId } = await aKey()
    const change = (address: string) =>
      owner.ask('PATCH', `/keys/${keyId}`, { addresses: [address], seen: { addresses: [] } })
    expect((await change('192.0.2.1')).status).toBe(204)
    expect(await change('192.0.2.2')).toMatchObject({
      status: 400,
      body: { error: { msg: expect.stringContaining('Somebody else changed this') } },
    })
    expect(await keyWith(keyId)).toMatchObject({ addresses: ['192.0.2.1'] })
  })
})

describe('callbacks', () => {
  test('the log is read in pages, by state and by day, and shows no password', async () => {
    const day = new Date('2026-02-03T10:00:00Z')
    const ids = []
    for (let i = 0; i < 5; i++) ids.unshift(await aCallback(companyId, day))
    await api.sql`update callbacks set status = 'EXPIRED' where callback_id = ${ids[1]!}`
    const list = async (query: string) => (await owner.ask('GET', `/callbacks?${query}`)).body as CallbackLogAnswer
    const ofDay = 'from=2026-02-03T00:00:00Z&to=2026-02-04T00:00:00Z'
    const first = await list(`${ofDay}&perPage=3`)
    const second = await list(`${ofDay}&perPage=3&before=${first.next}`)
    expect([...first.entries, ...second.entries].map(({ callbackId }) => callbackId)).toEqual(ids)
    expect(second.next).toBeNull()
    expect((await list(`${ofDay}&status=EXPIRED`)).entries.map(({ callbackId }) => callbackId)).toEqual([ids[1]])
    expect((await list('from=2026-02-04T00:00:00Z&to=2026-02-05T00:00:00Z')).entries).toEqual([])
    expect(JSON.stringify(first)).not.toContain('hidden')

    const { body } = await owner.ask('GET', `/callbacks/${ids[0]}`)
    expect(body).toMatchObject({ events: [{ name: 'delivered', count: 1 }], attempts: [], shownEvents: 1 })
    expect(JSON.parse(body.body)).toMatchObject({ event: 'delivered', destination: '79160000001' })
    expect((await owner.ask('POST', `/callbacks/${ids[1]}/replay`)).status).toBe(204)
    expect((await list(`${ofDay}&status=EXPIRED`)).entries).toEqual([])
  })

  test('a receiver that failed twenty times is paused, and can be retried at once', async () => {
    await api.sql`insert into receivers (company_id, receiver, failures, probe_at, served_at)
      values (${companyId}, 'https://hooks.example', 20, now() + interval '5 minutes', now())`
    const settings = async () => (await owner.ask('GET', '/callbacks/settings')).body
    expect((await settings()).receivers).toMatchObject([{ state: 'paused', probeAt: expect.any(String) }])
    expect((await settings()).address).toBe('https://user:***@hooks.example/tidings')
    await owner.ask('POST', '/callbacks/receivers/try', { receiver: 'https://hooks.example' })
    expect((await settings()).receivers).toMatchObject([{ state: 'paused', probeAt: null }])
  })

  test('a new secret replaces the old one', async () => {
    expect((await owner.ask('GET', '/callbacks/settings')).body.hasSecret).toBe(false)
    const first = (await owner.ask('POST', '/callbacks/secret')).body.secret
    const second = (await owner.ask('POST', '/callbacks/secret')).body.secret
    expect([first, second]).toEqual([expect.stringMatching(/^whsec_/), expect.stringMatching(/^whsec_/)])
    expect(first).not.toBe(second)
    expect((await owner.ask('GET', '/callbacks/settings')).body.hasSecret).toBe(true)
  })

  test.each(planModes)(
    'with %s, a page of a long log is read by an index and reads no more rows than its bound',
    async mode => {
      const long = await aCompany(api.sql, partner)
      await api.sql`
      insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
      select ${long}, 'https://a.example', 'https://a.example/x', 'partner', '[]', 0,
        case when n % 500 = 0 then 'EXPIRED' else 'DELIVERED' end, now() - make_interval(secs => n), now()
      from generate_series(1, 15000) n`
      await api.sql`analyze callbacks`
      for (const [status, most] of [
        [undefined, 400],
        ['EXPIRED', 400],
        ['WAITING', 5100],
      ] as const) {
        const reads = await readsOf(api, mode, sql => listLog(sql, long, { status }, 50), /from callbacks/)
        expect([status, reads.filter(({ index }) => index === undefined)]).toEqual([status, []])
        expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
      }
    },
  )
})

describe('the request log', () => {
  const requestsOf = async (browser: CabinetBrowser, query = '') =>
    (await browser.ask('GET', `/requests${query}`)).body as RequestLogAnswer

  test('lists requests with a known key, refused or not, and no requests without a key', async () => {
    const { keyId, key } = await aKey({ type: 'ENTITY', name: 'entity' })
    const call = (bearer: string | undefined, path: string, id: string) =>
      ask('/api/v1', bearer, { method: 'GET', path, headers: { 'x-request-id': id }, address: '198.51.100.7' })
    await call(key, '/balance', 'asks-balance')
    await call(key, '/message/0195a1b2-0000-7000-8000-000000000001', 'wrong-key')
    await call('unknown', '/balance', 'no-such-key')
    await call(undefined, '/balance', 'no-key')
    await eventually(async () =>
      expect((await requestsOf(owner, `?key=${keyId}`)).requests).toMatchObject([
        { requestId: 'wrong-key', status: 403, route: '/api/v1/message/:id', key: { keyId, name: 'entity' } },
        { requestId: 'asks-balance', status: 200, method: 'GET', route: '/api/v1/balance', address: '198.51.100.7' },
      ]),
    )
    const idsOf = async (query: string) => (await requestsOf(owner, query)).requests.map(({ requestId }) => requestId)
    expect(await idsOf('?requestId=asks-balance')).toEqual(['asks-balance'])
    expect(await idsOf(`?status=refused&key=${keyId}`)).toEqual(['wrong-key'])
    expect(await idsOf(`?method=POST&key=${keyId}`)).toEqual([])
    for (const id of ['no-such-key', 'no-key']) expect(await idsOf(`?requestId=${id}`)).toEqual([])
  })

  test('a partner sees the requests of its own tokens, and of the keys of a company that it chose', async () => {
    const { login, password } = partner
    const { token } = (
      await api.app.inject({ method: 'POST', url: '/partner/v1/auth/token', payload: { login, password } })
    ).json()
    await api.app.inject({
      method: 'GET',
      url: '/partner/v1/company?page=1',
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'of-partner' },
    })
    const browser = await signedIn(ofPartner(partner.partnerId), 'owner')
    await eventually(async () =>
      expect(await requestsOf(browser)).toMatchObject({
        of: 'PARTNER',
        requests: [{ requestId: 'of-partner', route: expect.stringMatching(/^\/partner\/v1\/company\/?$/), key: null }],
      }),
    )
    expect((await requestsOf(browser, `?companyId=${companyId}`)).of).toBe('COMPANY')

    const support = await signedIn(staff, 'support')
    expect(await requestsOf(support, `?partnerId=${partner.partnerId}`)).toMatchObject({
      of: 'PARTNER',
      requests: [{ requestId: 'of-partner' }],
    })
    expect((await support.ask('GET', '/requests?partnerId=99999999')).status).toBe(404)
    // Other people see their own requests, also if they name a partner.
    const other = await aPartner(api.sql)
    const stranger = await signedIn(ofPartner(other.partnerId), 'owner')
    expect((await requestsOf(stranger, `?partnerId=${partner.partnerId}`)).requests).toEqual([])
  })
})

describe('rights', () => {
  const reading = ['/keys', '/callbacks/settings', '/callbacks', '/callbacks/1', '/callbacks/tests/1', '/requests']
  const changing = [
    ['POST', '/keys', { type: 'MESSAGE' }],
    ['PATCH', '/keys/1', { name: 'x' }],
    ['POST', '/keys/1/reissue', undefined],
    ['POST', '/callbacks/1/replay', undefined],
    ['POST', '/callbacks/receivers/try', { receiver: 'https://hooks.example' }],
    ['POST', '/callbacks/secret', undefined],
    ['POST', '/callbacks/tests', { url: 'https://hooks.example' }],
  ] as const

  test('people without the right can read and change nothing', async () => {
    for (const place of [
      [ofCompany(companyId), 'sender'],
      [ofPartner(partner.partnerId), 'viewer'],
      [staff, 'moderator'],
    ] as [Parameters<typeof aPerson>[1], string][]) {
      const browser = await signedIn(...place)
      const query = `?companyId=${companyId}`
      for (const path of reading) expect([path, (await browser.ask('GET', path + query)).status]).toEqual([path, 403])
      for (const [method, path, body] of changing)
        expect([path, (await browser.ask(method, path + query, body)).status]).toEqual([path, 403])
    }
  })

  test('people who may only read can change nothing', async () => {
    const manager = await signedIn(ofPartner(partner.partnerId), 'manager')
    const query = `?companyId=${companyId}`
    expect((await keysOf(manager, query)).keys.length).toBeGreaterThan(0)
    for (const [method, path, body] of changing)
      expect([path, (await manager.ask(method, path + query, body)).status]).toEqual([path, 403])
  })

  test('a foreign company is not found, nor are its keys and callbacks under the own company', async () => {
    const query = `?companyId=${elsewhere}`
    for (const path of reading) expect([path, (await owner.ask('GET', path + query)).status]).toEqual([path, 404])
    for (const [method, path, body] of changing)
      expect([path, (await owner.ask(method, path + query, body)).status]).toEqual([path, 404])

    const admin = await signedIn(staff, 'admin')
    const { keyId } = (await admin.ask('POST', `/keys${query}`, { type: 'ENTITY' })).body
    const callbackId = await aCallback(elsewhere)
    const { testId } = (await admin.ask('POST', `/callbacks/tests${query}`, { url: 'https://hooks.example' })).body
    for (const [method, path, body] of [
      ['PATCH', `/keys/${keyId}`, { isActive: false }],
      ['POST', `/keys/${keyId}/reissue`, undefined],
      ['GET', `/callbacks/${callbackId}`, undefined],
      ['POST', `/callbacks/${callbackId}/replay`, undefined],
      ['GET', `/callbacks/tests/${testId}`, undefined],
    ] as const)
      expect([path, (await owner.ask(method, path, body)).status]).toEqual([path, 404])
  })
})
