import { beforeAll, describe, expect, test } from 'vitest'
import { addToBlacklist, blacklistedAmong, eraseEntry, pageOfBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { useErasureSecret } from '../../../domain/blacklist/erased.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import type { BlacklistAnswer } from './blacklist.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let foreignCompany: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  foreignCompany = await aCompany(api.sql, await aPartner(api.sql))
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

async function anOwner() {
  const companyId = await aCompany(api.sql, partner)
  const browser = await signedIn(ofCompany(companyId), 'owner')
  const list = async (query = '') => (await browser.ask('GET', `/blacklist${query}`)).body as BlacklistAnswer
  return { companyId, browser, list }
}

const numbersOf = ({ items }: BlacklistAnswer) => items.map(({ msisdn }) => msisdn)

test('a number is added in the form that people write, found by its first digits, and removed', async () => {
  const { browser, list } = await anOwner()
  const added = await browser.ask('POST', '/blacklist', { msisdn: '8 (916) 000-00-61', comment: ' Asked by mail ' })
  expect([added.status, added.body]).toEqual([201, { msisdn: '79160000061', isNew: true }])
  await browser.ask('POST', '/blacklist', { msisdn: '+84 903 000 001' })
  for (const [q, found] of [
    ['+7916', 1],
    ['8916000', 1],
    ['916', 1],
    ['+79160000061', 1],
    ['+7917', 0],
    ['+84', 1],
    ['', 2],
  ] as const)
    expect([q, (await list(`?q=${encodeURIComponent(q)}`)).items.length]).toEqual([q, found])
  expect((await list('?q=916')).items).toMatchObject([{ source: 'CABINET', comment: 'Asked by mail' }])
  const again = await browser.ask('POST', '/blacklist', { msisdn: '79160000061' })
  expect([again.status, again.body.isNew]).toEqual([200, false])

  expect((await browser.ask('DELETE', '/blacklist/79160000061')).status).toBe(204)
  expect((await browser.ask('DELETE', '/blacklist/79160000061')).status).toBe(404)
  expect(numbersOf(await list())).toEqual(['84903000001'])
  expect((await browser.ask('POST', '/blacklist', { msisdn: 'no number' })).status).toBe(400)
})

test('a repeated piece of a file is added once, and the answer names the lines that are no numbers', async () => {
  const { companyId, browser, list } = await anOwner()
  await addToBlacklist(api.sql, companyId, '79160000061', 'Knew it', 'API')
  const numbers = ['79160000061', '+7 916 000-00-62', 'Anna', '9160000063', '79160000063']
  const send = () => browser.ask('POST', '/blacklist/import', { numbers, fileName: 'unsubscribed.csv' })
  expect((await send()).body).toEqual({ added: 2, alreadyThere: 2, refused: [2] })
  expect((await send()).body).toEqual({ added: 0, alreadyThere: 4, refused: [2] })
  const { items, total, isMore } = await list()
  expect([total, isMore]).toEqual([3, false])
  expect(items.map(({ msisdn, source, comment }) => [msisdn, source, comment])).toEqual([
    ['79160000063', 'FILE', null],
    ['79160000062', 'FILE', null],
    ['79160000061', 'API', 'Knew it'],
  ])
  const imports = await api.sql`
    select subject_name as name, after from audit_entries where company_id = ${companyId} and what = 'blacklist.imported'`
  expect(imports).toEqual([{ name: 'unsubscribed.csv', after: { entries: 2 } }])
  const many = Array.from({ length: 10_001 }, () => '79160000061')
  expect((await browser.ask('POST', '/blacklist/import', { numbers: many })).status).toBe(400)
})

test('each page continues after the previous one, also if all numbers of a file have the same moment', async () => {
  const { browser, list } = await anOwner()
  const numbers = Array.from({ length: 7 }, (_, i) => `7916000010${i}`)
  await browser.ask('POST', '/blacklist/import', { numbers })
  await browser.ask('POST', '/blacklist', { msisdn: '79160000200' })
  for (const [q, expected] of [
    ['', ['79160000200', ...numbers.toReversed()]],
    ['&q=79160000', [...numbers, '79160000200']],
  ] as const) {
    const found: string[] = []
    let after = ''
    do {
      const page = await list(`?perPage=3${q}${after}`)
      found.push(...numbersOf(page))
      after = page.next ? `&after=${page.next}` : ''
    } while (after)
    expect(found).toEqual(expected)
  }
})

test('a page that ends with an erased number has a next page', async () => {
  useErasureSecret('a secret of the tests, long enough')
  const { companyId, browser, list } = await anOwner()
  await browser.ask('POST', '/blacklist/import', { numbers: ['79160000301', '79160000302', '79160000303'] })
  for (const digits of ['79160000302', '79160000303']) await api.sql.begin(tx => eraseEntry(tx, companyId, digits))
  const found: string[] = []
  let after: string | null = ''
  while (after !== null) {
    const page: BlacklistAnswer = await list(`?perPage=1${after && `&after=${after}`}`)
    found.push(...numbersOf(page))
    after = page.next
  }
  const erased = expect.stringMatching(/^erased-[0-9a-f]{32}$/)
  expect(found).toEqual([erased, erased, '79160000301'])
})

test('the export has every number, and no cell that a spreadsheet would calculate', async () => {
  const { companyId, browser } = await anOwner()
  await api.sql`
    insert into blacklist (company_id, destination) select ${companyId}, (79160000000 + n)::text from generate_series(1, 5001) n`
  await addToBlacklist(api.sql, companyId, '79990000001', '=1+1', 'API')
  const headers = { host: 'localhost:8080', cookie: browser.cookie! }
  const read = async (query = '') => {
    const answer = await api.app.inject({ url: `/cabinet/api/blacklist/export${query}`, headers })
    return answer.body.trimEnd().split('\r\n')
  }
  const lines = await read()
  expect(lines[0]).toBe('\ufeffNumber,How it came here,Added (Europe/Moscow),Comment')
  expect(lines).toHaveLength(1 + 5002)
  expect(lines.at(-1)).toMatch(/^79990000001,By the API,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,'=1\+1$/)
  const russian = await read('?language=ru&zone=Asia/Omsk')
  expect(russian[0]).toBe('\ufeffНомер;Как попал сюда;Добавлен (Asia/Omsk);Комментарий')
  expect(russian.at(-1)).toMatch(/^79990000001;Через API;/)
  expect((await browser.ask('GET', '/blacklist/export?zone=Mars')).status).toBe(400)
})

test('a page of a large list is read by an index', async () => {
  const { companyId } = await anOwner()
  await api.sql`
    insert into blacklist (company_id, destination, created_at)
    select ${companyId}, (79160000000 + n)::text, now() - n * interval '1 second' from generate_series(1, 20000) n`
  await api.sql`analyze blacklist`
  const middle = (await pageOfBlacklist(api.sql, companyId, {}, 5000)).next!
  for (const mode of planModes) {
    for (const [place, index] of [
      [{}, 'blacklist_by_age'],
      [{ after: middle }, 'blacklist_by_age'],
      [{ beginning: '7916' }, 'blacklist_pkey'],
    ] as const) {
      const reads = await readsOf(api, mode, sql => pageOfBlacklist(sql, companyId, place, 50), /from blacklist/)
      expect(reads).toMatchObject([{ index }])
      expect(reads[0]!.rows).toBeLessThan(100)
    }
  }
})

describe('rights', () => {
  const asks = (companyId: number) =>
    [
      ['GET', `/blacklist?companyId=${companyId}`],
      ['GET', `/blacklist/export?companyId=${companyId}`],
      ['POST', `/blacklist?companyId=${companyId}`, { msisdn: '79160000061' }],
      ['POST', `/blacklist/import?companyId=${companyId}`, { numbers: ['79160000061'] }],
      ['DELETE', `/blacklist/79160000061?companyId=${companyId}`],
    ] as const

  test('a foreign company is not found', async () => {
    await addToBlacklist(api.sql, foreignCompany, '79160000061', undefined)
    const company = await aCompany(api.sql, partner)
    for (const place of [ofCompany(company), ofPartner(partner.partnerId)]) {
      const browser = await signedIn(place, 'owner')
      for (const [method, path, body] of asks(foreignCompany))
        expect([method, path, (await browser.ask(method, path, body)).status]).toEqual([method, path, 404])
    }
    expect(await blacklistedAmong(api.sql, foreignCompany, ['79160000061'])).toEqual(new Set(['79160000061']))
  })

  test.each([
    ['COMPANY', 'viewer', 200, 403],
    ['COMPANY', 'sender', 200, 403],
    ['COMPANY', 'finance', 403, 403],
    ['PARTNER', 'viewer', 200, 403],
    ['STAFF', 'moderator', 200, 403],
  ] as const)('%s in the role %s sees: %i, changes: %i', async (kind, role, sees, changes) => {
    const company = await aCompany(api.sql, partner)
    const places = { COMPANY: ofCompany(company), PARTNER: ofPartner(partner.partnerId), STAFF: staff }
    const browser = await signedIn(places[kind], role)
    for (const [method, path, body] of asks(company).filter(([, path]) => !path.includes('export')))
      expect((await browser.ask(method, path, body)).status).toBe(method === 'GET' ? sees : changes)
  })
})
