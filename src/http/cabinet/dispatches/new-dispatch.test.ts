import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { addToBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import {
  aCompany,
  anApprovedSender,
  aPartner,
  aSender,
  numberOf,
  type TestPartner,
} from '../../../testing/factories.ts'
import type { OfferAnswer } from './dispatch-choices.ts'
import type { DraftAnswer, TrialAnswer } from './new-dispatch.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let foreignCompany: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner, { name: 'Romashka', budget: money('1000') })
  for (const brand of ['MTS', 'BEELINE'] as const) await anApprovedSender(api.sql, companyId, { brand })
  await aSender(api.sql, companyId, { brand: 'TELE2' })
  foreignCompany = await aCompany(api.sql, await aPartner(api.sql))
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  return browser
}

const form = { name: 'Black Friday', channelType: 'SMS', senderName: 'ROMASHKA', text: '{name}, 30% off today' }
const to = (destination: string, name = 'Anna') => ({ destination: `+${destination}`, substitutions: { name } })
const two = [to(numberOf.MTS), to(numberOf.BEELINE)]

let keys = 0
const withKey = (key = `key ${++keys}`) => ({ headers: { 'idempotency-key': key } })

async function aDraft(browser: CabinetBrowser): Promise<DraftAnswer> {
  const { status, body } = await browser.ask('POST', '/new-dispatch', form, withKey())
  expect([status, body.status]).toEqual([200, 'CREATED'])
  return body
}

const add = (browser: CabinetBrowser, dispatchId: number, from: number, recipients: object[], key?: string) =>
  browser.ask('POST', `/new-dispatch/${dispatchId}/recipients`, { from, total: 4, recipients }, withKey(key))

const reservedOf = async () => {
  const [row] = await api.sql<{ reserved: bigint }[]>`
    select reserved from accounts where company_id = ${companyId}`
  return row!.reserved
}

describe('the choices', () => {
  test('are names with the state of each registration and the price of a part, and the budget', async () => {
    const browser = await signedIn(ofCompany(companyId), 'owner')
    const offer = (await browser.ask('GET', '/new-dispatch')).body as OfferAnswer
    expect(offer.company).toEqual({ companyId, name: 'Romashka', currency: 'RUB' })
    const [name] = offer.names
    expect(name).toMatchObject({ channelType: 'SMS', senderName: 'ROMASHKA' })
    const usable = new Map(name!.registrations.map(({ brand, isUsable }) => [brand, isUsable]))
    expect(Object.fromEntries(usable)).toEqual({ MTS: true, BEELINE: true, TELE2: false })
    expect(Number(name!.registrations[0]!.partPrice)).toBeGreaterThan(0)
    expect(offer.shared.prices).toHaveLength(5)
    expect(offer.budget).toMatchObject({ budget: '1000.0000' })
  })

  test('do not show the budget to people who may not see money', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    expect((await browser.ask('GET', '/new-dispatch')).body.budget).toBeNull()
  })
})

describe('the check', () => {
  test('returns the price of the recipients by operator and the refused recipients, and stores nothing', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    await addToBlacklist(api.sql, companyId, '79160000009', undefined)
    const recipients = [...two, to('79160000009'), to('70990000000'), to(numberOf.TELE2)]
    const before = await api.sql`select count(*) from dispatches`
    const { status, body } = await browser.ask('POST', '/new-dispatch/check', { dispatch: form, recipients })
    const trial = body as TrialAnswer
    expect(status).toBe(200)
    expect(trial.byBrand.map(({ brand, messages, parts }) => [brand, messages, parts])).toEqual([
      ['MTS', 1, 1],
      ['BEELINE', 1, 1],
    ])
    expect(trial.unregistered).toEqual([{ brand: 'TELE2', messages: 1 }])
    expect(trial.refused.map(({ index }) => index)).toEqual([2, 3, 4])
    expect(trial.firstBrands.slice(0, 2)).toEqual(['MTS', 'BEELINE'])
    expect(await api.sql`select count(*) from dispatches`).toEqual(before)
  })

  test('of a cascade returns the price of the first step, which the start holds, and the highest price of the others', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    await anApprovedSender(api.sql, companyId, { channelType: 'VIBER' })
    const { name, senderName, text } = form
    const viber = { channelType: 'VIBER', senderName, content: { contentType: 'text', text } }
    const cascade = [viber, { channelType: 'SMS', senderName, content: text }]
    const recipients = [...two, to('70990000000')]
    const check = async (dispatch: object) =>
      (await browser.ask('POST', '/new-dispatch/check', { dispatch, recipients })).body as TrialAnswer
    const sum = ({ byBrand }: TrialAnswer) => byBrand.reduce((sum, { price }) => sum + money(price), 0n)
    const trial = await check({ name, cascade })
    expect(money(trial.laterPrice)).toBe(sum(await check(form)))
    const { dispatchId } = (await browser.ask('POST', '/new-dispatch', { name, cascade }, withKey()))
      .body as DraftAnswer
    await add(browser, dispatchId, 0, two)
    const draft = (await browser.ask('GET', `/new-dispatch/${dispatchId}`)).body as DraftAnswer
    expect(money(draft.price)).toBe(sum(trial))
  })

  test('refuses more than 10,000 recipients and a name that is not approved', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    const many = Array.from({ length: 10_001 }, () => to(numberOf.MTS))
    expect((await browser.ask('POST', '/new-dispatch/check', { dispatch: form, recipients: many })).status).toBe(400)
    const dispatch = { ...form, senderName: 'UNKNOWN' }
    expect((await browser.ask('POST', '/new-dispatch/check', { dispatch, recipients: two })).status).toBe(400)
  })
})

describe('a dispatch', () => {
  test('holds after the start exactly the price of the check', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    const trial = (await browser.ask('POST', '/new-dispatch/check', { dispatch: form, recipients: two })).body
    const checked = (trial as TrialAnswer).byBrand.reduce((sum, { price }) => sum + money(price), 0n)
    const { dispatchId } = await aDraft(browser)
    expect((await add(browser, dispatchId, 0, two)).body).toEqual({ recipients: 2 })
    const draft = (await browser.ask('GET', `/new-dispatch/${dispatchId}`)).body as DraftAnswer
    expect([draft.recipients, money(draft.price)]).toEqual([2, checked])

    const before = await reservedOf()
    const start = (price: string) => browser.ask('POST', `/new-dispatch/${dispatchId}/start`, { price })
    expect((await start('0.0001')).body.error.msg).toBe('price: the dispatch costs another amount now')
    expect((await start(draft.price)).status).toBe(200)
    expect((await reservedOf()) - before).toBe(checked)
    expect((await start(draft.price)).status).toBe(200) // the request repeats after a lost answer
    expect((await reservedOf()) - before).toBe(checked)
  })

  test('applies a repeated request once, and refuses recipients out of order; the audit log has the upload once', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    const { dispatchId } = await aDraft(browser)
    await add(browser, dispatchId, 0, two, 'same')
    expect((await add(browser, dispatchId, 0, two, 'same')).body).toEqual({ recipients: 2 })
    const late = await add(browser, dispatchId, 0, two) // as if the key had been forgotten
    expect([late.status, late.body.error.msg]).toEqual([400, 'from: the dispatch has 2 recipients'])
    expect((await browser.ask('GET', `/new-dispatch/${dispatchId}`)).body.recipients).toBe(2)
    await add(browser, dispatchId, 2, two)
    const tooMany = await add(browser, dispatchId, 4, two)
    expect([tooMany.status, tooMany.body.error.msg]).toEqual([400, 'total: is less than the recipients'])
    const entries = await api.sql`
      select after from audit_entries where subject_id = ${String(dispatchId)} and what = 'dispatch.changed'`
    expect(entries).toEqual([{ after: { recipients: 4 } }])
  })

  test('requires an idempotency key for each request that creates', async () => {
    const browser = await signedIn(ofCompany(companyId), 'sender')
    expect((await browser.ask('POST', '/new-dispatch', form)).status).toBe(400)
  })
})

const routes: ['GET' | 'POST', string, object?][] = [
  ['GET', '/new-dispatch'],
  ['POST', '/new-dispatch/check', { dispatch: form, recipients: two }],
  ['POST', '/new-dispatch', form],
  ['GET', '/new-dispatch/1'],
  ['POST', '/new-dispatch/1/recipients', { from: 0, total: 2, recipients: two }],
  ['POST', '/new-dispatch/1/start', { price: '1.0000' }],
]

describe.each(routes)('%s %s', (method, path, body) => {
  const ask = (browser: CabinetBrowser, company?: number) =>
    browser.ask(method, `${path}${company === undefined ? '' : `?companyId=${company}`}`, body, withKey())

  test('is closed to people who may not send', async () => {
    for (const [place, role] of [
      [ofCompany(companyId), 'viewer'],
      [ofCompany(companyId), 'finance'],
      [ofPartner(partner.partnerId), 'viewer'],
      [staff, 'support'],
      [staff, 'moderator'],
    ] as const)
      expect([role, (await ask(await signedIn(place, role), companyId)).status]).toEqual([role, 403])
  })

  test('does not find a foreign company', async () => {
    expect((await ask(await signedIn(ofCompany(companyId), 'owner'), foreignCompany)).status).toBe(404)
    expect((await ask(await signedIn(ofPartner(partner.partnerId), 'manager'), foreignCompany)).status).toBe(404)
  })

  test('requires a company from partners and staff', async () => {
    expect((await ask(await signedIn(ofPartner(partner.partnerId), 'manager'))).status).toBe(400)
  })
})

test("another company's dispatch is unknown", async () => {
  const { dispatchId } = await aDraft(await signedIn(ofCompany(companyId), 'sender'))
  const other = await signedIn(ofCompany(foreignCompany), 'owner')
  expect((await other.ask('GET', `/new-dispatch/${dispatchId}`)).status).toBe(404)
  expect((await add(other, dispatchId, 0, two)).status).toBe(404)
  expect((await other.ask('POST', `/new-dispatch/${dispatchId}/start`, { price: '1.0000' })).status).toBe(404)
})
