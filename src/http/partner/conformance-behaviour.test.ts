import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { type ReviewStatus, reviewStatuses } from '../../domain/review/review.ts'
import { type Call, formOf, usePartnerApi } from '../../testing/api.ts'
import { aDispatch, approvedSenders, NIL_UUID, PDF, printOfTables } from '../../testing/conformance/world.ts'
import { aCompany, anApprovedSender, aPartner, aSender, numberOf, type TestPartner } from '../../testing/factories.ts'

/** The exact good answer of every endpoint, and the rules of the partner API one by one. */

const api = usePartnerApi()
let partner: TestPartner
let companyId: number
let senderIds: Awaited<ReturnType<typeof approvedSenders>>

beforeAll(async () => {
  partner = await aPartner(api.sql)
})

beforeEach(async () => {
  companyId = await aCompany(api.sql, partner)
  senderIds = await approvedSenders(api.sql, companyId)
})

const get = (path: string) => api.call({ method: 'GET', path, token: partner.token })
const post = (path: string, body?: object) =>
  api.call({ method: 'POST', path, token: partner.token, ...(body ? { body } : {}) })
const put = (path: string, body: object) => api.call({ method: 'PUT', path, token: partner.token, body })

const ofAllBrands = () => Object.values(senderIds)
const create = (given: Record<string, unknown> = {}) => post('/dispatches', aDispatch(companyId, ofAllBrands(), given))

async function expectRefused(call: () => Promise<{ status: number; body: unknown }>, msg: RegExp = /./) {
  const before = await printOfTables(api.sql)
  const { status, body } = await call()
  expect([status, body]).toEqual([400, { error: { code: 4000, msg: expect.stringMatching(msg) } }])
  expect(await printOfTables(api.sql)).toEqual(before)
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)

describe('the exact answers', () => {
  test('POST /auth/token', async () => {
    const { login, password } = partner
    const answer = await api.call({ method: 'POST', path: '/auth/token', body: { login, password } })
    expect([answer.status, answer.body]).toEqual([200, { token: expect.stringMatching(/^\S{20,}$/) }])
  })

  test('POST /company, GET /company, GET /company/{id}, PUT /company/{id}', async () => {
    const other = await aPartner(api.sql)
    const as = (call: Omit<Call, 'token'>) => api.call({ ...call, token: other.token })
    const company = { name: 'Vasilek', counteragentType: 'INDIVIDUAL', counteragentInn: '770000000001' }
    const full = {
      company: {
        name: 'Landysh',
        counteragentType: 'LEGAL',
        counteragentInn: '7700000003',
        counteragentAddress: 'Lesnaya 1',
        counteragentKpp: '770001001',
      },
      budget: 1500.25,
    }
    const first = await as({ method: 'POST', path: '/company', body: { company } })
    expect([first.status, first.body]).toEqual([201, { companyId: expect.any(Number) }])
    const second = await as({ method: 'POST', path: '/company', body: full })
    const [a, b] = [first.body.companyId, second.body.companyId]

    const inList = [
      {
        companyId: a,
        name: 'Vasilek',
        counteragentName: 'Vasilek',
        counteragentInn: '770000000001',
        status: 'ACTIVE',
        budget: null,
      },
      {
        companyId: b,
        name: 'Landysh',
        counteragentName: 'Landysh',
        counteragentInn: '7700000003',
        status: 'ACTIVE',
        budget: { value: 1500.25, currency: 'RUB' },
      },
    ]
    const list = await as({ method: 'GET', path: '/company' })
    expect([list.status, list.body]).toEqual([200, { page: 1, perPage: 10, total: 2, items: inList }])

    expect((await as({ method: 'GET', path: `/company/${a}` })).body).toEqual({
      ...inList[0],
      counteragentType: 'INDIVIDUAL',
      counteragentAddress: null,
      counteragentKpp: null,
      actualAddress: null,
      updatedAt: TIME,
    })

    const change = { name: 'Landysh-2', actualAddress: 'Polevaya 2', status: 'DISABLED', budget: 0 }
    const changed = await as({ method: 'PUT', path: `/company/${b}`, body: change })
    expect([changed.status, changed.body]).toEqual([200, { companyId: b, updatedAt: TIME }])
    const read = await as({ method: 'GET', path: `/company/${b}` })
    expect([read.status, read.body]).toEqual([
      200,
      {
        ...inList[1],
        name: 'Landysh-2',
        status: 'DISABLED',
        budget: { value: 0, currency: 'RUB' },
        counteragentType: 'LEGAL',
        counteragentAddress: 'Lesnaya 1',
        counteragentKpp: '770001001',
        actualAddress: 'Polevaya 2',
        updatedAt: changed.body.updatedAt,
      },
    ])
  })

  test('POST and GET /company/{id}/documents', async () => {
    expect((await get(`/company/${companyId}/documents`)).body).toEqual([])
    const call = { method: 'POST', path: `/company/${companyId}/documents`, token: partner.token } as const
    const upload = async (filename: string) =>
      api.call({ ...call, ...formOf({ name: 'file', filename, content: PDF }) })
    const first = await upload('charter.pdf')
    expect([first.status, first.body]).toEqual([201, { id: UUID, companyId, filename: 'charter.pdf', createdAt: TIME }])
    const second = await upload('licence.pdf')
    const list = await get(`/company/${companyId}/documents`)
    expect([list.status, list.body]).toEqual([200, [first.body, second.body]])
  })

  test('POST /senders, GET /senders/{id}, PUT, suspend and unsuspend', async () => {
    const made = await post('/senders', {
      companyId,
      senderName: 'VASILEK',
      channelType: 'SMS',
      commonType: 'PROMO',
      brand: 'MEGAFON',
      dateFrom: '2026-01-01T03:00:00+03:00',
    })
    const sender = {
      id: expect.any(Number),
      senderName: 'VASILEK',
      channelType: 'SMS',
      counteragentName: 'Ромашка',
      counteragentInn: '7700000001',
      dateFrom: '2026-01-01T00:00:00.000Z',
      dateTo: null,
      commonType: 'PROMO',
      brand: 'MEGAFON',
      status: 'DRAFT',
      suspended: false,
      fee: null,
      managerComment: null,
      rejectedAt: null,
      createdAt: TIME,
    }
    expect([made.status, made.body]).toEqual([201, sender])
    const { id } = made.body
    expect((await get(`/senders/${id}`)).body).toEqual(made.body)
    expect((await get(`/senders/${id}?companyId=${companyId}`)).body).toEqual(made.body)

    const changed = await put(`/senders/${id}`, {
      senderName: 'LANDYSH!',
      commonType: 'COMMON',
      dateFrom: '2026-02-01T00:00:00Z',
      dateTo: '2099-12-31T23:59:59+03:00',
    })
    const expected = {
      ...made.body,
      senderName: 'LANDYSH!',
      commonType: 'COMMON',
      dateFrom: '2026-02-01T00:00:00.000Z',
      dateTo: '2099-12-31T20:59:59.000Z',
    }
    expect([changed.status, changed.body]).toEqual([200, expected])

    const held = await post(`/senders/${id}/suspend`, { reason: 'complaints' })
    expect([held.status, held.body]).toEqual([200, { ...expected, suspended: true, suspendReason: 'complaints' }])
    expect((await get(`/senders/${id}`)).body).toEqual(held.body)
    const free = await post(`/senders/${id}/unsuspend`)
    expect([free.status, free.body]).toEqual([200, expected])
    expect((await post(`/senders/${id}/suspend`)).body).toEqual({ ...expected, suspended: true })
  })

  test('GET /senders', async () => {
    const list = await get(`/senders?companyId=${companyId}`)
    expect(list.status).toBe(200)
    expect(list.body.map((sender: { id: number }) => sender.id)).toEqual(ofAllBrands())
    for (const sender of list.body) expect(sender).toEqual((await get(`/senders/${sender.id}`)).body)
  })

  test('POST /dispatches, POST /dispatches/{id}/messages, GET /dispatches and GET /dispatches/{id}', async () => {
    const made = await create({
      name: 'Summer sale',
      text: 'Привет, {name}',
      messages: [
        { destination: numberOf.MTS, substitutions: { name: 'Анна' } },
        { destination: numberOf.TELE2, customText: 'я'.repeat(71) },
        { destination: 'nonsense' },
      ],
    })
    // COMMON names: 7.50 a part at MTS, 6.80 at TELE2.
    expect([made.status, made.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        status: 'CREATED',
        priceEstimate: { total: 21.1, currency: 'RUB', parts: 3 },
        total: 3,
        success: 2,
        failed: 1,
        messages: [
          { destination: numberOf.MTS, messageUuid: UUID, parts: 1, senderId: senderIds.MTS },
          { destination: numberOf.TELE2, messageUuid: UUID, parts: 2, senderId: senderIds.TELE2 },
        ],
      },
    ])
    const { id } = made.body

    const added = await post(`/dispatches/${id}/messages`, {
      messages: [{ destination: numberOf.BEELINE, customText: 'Hello' }],
    })
    expect([added.status, added.body]).toEqual([
      200,
      {
        id,
        status: 'CREATED',
        priceEstimate: { total: 7.3, currency: 'RUB', parts: 1 },
        total: 1,
        success: 1,
        failed: 0,
        messages: [{ destination: numberOf.BEELINE, messageUuid: UUID, parts: 1, senderId: senderIds.BEELINE }],
      },
    ])

    const item = {
      id,
      name: 'Summer sale',
      status: 'CREATED',
      channelType: 'SMS',
      parts: { total: 4, delivered: 0, failed: 0, pending: 4 },
      messages: { total: 4, delivered: 0, failed: 1, pending: 3 },
      priceEstimate: 28.4,
      createdAt: TIME,
      startedAt: null,
    }
    const read = await get(`/dispatches/${id}`)
    expect([read.status, read.body]).toEqual([200, item])
    const list = await get(`/dispatches?companyId=${companyId}`)
    expect([list.status, list.body]).toEqual([200, { page: 1, perPage: 10, total: 1, items: [read.body] }])
  })

  test('POST /dispatches/{id}/start and stop', async () => {
    const { id } = (await create()).body
    const started = await post(`/dispatches/${id}/start`)
    expect([started.status, started.body]).toEqual([200, { id, status: 'STARTED' }])
    const { startedAt, status } = (await get(`/dispatches/${id}`)).body
    expect([status, startedAt]).toEqual(['STARTED', TIME])

    const stopped = await post(`/dispatches/${id}/stop`)
    expect([stopped.status, stopped.body]).toEqual([200, { id, status: 'STOPPED' }])
    await post(`/dispatches/${id}/start`)
    expect((await get(`/dispatches/${id}`)).body).toMatchObject({ status: 'STARTED', startedAt })
  })

  test('GET /messages', async () => {
    const made = await create({
      text: 'Hi, {name}',
      messages: [
        { destination: '+7 (916) 000-00-01', substitutions: { name: 'Anna' } },
        { destination: 'nonsense', substitutions: { name: 'Boris' } },
      ],
    })
    const list = await get(`/messages?dispatchId=${made.body.id}`)
    expect([list.status, list.body]).toEqual([
      200,
      {
        page: 1,
        perPage: 100,
        total: 2,
        items: [
          {
            messageUuid: made.body.messages[0].messageUuid,
            destination: '79160000001',
            text: 'Hi, Anna',
            parts: 1,
            status: 'CREATED',
            price: 7.5,
            senderId: senderIds.MTS,
            brandId: 1,
            createdAt: TIME,
            sentAt: null,
            deliveredAt: null,
          },
          {
            messageUuid: UUID,
            destination: 'nonsense',
            text: null,
            parts: 0,
            status: 'FAILED',
            price: 0,
            senderId: null,
            brandId: 0,
            createdAt: TIME,
            sentAt: null,
            deliveredAt: null,
            errorCode: 7401,
          },
        ],
      },
    ])
    const ageMs = Date.now() - Date.parse(list.body.items[0].createdAt)
    expect(Math.abs(ageMs)).toBeLessThan(60_000)
  })

  test('GET /messages of messages that were sent, delivered and failed', async () => {
    const { id } = (await create({ messages: [1, 2, 3].map(() => ({ destination: numberOf.MTS })) })).body
    const sent = '2026-07-01T10:00:00.000Z'
    const final = '2026-07-01T10:00:05.000Z'
    await api.sql`update messages set sent_at = ${sent}, status = 'SENT' where dispatch_id = ${id}`
    await api.sql`update messages set final_at = ${final}, status = 'DELIVERED' where dispatch_id = ${id} and dispatch_position = 1`
    await api.sql`update messages set final_at = ${final}, status = 'FAILED', error_code = 7060
      where dispatch_id = ${id} and dispatch_position = 2`
    const { items } = (await get(`/messages?dispatchId=${id}`)).body
    expect(items[0]).toMatchObject({ status: 'SENT', sentAt: sent, deliveredAt: null })
    expect(items[1]).toMatchObject({ status: 'DELIVERED', sentAt: sent, deliveredAt: final })
    expect(items[2]).toMatchObject({ status: 'FAILED', sentAt: sent, deliveredAt: null, errorCode: 7060 })
    expect(items[0]).not.toHaveProperty('errorCode')
    expect(items[1]).not.toHaveProperty('errorCode')
  })

  test('PUT /recipients', async () => {
    const body = { companyId, msisdn: '8 (916) 000-00-99', blacklist: true, comment: 'asked to' }
    const added = await put('/recipients', body)
    expect([added.status, added.body]).toEqual([200, { msisdn: '79160000099', companyId, blacklist: true }])
    expect((await put('/recipients', body)).body).toEqual(added.body)
    const [row] = await api.sql`select destination, comment from blacklist where company_id = ${companyId}`
    expect(row).toEqual({ destination: '79160000099', comment: 'asked to' })

    const removed = await put('/recipients', { companyId, msisdn: '+79160000099', blacklist: false })
    expect([removed.status, removed.body]).toEqual([200, { msisdn: '79160000099', companyId, blacklist: false }])
    expect((await put('/recipients', { companyId, msisdn: '9160000099', blacklist: false })).status).toBe(200)
    expect(await api.sql`select 1 from blacklist where company_id = ${companyId}`).toHaveLength(0)
  })

  test('GET /price/tariffs', async () => {
    const fixed = await get('/price/tariffs?senderType=START&brand=MTS&trafficType=SERVICE')
    expect([fixed.status, fixed.body]).toEqual([
      200,
      {
        tariffs: [
          {
            senderType: 'START',
            brand: 'MTS',
            trafficType: 'SERVICE',
            pricingModel: 'FIXED',
            currency: 'RUB',
            prices: [{ from: 0, price: 4.1, priceMauBatch: null }],
          },
        ],
      },
    ])
    const mau = await get('/price/tariffs?senderType=PRO&pricingModel=MAU')
    expect(mau.body.tariffs).toEqual([
      {
        senderType: 'PRO',
        brand: 'MEGAFON',
        trafficType: 'PROMO',
        pricingModel: 'MAU',
        currency: 'RUB',
        prices: [
          { from: 1, price: 0.9, priceMauBatch: 1200 },
          { from: 1001, price: 0.9, priceMauBatch: 5000 },
          { from: 5001, price: 0.8, priceMauBatch: 18000 },
          { from: 25001, price: 0.7, priceMauBatch: 55000 },
        ],
      },
    ])
    const general = (await get('/price/tariffs?senderType=COMMON')).body.tariffs
    expect(general[0]).toEqual({
      senderType: 'COMMON',
      pricingModel: 'FIXED',
      currency: 'RUB',
      prices: [{ from: 0, price: 7.9, priceMauBatch: null }],
    })
    const all = (await get('/price/tariffs')).body.tariffs
    const valuesOf = (field: string) => new Set(all.map((tariff: Record<string, unknown>) => tariff[field]))
    expect(valuesOf('senderType')).toEqual(new Set(['COMMON', 'START', 'PRO']))
    expect(valuesOf('pricingModel')).toEqual(new Set(['FIXED', 'SCALED', 'MAU']))
    expect(valuesOf('brand')).toEqual(new Set([undefined, 'MTS', 'BEELINE', 'MEGAFON', 'TELE2']))
    expect(valuesOf('trafficType')).toEqual(new Set([undefined, 'PROMO', 'SERVICE', 'TRANSACT', 'AUTHORIZE']))
    for (const tariff of all) {
      if (tariff.pricingModel === 'FIXED') expect(tariff.prices).toHaveLength(1)
      else expect(tariff.prices.length).toBeGreaterThan(1)
    }
  })

  test.each([
    ['brand=Motiv', 0],
    ['brand=mts', 0],
    ['brand=', 0],
    ['brand=MTS&senderType=COMMON', 1],
    ['brand=MTS&pricingModel=MAU', 0],
  ])('GET /price/tariffs?%s finds %i', async (query, found) => {
    expect((await get(`/price/tariffs?${query}`)).body.tariffs).toHaveLength(found)
  })

  test("a partner sees its own tariff in place of the general one, and another partner's never", async () => {
    const other = await aPartner(api.sql)
    const [tariff] = await api.sql`
      insert into tariffs (partner_id, sender_type, brand, traffic_type, pricing_model, currency)
      values (${other.partnerId}, 'START', 'MTS', 'SERVICE', 'FIXED', 'RUB') returning tariff_id`
    await api.sql`insert into tariff_steps (tariff_id, from_count, price) values (${tariff!.tariffId}, 0, 1.2345)`
    const path = '/price/tariffs?senderType=START&brand=MTS&trafficType=SERVICE'
    const pricesOf = async (token: string) =>
      (await api.call({ method: 'GET', path, token })).body.tariffs.map((t: { prices: unknown[] }) => t.prices)
    expect(await pricesOf(other.token)).toEqual([[{ from: 0, price: 1.2345, priceMauBatch: null }]])
    expect(await pricesOf(partner.token)).toEqual([[{ from: 0, price: 4.1, priceMauBatch: null }]])
  })

  test('GET /price/senders', async () => {
    const fees = await get('/price/senders')
    expect([fees.status, fees.body]).toEqual([
      200,
      {
        senderFees: [
          { brand: 'MTS', value: 2500, currency: 'RUB' },
          { brand: 'BEELINE', value: 2200, currency: 'RUB' },
          { brand: 'MEGAFON', value: 2750, currency: 'RUB' },
          { brand: 'TELE2', value: 1900, currency: 'RUB' },
        ],
      },
    ])
  })
})

describe('companies', () => {
  const read = async () => (await get(`/company/${companyId}`)).body

  test('a change leaves what it does not name', async () => {
    await put(`/company/${companyId}`, { budget: 10, actualAddress: 'Polevaya 2' })
    const before = await read()
    const answer = await put(`/company/${companyId}`, {})
    expect([answer.status, answer.body]).toEqual([200, { companyId, updatedAt: TIME }])
    expect(await read()).toEqual({ ...before, updatedAt: answer.body.updatedAt })
    await put(`/company/${companyId}`, { status: 'DISABLED' })
    expect(await read()).toEqual({ ...before, status: 'DISABLED', updatedAt: TIME })
    expect(answer.body.updatedAt > before.updatedAt).toBe(true)
  })

  test('a renamed company keeps the name of its counteragent', async () => {
    await put(`/company/${companyId}`, { name: 'Vasilek' })
    expect(await read()).toMatchObject({ name: 'Vasilek', counteragentName: 'Ромашка' })
  })

  test('a budget of 0 is a budget, null lifts it', async () => {
    await put(`/company/${companyId}`, { budget: 0 })
    expect((await read()).budget).toEqual({ value: 0, currency: 'RUB' })
    await put(`/company/${companyId}`, { budget: null })
    expect((await read()).budget).toBeNull()
  })

  test.each([
    [0.1, 0.1],
    [1234567.8901, 1234567.8901],
    [0.00005, 0.0001],
    [0.00004, 0],
    [1e-7, 0],
  ])('a budget of %d is kept as %d', async (sent, kept) => {
    await put(`/company/${companyId}`, { budget: sent })
    expect((await read()).budget).toEqual({ value: kept, currency: 'RUB' })
  })

  test('are listed by id, a page at a time, and a page past the end is empty', async () => {
    const other = await aPartner(api.sql)
    const ids: number[] = []
    for (let i = 0; i < 12; i++) ids.push(await aCompany(api.sql, other))
    await api.call({ method: 'PUT', path: `/company/${ids[3]}`, token: other.token, body: { name: 'Touched' } })
    const page = async (query: string) => {
      const { body } = await api.call({ method: 'GET', path: `/company${query}`, token: other.token })
      return { ...body, items: body.items.map((item: { companyId: number }) => item.companyId) }
    }
    expect(await page('')).toEqual({ page: 1, perPage: 10, total: 12, items: ids.slice(0, 10) })
    expect(await page('?page=2')).toEqual({ page: 2, perPage: 10, total: 12, items: ids.slice(10) })
    expect(await page('?page=3&per_page=5')).toEqual({ page: 3, perPage: 5, total: 12, items: ids.slice(10) })
    expect(await page('?page=4&per_page=5')).toEqual({ page: 4, perPage: 5, total: 12, items: [] })
    expect(await page('?per_page=1000')).toEqual({ page: 1, perPage: 1000, total: 12, items: ids })
    expect(await page('?perPage=2')).toEqual({ page: 1, perPage: 10, total: 12, items: ids.slice(0, 10) })
  })

  test('a disabled one stays readable, and neither creates, adds to nor starts a dispatch', async () => {
    const { id } = (await create()).body
    const running = (await create()).body.id
    await post(`/dispatches/${running}/start`)
    await put(`/company/${companyId}`, { status: 'DISABLED' })

    await expectRefused(() => create(), /disabled/)
    await expectRefused(() => post('/dispatches?dryRun=true', aDispatch(companyId, ofAllBrands())), /disabled/)
    await expectRefused(() => post(`/dispatches/${id}/start`), /disabled/)
    await expectRefused(() => post(`/dispatches/${id}/messages`, { messages: [{ destination: numberOf.MTS }] }))
    for (const path of [
      `/company/${companyId}`,
      `/company/${companyId}/documents`,
      `/senders?companyId=${companyId}`,
      `/dispatches?companyId=${companyId}`,
      `/dispatches/${id}`,
      `/messages?dispatchId=${id}`,
    ]) {
      expect((await get(path)).status).toBe(200)
    }
    expect((await post(`/dispatches/${running}/stop`)).body).toEqual({ id: running, status: 'STOPPED' })

    await put(`/company/${companyId}`, { status: 'ACTIVE' })
    expect((await post(`/dispatches/${id}/start`)).status).toBe(200)
  })
})

describe('sender names', () => {
  const register = (given: object) =>
    post('/senders', {
      companyId,
      senderName: 'VASILEK',
      channelType: 'SMS',
      commonType: 'COMMON',
      brand: 'MTS',
      dateFrom: '2026-01-01T00:00:00Z',
      ...given,
    })

  test.each([
    ['MTS', 'SMS', 'A B+C!', 201],
    ['MEGAFON', 'SMS', 'ABC!', 201],
    ['MEGAFON', 'SMS', 'A B', 400],
    ['MEGAFON', 'SMS', 'A+B', 400],
    ['MEGAFON', 'VIBER', 'A B', 400],
    ['MEGAFON', 'VIBER', 'A+B', 400],
    ['MEGAFON', 'VIBER', 'Ромашка!', 201],
    ['TELE2', 'VIBER', 'Ромашка и Василёк', 201],
    ['TELE2', 'WHATSAPP', 'я'.repeat(64), 201],
    ['TELE2', 'WHATSAPP', '🌼'.repeat(64), 201],
    ['TELE2', 'WHATSAPP', 'я'.repeat(65), 400],
    ['TELE2', 'SMS', 'ELEVENCHARS', 201],
    ['TELE2', 'SMS', 'TWELVE-CHARS', 400],
    ['TELE2', 'SMS', 'A[B]', 400],
    ['TELE2', 'SMS', 'A\\B', 400],
    ['TELE2', 'TELEGRAM', 'TWELVE-CHARS', 201],
  ])('%s %s %s answers %i', async (brand, channelType, senderName, status) => {
    expect((await register({ brand, channelType, senderName })).status).toBe(status)
  })

  test('the MEGAFON rule holds for a changed name too', async () => {
    const { id } = (await register({ brand: 'MEGAFON' })).body
    await expectRefused(() => put(`/senders/${id}`, { senderName: 'A B' }), /^senderName: /)
    expect((await put(`/senders/${id}`, { senderName: 'A!B' })).body.senderName).toBe('A!B')
  })

  test('an unknown country is 4000, without one it is Russia', async () => {
    await expectRefused(() => register({ countryId: 5000 }), /^countryId: /)
    const russian = (await register({})).body.id
    const kazakh = (await register({ countryId: 398 })).body.id
    const idsOf = async (query: string) =>
      (await get(`/senders?companyId=${companyId}&${query}`)).body.map((sender: { id: number }) => sender.id)
    expect(await idsOf('countryCode=KZ')).toEqual([kazakh])
    expect(await idsOf('countryCode=RU')).toEqual([...ofAllBrands(), russian])
    expect(await idsOf('countryCode=RU&countryCode=KZ')).toEqual([...ofAllBrands(), russian, kazakh])
    expect(await idsOf('countryCode=XX')).toEqual([])
  })

  test('documents of the company can be attached and replaced', async () => {
    const call = { method: 'POST', path: `/company/${companyId}/documents`, token: partner.token } as const
    const upload = async () =>
      (await api.call({ ...call, ...formOf({ name: 'file', filename: 'charter.pdf', content: PDF }) })).body.id
    const [a, b] = [await upload(), await upload()]
    const { id } = (await register({ documentIds: [a] })).body
    const attached = async () =>
      (await api.sql`select document_ids from senders where sender_id = ${id}`)[0]!.documentIds
    expect(await attached()).toEqual([a])
    await put(`/senders/${id}`, { documentIds: [b.toUpperCase(), a] })
    expect(await attached()).toEqual([b, a])
    await put(`/senders/${id}`, { senderName: 'OTHER' })
    expect(await attached()).toEqual([b, a])
    await put(`/senders/${id}`, { documentIds: [] })
    expect(await attached()).toEqual([])
  })

  test('documents of another company of the same partner are 4000', async () => {
    const otherCompany = await aCompany(api.sql, partner)
    const call = { method: 'POST', path: `/company/${otherCompany}/documents`, token: partner.token } as const
    const { id } = (await api.call({ ...call, ...formOf({ name: 'file', filename: 'a.pdf', content: PDF }) })).body
    await expectRefused(() => register({ documentIds: [id] }), /^documentIds/)
    await expectRefused(() => put(`/senders/${senderIds.MTS}`, { documentIds: [id] }), /^documentIds/)
  })

  test('are filtered by each parameter, repeated ones by any of their values', async () => {
    const viber = (await register({ channelType: 'VIBER', brand: 'BEELINE', commonType: 'PROMO' })).body.id
    const draft = (await register({ brand: 'TELE2' })).body.id
    const idsOf = async (query: string) =>
      (await get(`/senders?companyId=${companyId}&${query}`)).body.map((sender: { id: number }) => sender.id)
    const { MTS, BEELINE, MEGAFON, TELE2 } = senderIds
    expect(await idsOf('brand=MTS')).toEqual([MTS])
    expect(await idsOf('brand=MTS&brand=BEELINE')).toEqual([MTS, BEELINE, viber])
    expect(await idsOf('channelType=VIBER')).toEqual([viber])
    expect(await idsOf('channelType=VIBER&channelType=SMS')).toEqual([MTS, BEELINE, MEGAFON, TELE2, viber, draft])
    expect(await idsOf('status=DRAFT')).toEqual([viber, draft])
    expect(await idsOf('status=DRAFT&status=APPROVED&brand=TELE2')).toEqual([TELE2, draft])
    expect(await idsOf('commonType=PROMO&commonType=MULTISIGNATURE')).toEqual([viber])
    expect(await idsOf('commonType=PROMO&status=APPROVED')).toEqual([])
  })

  const changes: Record<string, { value: () => unknown; allowed: ReviewStatus[] }> = {
    senderName: { value: () => 'LANDYSH', allowed: ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED'] },
    commonType: { value: () => 'PROMO', allowed: ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED'] },
    dateFrom: {
      value: () => '2026-03-01T00:00:00.000Z',
      allowed: ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'REJECTED'],
    },
    dateTo: {
      value: () => '2099-03-01T00:00:00.000Z',
      allowed: ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED'],
    },
    documentIds: {
      value: () => [],
      allowed: ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED', 'REJECTED'],
    },
  }
  const cases = Object.entries(changes).flatMap(([field, { value, allowed }]) =>
    reviewStatuses.map(status => [field, status, allowed.includes(status) ? 'may' : 'may not', value] as const),
  )

  test.each(cases)('%s of a name that is %s %s be changed', async (field, status, may, value) => {
    const { senderId } = await aSender(api.sql, companyId)
    await api.sql`update senders set status = ${status} where sender_id = ${senderId}`
    if (may === 'may not') {
      await expectRefused(() => put(`/senders/${senderId}`, { [field]: value() }), new RegExp(`^${field}: .*${status}`))
      return
    }
    const answer = await put(`/senders/${senderId}`, { [field]: value() })
    expect(answer.status).toBe(200)
    expect(answer.body.status).toBe(status === 'REJECTED' ? 'PRE_REVIEW' : status)
    if (field !== 'documentIds') expect(answer.body[field]).toBe(value())
  })

  test('one refused field refuses the whole change', async () => {
    const change = { dateTo: '2099-01-01T00:00:00Z', senderName: 'LANDYSH' }
    await expectRefused(() => put(`/senders/${senderIds.MTS}`, change), /^senderName: /)
  })

  test('an empty change is taken, and a rejected name goes back into review with it', async () => {
    const { senderId } = await aSender(api.sql, companyId)
    const before = (await get(`/senders/${senderId}`)).body
    expect((await put(`/senders/${senderId}`, {})).body).toEqual(before)
    await api.sql`update senders set status = 'REJECTED', rejected_at = now(), manager_comment = 'unclear'
      where sender_id = ${senderId}`
    expect((await get(`/senders/${senderId}`)).body).toMatchObject({
      status: 'REJECTED',
      rejectedAt: TIME,
      managerComment: 'unclear',
    })
    expect((await put(`/senders/${senderId}`, {})).body).toMatchObject({ status: 'PRE_REVIEW', rejectedAt: null })
  })

  test('the end of validity is neither before its beginning nor in the past', async () => {
    const now = new Date('2026-07-01T12:00:00Z')
    api.now = now
    try {
      const { id } = (await register({ dateFrom: '2026-01-01T00:00:00Z' })).body
      const future = (await register({ dateFrom: '2027-01-01T00:00:00Z' })).body.id
      await expectRefused(() => put(`/senders/${id}`, { dateTo: '2026-07-01T11:59:59Z' }), /^dateTo: .*past/)
      await expectRefused(() => put(`/senders/${future}`, { dateTo: '2026-12-31T23:59:59Z' }), /^dateTo: .*dateFrom/)
      await expectRefused(() =>
        put(`/senders/${id}`, { dateFrom: '2027-01-01T00:00:00Z', dateTo: '2026-12-31T00:00:00Z' }),
      )
      expect((await put(`/senders/${id}`, { dateTo: '2026-07-01T12:00:00Z' })).status).toBe(200)
      expect((await put(`/senders/${future}`, { dateTo: '2027-01-01T00:00:00Z' })).status).toBe(200)
      await expectRefused(() => put(`/senders/${future}`, { dateFrom: '2027-01-02T00:00:00Z' }))
    } finally {
      api.now = undefined
    }
  })

  test('a suspended name keeps its status in every state, and both verbs may be repeated', async () => {
    for (const status of reviewStatuses) {
      const { senderId } = await aSender(api.sql, companyId)
      await api.sql`update senders set status = ${status} where sender_id = ${senderId}`
      for (let i = 0; i < 2; i++) {
        const held = (await post(`/senders/${senderId}/suspend`, { reason: 'pause' })).body
        expect(held).toMatchObject({ status, suspended: true, suspendReason: 'pause' })
      }
      for (let i = 0; i < 2; i++) {
        const free = (await post(`/senders/${senderId}/unsuspend`)).body
        expect(free).toMatchObject({ status, suspended: false })
        expect(free).not.toHaveProperty('suspendReason')
      }
    }
  })

  test('the name of the counteragent follows the company, not its new name', async () => {
    await put(`/company/${companyId}`, { name: 'Renamed' })
    expect((await get(`/senders/${senderIds.MTS}`)).body.counteragentName).toBe('Ромашка')
  })
})

describe('which senders a dispatch may name', () => {
  const withSenders = (ids: number[], given: object = {}) =>
    post('/dispatches', aDispatch(companyId, ids, { ...given }))
  const aSenderThat = async (status: ReviewStatus, given: object = {}) => {
    const { senderId } = await aSender(api.sql, companyId, given)
    await api.sql`update senders set status = ${status} where sender_id = ${senderId}`
    return senderId
  }

  test.each(reviewStatuses)('a sender that is %s, at creation and at start', async status => {
    const id = await aSenderThat(status)
    if (['REJECTED', 'DENIED', 'CLOSED'].includes(status)) {
      await expectRefused(() => withSenders([id]), new RegExp(`^senderIds\\[0\\].*${status}`))
      return
    }
    const made = await withSenders([id])
    expect(made.body).toMatchObject({ success: 1, status: 'CREATED' })
    const start = () => post(`/dispatches/${made.body.id}/start`)
    if (status === 'APPROVED') expect((await start()).status).toBe(200)
    else await expectRefused(start, new RegExp(`sender ${id} .*${status}`))
  })

  test.each(['REJECTED', 'DENIED', 'CLOSED'] as const)('a sender that became %s since does not start', async status => {
    const id = await aSenderThat('APPROVED')
    const made = await withSenders([id])
    await api.sql`update senders set status = ${status} where sender_id = ${id}`
    await expectRefused(() => post(`/dispatches/${made.body.id}/start`), new RegExp(`sender ${id} .*${status}`))
    await expectRefused(() =>
      post(`/dispatches/${made.body.id}/messages`, { messages: [{ destination: numberOf.MTS }] }),
    )
  })

  test('a suspended one is refused at creation; suspended since then it does not hinder the start', async () => {
    const { id } = (await withSenders([senderIds.MTS])).body
    await post(`/senders/${senderIds.MTS}/suspend`)
    await expectRefused(() => withSenders([senderIds.MTS]), /^senderIds\[0\].*suspended/)
    expect((await post(`/dispatches/${id}/start`)).status).toBe(200)
  })

  test('one of another channel is refused', async () => {
    const viber = await anApprovedSender(api.sql, companyId, { channelType: 'VIBER' })
    await expectRefused(() => withSenders([viber.senderId]), /^senderIds\[0\]/)
    await expectRefused(() => withSenders([senderIds.MTS], { channelType: 'VIBER' }), /^senderIds\[0\]/)
  })

  test('one of another company of the same partner is refused', async () => {
    const other = await anApprovedSender(api.sql, await aCompany(api.sql, partner))
    await expectRefused(() => withSenders([senderIds.MTS, other.senderId]), /^senderIds\[1\]/)
  })

  test('two of one brand, or one twice, are refused', async () => {
    const second = await anApprovedSender(api.sql, companyId, { brand: 'MTS' })
    await expectRefused(() => withSenders([senderIds.MTS, senderIds.TELE2, second.senderId]), /^senderIds\[2\]/)
    await expectRefused(() => withSenders([senderIds.MTS, senderIds.MTS]), /^senderIds\[1\]/)
  })

  test.each(['INTERNATIONAL_COMMON', 'INTERNATIONAL_VERIFY'] as const)(
    'an %s one counts apart and serves numbers outside Russia alone',
    async commonType => {
      const abroad = await anApprovedSender(api.sql, companyId, { commonType, brand: 'MTS' })
      const messages = [{ destination: numberOf.MTS }, { destination: '77010000001' }, { destination: '4915110000001' }]
      const both = await withSenders([senderIds.MTS, abroad.senderId], { messages })
      expect(both.body.messages.map((message: { senderId: number }) => message.senderId)).toEqual([
        senderIds.MTS,
        abroad.senderId,
        abroad.senderId,
      ])
      // 7.50 for the Russian number, 14.50 to Kazakhstan, 11.90 to Germany.
      expect(both.body.priceEstimate.total).toBe(33.9)

      const onlyAbroad = await withSenders([abroad.senderId], { messages })
      expect(onlyAbroad.body).toMatchObject({ success: 2, failed: 1 })
      const onlyHome = await withSenders([senderIds.MTS], { messages })
      expect(onlyHome.body).toMatchObject({ success: 1, failed: 2 })
      const second = await anApprovedSender(api.sql, companyId, { commonType, brand: 'TELE2' })
      await expectRefused(() => withSenders([abroad.senderId, second.senderId]), /^senderIds\[1\]/)
    },
  )

  test('channels other than SMS take the sender of the brand, else the first', async () => {
    const beeline = await anApprovedSender(api.sql, companyId, { channelType: 'VIBER', brand: 'BEELINE' })
    const mts = await anApprovedSender(api.sql, companyId, { channelType: 'VIBER', brand: 'MTS' })
    const destinations = [numberOf.MTS, numberOf.BEELINE, numberOf.TELE2, '79000300001', '4915110000001']
    const made = await withSenders([beeline.senderId, mts.senderId], {
      channelType: 'VIBER',
      text: 'я'.repeat(500),
      messages: destinations.map(destination => ({ destination })),
    })
    expect(made.body.messages.map((message: { senderId: number }) => message.senderId)).toEqual([
      mts.senderId,
      beeline.senderId,
      beeline.senderId,
      beeline.senderId,
      beeline.senderId,
    ])
    expect(made.body.priceEstimate).toEqual({ total: 19.5, currency: 'RUB', parts: 5 })
  })
})

describe('recipients', () => {
  const failedOf = async (id: number) =>
    (await get(`/messages?dispatchId=${id}&status=FAILED&perPage=1000`)).body.items.map(
      ({ destination, errorCode }: { destination: string; errorCode: number }) => [destination, errorCode],
    )

  test.each([
    ['7401 for no number', { destination: 'nonsense' }, 7401],
    ['7401 for nothing', { destination: '' }, 7401],
    ['7401 for four digits', { destination: '1234' }, 7401],
    ['7401 for sixteen digits', { destination: '1234567890123456' }, 7401],
    ['7401 for a length its country does not have', { destination: '7916000000' }, 7401],
    ['7401 for a foreign length that does not exist', { destination: '3312345678' }, 7401],
    ['7401 for a Russian number of no range', { destination: '70000000000' }, 7401],
    ['7401 for a letter among digits', { destination: '7916000000a' }, 7401],
    ['7401 for digits of another script', { destination: '７９１６０００００００１' }, 7401],
    ['7402 for a blacklisted number', { destination: '+7 916 000-00-66' }, 7402],
    ['7403 for a number of no sender', { destination: numberOf.BEELINE }, 7403],
    ['7403 for an operator outside the four brands', { destination: '79000300001' }, 7403],
    ['7403 for a foreign number without a sender for it', { destination: '4915110000001' }, 7403],
    ['7404 for a placeholder without substitutions', { destination: numberOf.MTS, substitutions: undefined }, 7404],
    ['7404 for a substitution that is missing', { destination: numberOf.MTS, substitutions: { other: 'x' } }, 7404],
    ['7404 for a substitution that is null', { destination: numberOf.MTS, substitutions: { name: null } }, 7404],
    ['7404 for one in other letters', { destination: numberOf.MTS, substitutions: { Name: 'x' } }, 7404],
    ['7405 for an empty text', { destination: numberOf.MTS, customText: '' }, 7405],
    ['7405 for eleven parts', { destination: numberOf.MTS, customText: 'x'.repeat(1531) }, 7405],
    ['7405 for eleven parts of Cyrillic', { destination: numberOf.MTS, customText: 'я'.repeat(671) }, 7405],
    [
      '7405 for a substitution of a megabyte',
      { destination: numberOf.MTS, substitutions: { name: 'x'.repeat(1e6) } },
      7405,
    ],
  ])('%s', async (_, recipient, code) => {
    await put('/recipients', { companyId, msisdn: '79160000066', blacklist: true })
    const good = { destination: numberOf.MTS, substitutions: { name: 'Anna' } }
    const message = { substitutions: { name: 'Anna' }, ...recipient }
    const body = aDispatch(companyId, [senderIds.MTS], { text: 'Hi {name}', messages: [good, message, good] })
    const made = await post('/dispatches', body)
    expect(made.body).toMatchObject({ total: 3, success: 2, failed: 1, priceEstimate: { total: 15, parts: 2 } })
    expect(made.body.messages.map((m: { destination: string }) => m.destination)).toEqual([numberOf.MTS, numberOf.MTS])
    expect(await failedOf(made.body.id)).toEqual([[recipient.destination, code]])
    const { items } = (await get(`/messages?dispatchId=${made.body.id}`)).body
    expect(items.map((item: { status: string }) => item.status)).toEqual(['CREATED', 'FAILED', 'CREATED'])
    expect(items[1]).toMatchObject({ parts: 0, price: 0, sentAt: null, deliveredAt: null })
  })

  test('ten parts are the most', async () => {
    const messages = ['x'.repeat(1530), 'я'.repeat(670)].map(customText => ({ destination: numberOf.MTS, customText }))
    const { body } = await create({ messages })
    expect(body.messages.map((message: { parts: number }) => message.parts)).toEqual([10, 10])
    expect(body.priceEstimate).toEqual({ total: 150, currency: 'RUB', parts: 20 })
  })

  test.each([
    ['+7 (916) 000-00-01', '79160000001'],
    ['89160000001', '79160000001'],
    ['8 (916) 000 00 01', '79160000001'],
    ['7-916-000-00-01', '79160000001'],
    ['[7] 9160000001', '79160000001'],
    [' 79160000001 ', '79160000001'],
    ['+79160000001', '79160000001'],
  ])('%s is %s', async (written, digits) => {
    const { body } = await create({ messages: [{ destination: written }] })
    expect(body.messages.map((message: { destination: string }) => message.destination)).toEqual([digits])
    expect((await get(`/messages?dispatchId=${body.id}`)).body.items[0].destination).toBe(digits)
  })

  test('are told in the order submitted, repeated ones included', async () => {
    const destinations = [numberOf.TELE2, numberOf.MTS, numberOf.TELE2, 'bad', numberOf.BEELINE, numberOf.TELE2]
    const { body } = await create({ messages: destinations.map(destination => ({ destination })) })
    const accepted = destinations.filter(destination => destination !== 'bad')
    expect(body.messages.map((message: { destination: string }) => message.destination)).toEqual(accepted)
    expect(new Set(body.messages.map((message: { messageUuid: string }) => message.messageUuid)).size).toBe(5)
    expect(body.total).toBe(body.success + body.failed)
    const { items } = (await get(`/messages?dispatchId=${body.id}`)).body
    expect(items.map((item: { destination: string }) => item.destination)).toEqual(destinations)
    expect(items.map((item: { brandId: number }) => item.brandId)).toEqual([4, 1, 4, 0, 2, 4])
  })

  test('all of them rejected is still a dispatch', async () => {
    const { status, body } = await create({ messages: [{ destination: 'a' }, { destination: 'b' }] })
    expect([status, body]).toEqual([
      200,
      {
        id: expect.any(Number),
        status: 'CREATED',
        priceEstimate: { total: 0, currency: 'RUB', parts: 0 },
        total: 2,
        success: 0,
        failed: 2,
        messages: [],
      },
    ])
  })

  test('the number on the blacklist is one of this company alone', async () => {
    const other = await aCompany(api.sql, partner)
    await put('/recipients', { companyId: other, msisdn: numberOf.MTS, blacklist: true })
    expect((await create()).body).toMatchObject({ success: 1 })
    await put('/recipients', { companyId, msisdn: numberOf.MTS, blacklist: true })
    expect((await create()).body).toMatchObject({ success: 0, failed: 1 })
    await put('/recipients', { companyId, msisdn: numberOf.MTS, blacklist: false })
    expect((await create()).body).toMatchObject({ success: 1 })
  })

  test.each([
    ['{name}, {age}, {vip}', { name: 'Anna', age: 30.5, vip: false }, 'Anna, 30.5, false'],
    ['{имя} {_x1}', { имя: 'Анна', _x1: '' }, 'Анна '],
    ['{name}{name}', { name: '{age}', age: 1 }, '{age}{age}'],
    ['{} { name } {1a} {a-b} {{name}}', { name: 'A' }, '{} { name } {1a} {a-b} {A}'],
    ['{constructor}', { constructor: 'c' }, 'c'],
    ['{__proto__}', JSON.parse('{"__proto__": "p"}'), 'p'],
    ['{toString}', JSON.parse('{"toString": "t", "hasOwnProperty": 1}'), 't'],
    ['no placeholders', { name: 'unused' }, 'no placeholders'],
    ['{name}', { name: '$& \\1 \t\n"\\N' }, '$& \\1 \t\n"\\N'],
  ])('the text %o with %o', async (text, substitutions, expected) => {
    const body = aDispatch(companyId, ofAllBrands(), { text })
    const recipient = `{"destination":"${numberOf.MTS}","substitutions":${JSON.stringify(substitutions)}}`
    const raw = JSON.stringify({ ...body, messages: ['MARK'] }).replace('"MARK"', () => recipient)
    const made = await api.call({
      method: 'POST',
      path: '/dispatches',
      token: partner.token,
      body: raw,
      headers: { 'content-type': 'application/json' },
    })
    expect(made.body).toMatchObject({ success: 1 })
    expect((await get(`/messages?dispatchId=${made.body.id}`)).body.items[0].text).toBe(expected)
  })

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'the placeholder {%s} finds nothing that every object inherits',
    async name => {
      const { body } = await create({ text: `{${name}}`, messages: [{ destination: numberOf.MTS, substitutions: {} }] })
      expect(await failedOf(body.id)).toEqual([[numberOf.MTS, 7404]])
    },
  )

  test('a text of their own overrides the text and is not filled in; null is as if absent', async () => {
    const { body } = await create({
      text: 'Hi {name}',
      messages: [
        { destination: numberOf.MTS, customText: 'Bye {name}', substitutions: { name: 'Anna' } },
        { destination: numberOf.MTS, customText: null, substitutions: { name: 'Anna' } },
      ],
    })
    const { items } = (await get(`/messages?dispatchId=${body.id}`)).body
    expect(items.map((item: { text: string }) => item.text)).toEqual(['Bye {name}', 'Hi Anna'])
  })

  test('an empty text of the dispatch rejects those without one of their own', async () => {
    const { body } = await create({
      text: '',
      messages: [{ destination: numberOf.MTS }, { destination: numberOf.TELE2, customText: 'Hello' }],
    })
    expect(body).toMatchObject({ success: 1, failed: 1 })
    expect(await failedOf(body.id)).toEqual([[numberOf.MTS, 7405]])
  })

  test('an addition answers for itself alone, and goes to the end', async () => {
    const { id } = (await create({ messages: [{ destination: numberOf.MTS }, { destination: 'bad' }] })).body
    const added = await post(`/dispatches/${id}/messages`, {
      messages: [{ destination: 'worse' }, { destination: numberOf.TELE2 }],
    })
    expect(added.body).toMatchObject({
      id,
      total: 2,
      success: 1,
      failed: 1,
      priceEstimate: { total: 6.8, currency: 'RUB', parts: 1 },
    })
    const list = (await get(`/messages?dispatchId=${id}`)).body
    expect(list.items.map((item: { destination: string }) => item.destination)).toEqual([
      numberOf.MTS,
      'bad',
      'worse',
      numberOf.TELE2,
    ])
    expect((await get(`/dispatches/${id}`)).body).toMatchObject({
      priceEstimate: 14.3,
      messages: { total: 4, delivered: 0, failed: 2, pending: 2 },
    })
  })
})

describe('dry run', () => {
  test('answers as if, with id 0 and nil UUIDs, and stores nothing', async () => {
    await put('/recipients', { companyId, msisdn: numberOf.BEELINE, blacklist: true })
    const messages = [numberOf.MTS, 'bad', numberOf.BEELINE, numberOf.TELE2].map(destination => ({ destination }))
    const body = aDispatch(companyId, ofAllBrands(), { messages })
    const before = await printOfTables(api.sql)
    const tried = await post('/dispatches?dryRun=true', body)
    expect(await printOfTables(api.sql)).toEqual(before)
    expect([tried.status, tried.body]).toEqual([
      200,
      {
        id: 0,
        status: 'CREATED',
        priceEstimate: { total: 14.3, currency: 'RUB', parts: 2 },
        total: 4,
        success: 2,
        failed: 2,
        messages: [
          { destination: numberOf.MTS, messageUuid: NIL_UUID, parts: 1, senderId: senderIds.MTS },
          { destination: numberOf.TELE2, messageUuid: NIL_UUID, parts: 1, senderId: senderIds.TELE2 },
        ],
      },
    ])
    const { id: _, messages: __, ...same } = tried.body
    expect((await post('/dispatches?dryRun=false', body)).body).toMatchObject(same)
  })
})

describe('states of a dispatch', () => {
  const inState = async (status: string) => {
    const { id } = (await create()).body
    if (status === 'STARTED' || status === 'STOPPED') await post(`/dispatches/${id}/start`)
    if (status === 'STOPPED') await post(`/dispatches/${id}/stop`)
    if (status === 'COMPLETED') await api.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${id}`
    return id as number
  }

  test.each([
    ['start', 'CREATED', 'STARTED'],
    ['start', 'STARTED', 'STARTED'],
    ['start', 'STOPPED', 'STARTED'],
    ['start', 'COMPLETED', undefined],
    ['stop', 'CREATED', undefined],
    ['stop', 'STARTED', 'STOPPED'],
    ['stop', 'STOPPED', 'STOPPED'],
    ['stop', 'COMPLETED', undefined],
  ])('%s from %s: %s', async (verb, from, to) => {
    const id = await inState(from)
    const act = () => post(`/dispatches/${id}/${verb}`)
    if (!to) return expectRefused(act, new RegExp(from))
    const before = await printOfTables(api.sql)
    const { status, body } = await act()
    expect([status, body]).toEqual([200, { id, status: to }])
    expect((await get(`/dispatches/${id}`)).body.status).toBe(to)
    if (from === to) expect(await printOfTables(api.sql)).toEqual(before)
  })

  test.each(['STARTED', 'STOPPED', 'COMPLETED'])('messages are not added to a dispatch that is %s', async status => {
    const id = await inState(status)
    await expectRefused(() => post(`/dispatches/${id}/messages`, { messages: [{ destination: numberOf.MTS }] }))
  })

  test('two starts, two stops and an addition at the same time leave one consistent dispatch', async () => {
    const { id } = (await create()).body
    const add = () => post(`/dispatches/${id}/messages`, { messages: [{ destination: numberOf.MTS }] })
    const answers = await Promise.all([
      add(),
      post(`/dispatches/${id}/start`),
      post(`/dispatches/${id}/start`),
      add(),
      add(),
    ])
    for (const { status } of answers) expect([200, 400]).toContain(status)
    const added = answers.filter(({ status, body }) => status === 200 && 'total' in body).length
    const dispatch = (await get(`/dispatches/${id}`)).body
    expect(dispatch).toMatchObject({ status: 'STARTED', messages: { total: 1 + added, pending: 1 + added } })
    expect((await get(`/messages?dispatchId=${id}`)).body.total).toBe(1 + added)
  })
})

describe('lists', () => {
  test('dispatches come newest first, by status and page; a page past the end is empty', async () => {
    const ids: number[] = []
    for (let i = 0; i < 12; i++) ids.unshift((await create()).body.id)
    await post(`/dispatches/${ids[11]}/start`)
    const page = async (query: string) => {
      const { body } = await get(`/dispatches?companyId=${companyId}${query}`)
      return { ...body, items: body.items.map((item: { id: number }) => item.id) }
    }
    expect(await page('')).toEqual({ page: 1, perPage: 10, total: 12, items: ids.slice(0, 10) })
    expect(await page('&page=2')).toEqual({ page: 2, perPage: 10, total: 12, items: ids.slice(10) })
    expect(await page('&page=3')).toEqual({ page: 3, perPage: 10, total: 12, items: [] })
    expect(await page('&page=3&perPage=4')).toEqual({ page: 3, perPage: 4, total: 12, items: ids.slice(8) })
    expect(await page('&status=STARTED')).toEqual({ page: 1, perPage: 10, total: 1, items: [ids[11]] })
    expect(await page('&status=COMPLETED')).toEqual({ page: 1, perPage: 10, total: 0, items: [] })
    expect(await page('&status=CREATED&page=2&perPage=5')).toEqual({
      page: 2,
      perPage: 5,
      total: 11,
      items: ids.slice(5, 10),
    })
    expect(await page('&per_page=3')).toMatchObject({ perPage: 10 })
  })

  test('messages come in the order submitted, by status and page; a page past the end is empty', async () => {
    const destinations = Array.from({ length: 250 }, (_, i) =>
      i % 5 === 2 ? `bad-${i}` : `7916${String(i).padStart(7, '0')}`,
    )
    const half = destinations.slice(0, 130).map(destination => ({ destination }))
    const { id } = (await create({ messages: half })).body
    await post(`/dispatches/${id}/messages`, {
      messages: destinations.slice(130).map(destination => ({ destination })),
    })
    const page = async (query: string) => {
      const { body } = await get(`/messages?dispatchId=${id}${query}`)
      return { ...body, items: body.items.map((item: { destination: string }) => item.destination) }
    }
    const failed = destinations.filter(destination => destination.startsWith('bad'))
    const created = destinations.filter(destination => !destination.startsWith('bad'))
    expect(await page('')).toEqual({ page: 1, perPage: 100, total: 250, items: destinations.slice(0, 100) })
    expect(await page('&page=3')).toEqual({ page: 3, perPage: 100, total: 250, items: destinations.slice(200) })
    expect(await page('&page=4')).toEqual({ page: 4, perPage: 100, total: 250, items: [] })
    expect(await page('&perPage=1000')).toEqual({ page: 1, perPage: 1000, total: 250, items: destinations })
    expect(await page('&status=FAILED&perPage=7&page=3')).toEqual({
      page: 3,
      perPage: 7,
      total: 50,
      items: failed.slice(14, 21),
    })
    expect(await page('&status=CREATED&page=2')).toEqual({
      page: 2,
      perPage: 100,
      total: 200,
      items: created.slice(100),
    })
    expect(await page('&status=CREATED&page=3')).toEqual({ page: 3, perPage: 100, total: 200, items: [] })
    expect(await page('&status=DELIVERED')).toEqual({ page: 1, perPage: 100, total: 0, items: [] })
  })
})

describe('money', () => {
  test('a dispatch that would go over the budget does not start, and nothing changes', async () => {
    await put(`/company/${companyId}`, { budget: 7.49 })
    const { id } = (await create()).body
    await expectRefused(() => post(`/dispatches/${id}/start`), /budget/i)
    await put(`/company/${companyId}`, { budget: 7.5 })
    expect((await post(`/dispatches/${id}/start`)).status).toBe(200)
  })

  test('the price is that of the sender: COMMON, START without a fee, PRO with one', async () => {
    const start = await anApprovedSender(api.sql, companyId, { brand: 'MTS', commonType: 'PROMO' })
    const pro = await anApprovedSender(api.sql, companyId, { brand: 'MTS', commonType: 'PROMO' })
    await api.sql`update senders set fee = ${api.sql.typed.money(money('2500'))} where sender_id = ${pro.senderId}`
    const totalOf = async (id: number) =>
      (await post('/dispatches?dryRun=true', aDispatch(companyId, [id]))).body.priceEstimate.total
    expect(await totalOf(senderIds.MTS)).toBe(7.5)
    expect(await totalOf(start.senderId)).toBe(6.4)
    expect(await totalOf(pro.senderId)).toBe(5.9)
    expect((await get(`/senders/${pro.senderId}`)).body.fee).toBe(2500)
  })
})

describe('guessing passwords', () => {
  const start = new Date('2026-07-01T12:00:00Z')
  const later = (seconds: number) => new Date(start.getTime() + seconds * 1000)
  const tooMany = { error: { code: 4290, msg: expect.any(String) } }
  const logIn = (login: string, password: string, address: string) =>
    api.call({ method: 'POST', path: '/auth/token', body: { login, password }, address })

  beforeEach(async () => {
    await api.sql`delete from login_failures`
    api.now = start
    return () => {
      api.now = undefined
    }
  })

  test('ten failures for a login close it for the rest of ten minutes, from any address, for the right password too', async () => {
    const { login, password } = await aPartner(api.sql)
    for (let i = 0; i < 10; i++) {
      api.now = later(i * 10)
      expect((await logIn(login, 'wrong', `192.0.2.${i + 10}`)).body).toEqual({
        error: { code: 4012, msg: 'Bad credentials' },
      })
    }
    api.now = later(120)
    for (const guess of ['wrong', password]) {
      const closed = await logIn(login, guess, '192.0.2.200')
      expect([closed.status, closed.body]).toEqual([429, tooMany])
      expect(closed.headers['retry-after']).toBe('480')
      expect(closed.headers['ratelimit-limit']).toBe('10')
      expect(closed.headers['ratelimit-remaining']).toBe('0')
      expect(closed.headers['ratelimit-reset']).toBe('480')
    }
    api.now = later(599)
    expect((await logIn(login, password, '192.0.2.200')).headers['retry-after']).toBe('1')
    api.now = later(601)
    expect((await logIn(login, password, '192.0.2.200')).status).toBe(200)
  })

  test('ten failures from an address close it for every login, others stay open', async () => {
    const { login, password } = await aPartner(api.sql)
    for (let i = 0; i < 10; i++) expect((await logIn(`nobody-${i}`, 'wrong', '192.0.2.50')).status).toBe(401)
    expect((await logIn(login, password, '192.0.2.50')).status).toBe(429)
    expect((await logIn(login, password, '192.0.2.51')).status).toBe(200)
    api.now = later(601)
    expect((await logIn(login, password, '192.0.2.50')).status).toBe(200)
  })

  test('nine failures close nothing, and old ones are not counted', async () => {
    const { login, password } = await aPartner(api.sql)
    for (let i = 0; i < 9; i++) await logIn(login, 'wrong', '192.0.2.60')
    expect((await logIn(login, password, '192.0.2.60')).status).toBe(200)
    api.now = later(700)
    for (let i = 0; i < 9; i++) expect((await logIn(login, 'wrong', '192.0.2.60')).status).toBe(401)
    expect((await logIn(login, password, '192.0.2.60')).status).toBe(200)
  })

  test('a request that is no login counts for nothing', async () => {
    for (let i = 0; i < 12; i++) {
      const call = { method: 'POST', path: '/auth/token', body: { login: 5 }, address: '192.0.2.70' } as const
      expect((await api.call(call)).status).toBe(400)
    }
    expect((await logIn(partner.login, partner.password, '192.0.2.70')).status).toBe(200)
  })
})

test('a path may end with a slash', async () => {
  expect((await get(`/company/${companyId}/`)).status).toBe(200)
  expect((await get(`/dispatches/?companyId=${companyId}`)).status).toBe(200)
})

test('nothing above was our fault', () => {
  expect(api.errors).toEqual([])
})
