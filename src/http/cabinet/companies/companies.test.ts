import { beforeAll, describe, expect, test } from 'vitest'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner } from '../../../testing/factories.ts'
import type { CompaniesAnswer } from './companies.ts'

const { api } = useApp('/docs/partner.json')
let ours: { partnerId: number; companyIds: number[] }
let theirs: { partnerId: number; companyIds: number[] }

beforeAll(async () => {
  ours = await aPartnerWith('Ромашка', 'Северный ветер', '100% хлопок')
  theirs = await aPartnerWith('Ромашка-2')
})

async function aPartnerWith(...names: string[]) {
  const partner = await aPartner(api.sql)
  const companyIds: number[] = []
  for (const name of names) companyIds.push(await aCompany(api.sql, partner, { name }))
  return { partnerId: partner.partnerId, companyIds }
}

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const find = async (query = '') => (await browser.ask('GET', `/companies${query}`)).body as CompaniesAnswer
  return { browser, find }
}

const namesOf = ({ items }: CompaniesAnswer) => items.map(({ name }) => name)

describe('the companies that a viewer sees', () => {
  test.each(['owner', 'sender', 'finance', 'viewer'])('a company %s sees only the own company', async role => {
    const { find } = await signedIn(ofCompany(ours.companyIds[1]!), role)
    const own = { companyId: ours.companyIds[1], name: 'Северный ветер', status: 'ACTIVE' }
    expect(await find()).toEqual({ page: 1, perPage: 20, total: 1, items: [own] })
    expect((await find('?search=Ромашка')).items).toEqual([])
    expect((await find(`?search=${theirs.companyIds[0]}`)).items).toEqual([])
  })

  test.each(['owner', 'manager', 'viewer'])('a partner %s sees all companies of the partner', async role => {
    const { find } = await signedIn(ofPartner(ours.partnerId), role)
    expect(namesOf(await find())).toEqual(['Ромашка', 'Северный ветер', '100% хлопок'])
    expect(namesOf(await find('?search=ромашка'))).toEqual(['Ромашка'])
  })

  test.each(['admin', 'moderator', 'support'])('staff in the role %s search over all', async role => {
    const { find } = await signedIn(staff, role)
    expect(namesOf(await find('?search=ромашка'))).toEqual(['Ромашка', 'Ромашка-2'])
    expect((await find()).total).toBe(4)
  })

  test('a person who is not signed in sees none', async () => {
    expect((await new CabinetBrowser(() => api.app).ask('GET', '/companies')).status).toBe(401)
  })
})

describe('the search', () => {
  test('takes a part of the name in upper or lower case, or the id, but no pattern', async () => {
    const { find } = await signedIn(staff, 'admin')
    expect(namesOf(await find('?search=ВЕТЕР'))).toEqual(['Северный ветер'])
    expect(namesOf(await find(`?search=${theirs.companyIds[0]}`))).toContain('Ромашка-2')
    expect(namesOf(await find('?search=%25'))).toEqual(['100% хлопок'])
    expect(namesOf(await find("?search=' or true --"))).toEqual([])
  })

  test('is answered in pages', async () => {
    const { find, browser } = await signedIn(staff, 'admin')
    const pages = await Promise.all([1, 2, 3].map(page => find(`?perPage=3&page=${page}`)))
    expect(pages.map(({ total, items }) => [total, items.length])).toEqual([
      [4, 3],
      [4, 1],
      [4, 0],
    ])
    expect((await browser.ask('GET', '/companies?perPage=101')).status).toBe(400)
    expect((await browser.ask('GET', `/companies?search=${'x'.repeat(101)}`)).status).toBe(400)
  })
})
