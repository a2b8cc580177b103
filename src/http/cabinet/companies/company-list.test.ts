import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { pageOfCompanies } from '../../../domain/companies/companies.ts'
import { companySummaries } from '../../../domain/overview/summaries.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, aSender, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { CompanyAnswer, CompanyListAnswer } from './company-list.ts'

const { api } = useApp('/docs/partner.json')
const NOW = new Date('2026-11-12T11:32:00Z') // 14:32 in Moscow
let partner: TestPartner
let other: TestPartner
let romashka: number
let coffee: number
let foreign: number

beforeAll(async () => {
  api.now = NOW
  partner = await aPartner(api.sql, 'medialink')
  other = await aPartner(api.sql, 'northwind')
  romashka = await aCompany(api.sql, partner, { name: 'Ромашка', budget: money('1000') })
  coffee = await aCompany(api.sql, partner, { name: 'Точка кофе' })
  foreign = await aCompany(api.sql, other, { name: 'Окна' })
  await api.sql`update accounts set reserved = 100 where company_id = ${romashka}`
  await api.sql`insert into account_months (company_id, month, spent) values (${romashka}, '2026-11-01', 800)`
  await api.sql`
    insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, sent, delivered, failed)
    values (${romashka}, '2026-11-12T11:00:00Z', 'SMS', 1, 'SERVICE', 30, 20, 5),
      (${romashka}, '2026-11-12T11:00:00Z', 'SMS', 2, 'SERVICE', 10, 10, 0),
      (${romashka}, '2026-11-11T19:00:00Z', 'SMS', 1, 'SERVICE', 7, 7, 0)`
  await aSender(api.sql, coffee, { senderName: 'KOFE' })
  await api.sql`update senders set status = 'REJECTED', manager_comment = 'no proof' where company_id = ${coffee}`
  await api.sql`
    insert into sender_moves (company_id, sender_id, from_status, to_status, moved_by, moved_at)
    select company_id, sender_id, 'PRE_REVIEW', status, 'staff', ${NOW} from senders where company_id = ${coffee}`
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const list = async (query = '') => (await browser.ask('GET', `/company-list${query}`)).body as CompanyListAnswer
  const open = async (companyId: number) =>
    (await browser.ask('GET', `/companies/${companyId}`)).body as Omit<CompanyAnswer, 'updatedAt'> & {
      updatedAt: string
    }
  return { browser, list, open }
}

const namesOf = ({ items }: CompanyListAnswer) => items.map(({ name }) => name)

describe('the list', () => {
  test('shows a partner the money, the traffic of today and the warnings of each of its companies', async () => {
    const { list } = await signedIn(ofPartner(partner.partnerId), 'owner')
    const { items } = await list()
    expect(items).toHaveLength(2)
    expect(items[0]).toMatchObject({
      companyId: romashka,
      partner: null,
      account: { spent: 800, reserved: 100, budget: 1000, currency: 'RUB' },
      today: { sent: 40, delivered: 30, failed: 5 },
      attention: [{ kind: 'budget', usedShare: 0.9, runsOutOn: '2026-11-13' }],
    })
    expect(items[0]!.sentByHour.slice(-17)).toEqual([7, ...Array(15).fill(0), 40])
    expect(items[1]).toMatchObject({
      account: { spent: 0, budget: null },
      today: { sent: 0 },
      attention: [{ kind: 'refused', senderName: 'KOFE', comment: 'no proof' }],
    })
  })

  test('shows staff the companies of all partners with their partner, and hides money from moderators', async () => {
    const support = await signedIn(staff, 'support')
    expect(namesOf(await support.list())).toEqual(['Окна', 'Ромашка', 'Точка кофе'])
    expect((await support.list()).items[0]!.partner).toEqual({ partnerId: other.partnerId, login: 'northwind' })
    expect(namesOf(await support.list(`?partnerId=${partner.partnerId}`))).toEqual(['Ромашка', 'Точка кофе'])
    const moderator = await signedIn(staff, 'moderator')
    const found = (await moderator.list('?search=ромашка')).items[0]!
    expect([found.account, found.partner, found.attention]).toEqual([null, null, []])
  })

  test('is searched, filtered and sorted', async () => {
    const { list } = await signedIn(ofPartner(partner.partnerId), 'viewer')
    expect(namesOf(await list('?search=КОФЕ'))).toEqual(['Точка кофе'])
    expect(namesOf(await list(`?search=${romashka}`))).toEqual(['Ромашка'])
    expect(namesOf(await list('?status=DISABLED'))).toEqual([])
    expect(namesOf(await list('?order=newest'))).toEqual(['Точка кофе', 'Ромашка'])
    expect(namesOf(await list(`?partnerId=${other.partnerId}`))).toEqual([])
  })
})

describe('with 10,000 companies of a partner', () => {
  let many: TestPartner

  beforeAll(async () => {
    many = await aPartner(api.sql)
    await api.sql`
      with made as (
        insert into companies (partner_id, name, counteragent_type, counteragent_name, counteragent_inn, currency)
        select ${many.partnerId}, 'Company ' || lpad(n::text, 5, '0'), 'LEGAL', 'x', '7700000001', 'RUB'
        from generate_series(1, 10000) n returning company_id)
      insert into accounts (company_id) select company_id from made`
    await api.sql`
      insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, sent, delivered)
      select company_id, '2026-11-12T10:00:00Z', 'SMS', 1, 'SERVICE', 10, 10
      from companies where partner_id = ${many.partnerId}`
    await api.sql`analyze companies, accounts, traffic_hours`
  })

  test.each(['name', 'newest'])('paging forward and back reaches every page in the order of the %s', async order => {
    const { list } = await signedIn(ofPartner(many.partnerId), 'viewer')
    const first = await list(`?order=${order}`)
    const second = await list(`?order=${order}&after=${first.items.at(-1)!.companyId}`)
    const back = await list(`?order=${order}&before=${second.items[0]!.companyId}`)
    expect([first.items.length, first.hasBefore, first.hasAfter]).toEqual([50, false, true])
    const places = order === 'name' ? ['00001', '00051'] : ['10000', '09950']
    expect([first, second].map(({ items }) => items[0]!.name)).toEqual(places.map(place => `Company ${place}`))
    expect([second.hasBefore, second.hasAfter]).toEqual([true, true])
    expect(namesOf(back)).toEqual(namesOf(first))
    expect([back.hasBefore, back.hasAfter]).toEqual([false, true])
  })

  test('are sorted by the amount spent this month, for people who may see money', async () => {
    const { browser } = await signedIn(ofPartner(many.partnerId), 'owner')
    const [first, second] =
      await api.sql`select company_id as id from companies where name in ('Company 00007', 'Company 09000') order by name`
    await api.sql`
      insert into account_months (company_id, month, spent)
      values (${first!.id}, '2026-11-01', 20), (${second!.id}, '2026-11-01', 300), (${first!.id}, '2026-10-01', 9000)`
    const ask = async (query = '') =>
      (await browser.ask('GET', `/company-list?order=spent${query}`)).body as CompanyListAnswer
    const top = await ask()
    expect(top.items.slice(0, 2).map(({ companyId }) => companyId)).toEqual([second!.id, first!.id])
    const next = await ask(`&after=${top.items.at(-1)!.companyId}`)
    expect(next.items).toHaveLength(50)
    expect((await ask(`&before=${next.items[0]!.companyId}`)).items).toEqual(top.items)
    const moderator = await signedIn(staff, 'moderator')
    expect((await moderator.browser.ask('GET', '/company-list?order=spent')).status).toBe(403)

    const sort = (partnerId: number, most: number) =>
      pageOfCompanies(api.sql, { kind: 'STAFF' }, { partnerId }, { by: 'spent', month: '2026-11-01' }, {}, 50, most)
    await expect(sort(many.partnerId, 9999)).rejects.toThrow('order: more than 9999 companies cannot be sorted')
    expect((await sort(other.partnerId, 9999)).items).toHaveLength(1)
  })

  test.each(planModes)('a page reads only its own companies, with %s', async mode => {
    const scope = { kind: 'PARTNER', partnerId: many.partnerId } as const
    const [{ middle }] = (await api.sql`
      select company_id as middle from companies where name = 'Company 05000'`) as [{ middle: number }]
    for (const [order, index] of [
      ['name', /^companies_(of_partner_)?by_name$/],
      ['newest', /^companies_(of_partner|pkey)$/],
    ] as const) {
      const page = (sql: typeof api.sql) => pageOfCompanies(sql, scope, {}, { by: order }, { after: middle }, 50)
      const reads = await readsOf(api, mode, page, /order by/)
      const [list, ...others] = reads.sort((one, another) => another.rows - one.rows)
      expect(list).toMatchObject({ index: expect.stringMatching(index), rows: 51 })
      expect(others.every(({ rows }) => rows <= 1)).toBe(true)
    }
    const { items } = await pageOfCompanies(api.sql, scope, {}, { by: 'name' }, {}, 50)
    const ids = items.map(({ companyId }) => companyId)
    const standing = (sql: typeof api.sql) =>
      companySummaries(sql, ids, { sees: () => true, now: NOW, billingZone: 'Europe/Moscow' })
    for (const about of [/group by hour/, /'STARTED' limit 100/, /as spent_before/, /as waiting_events/]) {
      const reads = await readsOf(api, mode, standing, about)
      for (const { table, index, rows } of reads) {
        expect([String(about), table, rows <= 100]).toEqual([String(about), table, true])
        if (table === 'traffic_hours' || table === 'companies') expect(index).toBeDefined()
      }
    }
  })
})

const form = {
  name: 'Новая',
  counteragentType: 'LEGAL',
  counteragentInn: '7701234560',
  counteragentKpp: '770101001',
  counteragentAddress: 'Москва',
  budget: 500,
}

describe('a company', () => {
  test('is created by its partner, changed, limited, disabled and enabled', async () => {
    const { browser, open } = await signedIn(ofPartner(partner.partnerId), 'owner')
    const { companyId } = (await browser.ask('POST', '/companies', form)).body
    const made = await open(companyId)
    const { budget, ...fields } = form
    expect(made).toMatchObject({ ...fields, account: { budget }, status: 'ACTIVE' })
    const { updatedAt } = made
    const change = { name: 'Новейшая', actualAddress: 'Тверь', updatedAt }
    expect((await browser.ask('PATCH', `/companies/${companyId}`, change)).status).toBe(204)
    const changed = await open(companyId)
    expect(changed).toMatchObject({ name: 'Новейшая', actualAddress: 'Тверь' })
    const limits = { budget: null, updatedAt: changed.updatedAt }
    expect((await browser.ask('PUT', `/companies/${companyId}/limits`, limits)).status).toBe(204)
    expect((await open(companyId)).account!.budget).toBeNull()
    for (const status of ['DISABLED', 'ACTIVE']) {
      expect((await browser.ask('PUT', `/companies/${companyId}/status`, { status })).status).toBe(204)
      expect((await open(companyId)).status).toBe(status)
    }
  })

  test('is not overwritten by a form that was opened before the newest change', async () => {
    const { browser, open } = await signedIn(ofPartner(partner.partnerId), 'owner')
    const { updatedAt } = await open(coffee)
    const write = (name: string) => browser.ask('PATCH', `/companies/${coffee}`, { name, actualAddress: '', updatedAt })
    expect((await write('Точка кофе 1')).status).toBe(204)
    const late = [
      await write('Точка кофе 2'),
      await browser.ask('PUT', `/companies/${coffee}/limits`, { budget: 1, updatedAt }),
    ]
    for (const { status, body } of late)
      expect([status, body.error.msg]).toEqual([400, expect.stringMatching(/changed meanwhile/)])
    expect((await open(coffee)).name).toBe('Точка кофе 1')
  })

  test('is created and limited by staff, for the partner that they name', async () => {
    const { browser, open } = await signedIn(staff, 'admin')
    expect((await browser.ask('POST', '/companies', form)).status).toBe(400)
    const { companyId } = (await browser.ask('POST', '/companies', { ...form, partnerId: other.partnerId })).body
    const { updatedAt, partner: whose } = await open(companyId)
    expect(whose!.login).toBe('northwind')
    const limits = { budget: 7, billing: 'PREPAID', inbound: true, partsPerSecond: 20, updatedAt }
    expect((await browser.ask('PUT', `/companies/${companyId}/limits`, limits)).status).toBe(204)
    expect(await open(companyId)).toMatchObject({
      account: { budget: 7, billing: 'PREPAID' },
      inbound: true,
      partsPerSecond: 20,
    })
  })

  test.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['counteragentInn', { counteragentInn: '123' }],
    ['counteragentInn', { counteragentInn: '7701234561' }],
    ['counteragentType', { counteragentType: 'GHOST' }],
    ['counteragentKpp', { counteragentKpp: '1'.repeat(21) }],
    ['budget', { budget: -1 }],
  ])('is refused with a wrong %s', async (field, wrong) => {
    const { browser } = await signedIn(ofPartner(partner.partnerId), 'manager')
    const { status, body } = await browser.ask('POST', '/companies', { ...form, ...wrong })
    expect([status, body.error.msg]).toEqual([400, expect.stringContaining(field)])
  })
})

describe('rights', () => {
  const requests = (companyId: number) =>
    [
      ['GET', `/companies/${companyId}`],
      ['PATCH', `/companies/${companyId}`, { name: 'x', actualAddress: '', updatedAt: NOW.toISOString() }],
      ['PUT', `/companies/${companyId}/status`, { status: 'DISABLED' }],
      ['PUT', `/companies/${companyId}/limits`, { budget: null, updatedAt: NOW.toISOString() }],
    ] as const

  test("another partner's company is not found", async () => {
    const { browser } = await signedIn(ofPartner(partner.partnerId), 'owner')
    for (const [method, path, body] of requests(foreign))
      expect((await browser.ask(method, path, body)).status).toBe(404)
  })

  test.each([
    ['COMPANY', 'owner', [403, 403, 403, 403, 403, 403]],
    ['PARTNER', 'viewer', [200, 403, 403, 403, 200, 403]],
    ['PARTNER', 'manager', [200, 400, 204, 403, 200, 400]],
    ['STAFF', 'moderator', [200, 403, 403, 403, 200, 403]],
    ['STAFF', 'support', [200, 403, 403, 403, 200, 403]],
  ] as const)('%s in the role %s is answered %j', async (kind, role, expected) => {
    const place = { COMPANY: ofCompany(foreign), PARTNER: ofPartner(other.partnerId), STAFF: staff }[kind]
    const { browser } = await signedIn(place, role)
    const statuses: number[] = []
    for (const [method, path, body] of requests(foreign)) statuses.push((await browser.ask(method, path, body)).status)
    statuses.push((await browser.ask('GET', '/company-list')).status)
    statuses.push((await browser.ask('POST', '/companies', {})).status)
    expect(statuses).toEqual(expected)
  })

  test('a partner cannot change the settings that only staff change', async () => {
    const { browser, open } = await signedIn(ofPartner(partner.partnerId), 'owner')
    const { updatedAt } = await open(romashka)
    for (const field of [{ billing: 'PREPAID' }, { inbound: true }, { partsPerSecond: null }]) {
      const answer = await browser.ask('PUT', `/companies/${romashka}/limits`, { budget: 1, updatedAt, ...field })
      expect(answer.status).toBe(403)
    }
  })
})
