import { beforeAll, describe, expect, test } from 'vitest'
import { FAILURES_ALLOWED } from '../../../domain/partners/partner.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, type TestPartner } from '../../../testing/factories.ts'
import type { PartnersAnswer, ShownPartner } from './partners.ts'
import type { PeopleAnswer } from './people.ts'

const { api, ask } = useApp('/docs/partner.json')
let medialink: TestPartner
let companyId: number

beforeAll(async () => {
  medialink = await aPartner(api.sql, 'medialink')
  await aPartner(api.sql, 'northwind')
  companyId = await aCompany(api.sql, medialink)
  await aCompany(api.sql, medialink)
  await api.sql`
    insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, sent, delivered, failed)
    values (${companyId}, date_trunc('hour', now()), 'SMS', 1, 'SERVICE', 30, 20, 5)`
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const list = async (query = '') => (await browser.ask('GET', `/partners${query}`)).body as PartnersAnswer
  const open = async (partnerId: number) => (await browser.ask('GET', `/partners/${partnerId}`)).body as ShownPartner
  const peopleOf = async (partnerId: number) =>
    ((await browser.ask('GET', `/people?partnerId=${partnerId}`)).body as PeopleAnswer).people
  return { browser, list, open, peopleOf }
}

const signIn = async (login: string, password: string) =>
  (await new CabinetBrowser(() => api.app).signIn(login, password)).status

describe('partners', () => {
  test('are listed with their companies, the traffic of today and their state', async () => {
    const { list } = await signedIn(staff, 'support')
    const { items } = await list()
    expect(items.map(({ login }) => login)).toEqual(['medialink', 'northwind'])
    expect(items[0]).toMatchObject({
      companies: 2,
      today: { sent: 30, delivered: 20, failed: 5 },
      isActive: true,
      isLocked: false,
    })
    expect(items[1]).toMatchObject({ companies: 0, today: { sent: 0, delivered: 0, failed: 0 } })
    expect((await list('?search=NORTH')).items).toHaveLength(1)
    expect((await list('?state=disabled')).items).toEqual([])
    const after = await list(`?after=${medialink.partnerId}`)
    expect([after.items[0]!.login, after.hasBefore, after.hasAfter]).toEqual(['northwind', true, false])
    const before = await list(`?before=${after.items[0]!.partnerId}`)
    expect([before.items[0]!.login, before.hasBefore, before.hasAfter]).toEqual(['medialink', false, true])
  })

  test('are created with a password that is shown once, and their owner signs in with it', async () => {
    const { browser, open, peopleOf } = await signedIn(staff, 'admin')
    const { status, body } = await browser.ask('POST', '/partners', { login: 'southwind' })
    expect([status, body.password]).toEqual([201, expect.stringMatching(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/)])
    const owner = { login: 'southwind', role: 'owner', isActive: true, isInvited: false }
    expect(await peopleOf(body.partnerId)).toMatchObject([owner])
    expect(await signIn('southwind', body.password)).toBe(200)
    expect(await open(body.partnerId)).toMatchObject({ login: 'southwind', companies: 0 })
    expect(await peopleOf(body.partnerId)).toMatchObject([owner])
  })

  test('get people from staff, who give them roles of a partner and deactivate them', async () => {
    const { browser, peopleOf } = await signedIn(staff, 'admin')
    const { partnerId } = await aPartner(api.sql)
    const place = `partnerId=${partnerId}`
    const invite = (role: string) => browser.ask('POST', `/people?${place}`, { login: 'vera@example.com', role })
    expect((await invite('admin')).status).toBe(400)
    const { status, body } = await invite('manager')
    expect([status, body.link]).toEqual([201, expect.stringContaining('/cabinet/accept-invitation#')])
    expect((await browser.ask('PATCH', `/people/${body.personId}?${place}`, { role: 'viewer' })).status).toBe(204)
    expect((await browser.ask('POST', `/people/${body.personId}/invitation?${place}`)).status).toBe(200)
    expect((await browser.ask('PATCH', `/people/${body.personId}?${place}`, { isActive: false })).status).toBe(204)
    expect(await peopleOf(partnerId)).toMatchObject([{ login: 'vera@example.com', role: 'viewer', isActive: false }])
    const log =
      await api.sql`select what, company_id from audit_entries where partner_id = ${partnerId} order by entry_id`
    expect(log.map(({ what, companyId }) => [what, companyId])).toEqual(
      ['invited', 'role_changed', 'link_renewed', 'deactivated'].map(what => [`person.${what}`, null]),
    )
    for (const wrong of [`partnerId=${medialink.partnerId}`, 'partnerId=999999', `companyId=${companyId}`, ''])
      expect((await browser.ask('PATCH', `/people/${body.personId}?${wrong}`, { role: 'owner' })).status).toBe(404)
    expect((await browser.ask('GET', `/people?${place}&companyId=${companyId}`)).status).toBe(400)
    const support = await signedIn(staff, 'support')
    expect(await support.peopleOf(partnerId)).toHaveLength(1)
    expect((await support.browser.ask('POST', `/people?${place}`, { login: 'x', role: 'owner' })).status).toBe(403)
    const stranger = await signedIn(ofPartner(medialink.partnerId), 'owner')
    expect((await stranger.browser.ask('GET', `/people?${place}`)).status).toBe(404)
  })

  test('cannot have the login of another partner or person, or an invalid login', async () => {
    const { browser } = await signedIn(staff, 'admin')
    await aPerson(api.sql, ofCompany(companyId), 'viewer', 'anna@example.com')
    for (const login of ['medialink', 'anna@example.com', 'two words']) {
      const { status, body } = await browser.ask('POST', '/partners', { login })
      expect([login, status, body.error.msg]).toEqual([login, 400, expect.stringMatching(/^login: /)])
    }
  })

  test('get a new password, which ends their tokens and the sessions of their owner', async () => {
    const partner = await aPartner(api.sql)
    const owner = new CabinetBrowser(() => api.app)
    await owner.signIn(partner.login, partner.password)
    const { browser } = await signedIn(staff, 'admin')
    const { password } = (await browser.ask('POST', `/partners/${partner.partnerId}/password`)).body
    expect((await owner.ask('GET', '/session')).status).toBe(401)
    const token = await ask('/partner/v1', partner.token, { method: 'GET', path: '/company' })
    expect(token.status).toBe(401)
    expect([await signIn(partner.login, partner.password), await signIn(partner.login, password)]).toEqual([401, 200])
  })

  test('keep the login of their API when the owner is deactivated, until they get a new password', async () => {
    const partner = await aPartner(api.sql)
    await signIn(partner.login, partner.password)
    const { browser, peopleOf } = await signedIn(staff, 'admin')
    await aPerson(api.sql, ofPartner(partner.partnerId), 'owner')
    const [owner, other] = await peopleOf(partner.partnerId)
    expect([owner, other]).toMatchObject([{ login: partner.login, isApiLogin: true }, { isApiLogin: false }])
    const path = `/people/${owner!.personId}?partnerId=${partner.partnerId}`
    expect((await browser.ask('PATCH', path, { isActive: false })).status).toBe(204)
    expect(await signIn(partner.login, partner.password)).toBe(401)
    const tokenOf = async () => {
      const body = { login: partner.login, password: partner.password }
      return (await ask('/partner/v1', '', { method: 'POST', path: '/auth/token', body })).status
    }
    const companies = () => ask('/partner/v1', partner.token, { method: 'GET', path: '/company' })
    expect([await tokenOf(), (await companies()).status]).toEqual([200, 200])
    await browser.ask('POST', `/partners/${partner.partnerId}/password`)
    expect([await tokenOf(), (await companies()).status]).toEqual([401, 401])
  })

  test('are disabled and enabled', async () => {
    const partner = await aPartner(api.sql)
    const { browser, list } = await signedIn(staff, 'admin')
    const path = `/partners/${partner.partnerId}/state`
    expect((await browser.ask('PUT', path, { isActive: false })).status).toBe(204)
    expect(await signIn(partner.login, partner.password)).toBe(401)
    expect((await list('?state=disabled')).items.map(({ login }) => login)).toEqual([partner.login])
    expect((await browser.ask('PUT', path, { isActive: true })).status).toBe(204)
    expect(await signIn(partner.login, partner.password)).toBe(200)
  })

  test('are locked after failed logins, and unlocked by staff', async () => {
    const partner = await aPartner(api.sql)
    const { browser, open } = await signedIn(staff, 'admin')
    for (let failure = 0; failure < FAILURES_ALLOWED; failure++) await signIn(partner.login, 'a wrong password')
    expect(await signIn(partner.login, partner.password)).toBe(429)
    expect((await open(partner.partnerId)).isLocked).toBe(true)
    expect((await browser.ask('POST', `/partners/${partner.partnerId}/unlock`)).status).toBe(204)
    expect((await open(partner.partnerId)).isLocked).toBe(false)
    expect(await signIn(partner.login, partner.password)).toBe(200)
  })
})

describe('rights', () => {
  const requests = (partnerId: number) =>
    [
      ['GET', '/partners'],
      ['GET', `/partners/${partnerId}`],
      ['POST', '/partners', { login: 'x' }],
      ['POST', `/partners/${partnerId}/password`],
      ['PUT', `/partners/${partnerId}/state`, { isActive: false }],
      ['POST', `/partners/${partnerId}/unlock`],
    ] as const

  test.each([
    ['COMPANY', 'owner', [403, 403]],
    ['PARTNER', 'owner', [403, 403]],
    ['STAFF', 'moderator', [403, 403]],
    ['STAFF', 'support', [200, 200]],
  ] as const)('%s in the role %s: to look %j, to change nothing', async (kind, role, looks) => {
    const places = { COMPANY: ofCompany(companyId), PARTNER: ofPartner(medialink.partnerId), STAFF: staff }
    const { browser } = await signedIn(places[kind], role)
    const statuses: number[] = []
    for (const [method, path, body] of requests(medialink.partnerId))
      statuses.push((await browser.ask(method, path, body)).status)
    expect(statuses).toEqual([...looks, 403, 403, 403, 403])
  })

  test('an unknown partner is not found', async () => {
    const { browser } = await signedIn(staff, 'admin')
    for (const [method, path, body] of requests(99_999_999).filter(([, path]) => path !== '/partners'))
      expect((await browser.ask(method, path, body)).status).toBe(404)
  })
})
