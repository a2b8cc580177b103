import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fastify from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FAILURES_ALLOWED } from '../../../domain/partners/partner.ts'
import { createPartner, disablePartner } from '../../../domain/partners/partners.ts'
import { usePasswordCost } from '../../../domain/partners/password.ts'
import { replacePartnerPassword } from '../../../domain/people/partner-owners.ts'
import { roles } from '../../../domain/people/person.ts'
import { rightsOf } from '../../../domain/people/rights.ts'
import { signIn } from '../../../domain/people/sign-in.ts'
import { codeAt } from '../../../domain/people/totp.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, PASSWORD, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, type TestPartner } from '../../../testing/factories.ts'
import { statementsOf } from '../../../testing/plans.ts'
import { guardCabinet } from './access.ts'
import { SessionCookie } from './cookie.ts'

const { api } = useApp('/docs/partner.json')
const aBrowser = () => new CabinetBrowser(() => api.app)
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
})

beforeEach(async () => {
  await api.sql`truncate login_failures`
  api.now = undefined
})

const later = (ms: number) => new Date(Date.now() + ms)
const whoIs = async (browser: CabinetBrowser) => (await browser.ask('GET', '/session')).body.person?.login

describe('signing in', () => {
  test('costs the same statements for an unknown login and for a wrong password of anybody', async () => {
    const logins = [
      partner.login,
      (await aPerson(api.sql, ofCompany(companyId), 'sender')).login,
      (await aPerson(api.sql, staff, 'admin')).login,
    ]
    const statementsFor = async (login: string) => {
      const attempt = { login, password: 'wrong', address: '203.0.113.77', agent: '' }
      const sent = await statementsOf(api.url, pool => signIn(pool, attempt, new Date()).catch(() => {}))
      await api.sql`truncate login_failures`
      return sent.map(({ text }) => text)
    }
    const ofUnknown = await statementsFor('unknown')
    expect(ofUnknown.length).toBeGreaterThan(4)
    for (const login of logins) expect(await statementsFor(login)).toEqual(ofUnknown)
  })

  test('with the right password opens a session, which signing out ends', async () => {
    const { login } = await aPerson(api.sql, ofCompany(companyId), 'sender')
    const browser = aBrowser()
    const { status, body, headers } = await browser.signIn(login)
    expect([status, body]).toEqual([200, { needsSecondFactor: false }])
    expect(headers['set-cookie']).toMatch(/^tidings=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    expect((await browser.ask('GET', '/session')).body.person).toMatchObject({
      kind: 'COMPANY',
      role: 'sender',
      companyId,
      login,
      rights: rightsOf({ kind: 'COMPANY', role: 'sender' }),
    })
    const before = browser.cookie
    expect((await browser.ask('DELETE', '/session')).status).toBe(204)
    browser.cookie = before
    expect((await browser.ask('GET', '/session')).status).toBe(401)
  })

  test('with a wrong password or an unknown login is refused with the same message', async () => {
    const { login } = await aPerson(api.sql, staff, 'support')
    const wrong = await aBrowser().signIn(login, 'something else')
    const unknown = await aBrowser().signIn('nobody@example.com')
    expect([wrong.status, wrong.body]).toEqual([401, unknown.body])
  })

  test('pauses after ten failures of a login, and the right password gets the same refusal', async () => {
    const { login } = await aPerson(api.sql, staff, 'support')
    for (let i = 0; i < 10; i++) await aBrowser().signIn(login, 'guess', { remoteAddress: `198.51.100.${i}` })
    const { status, headers } = await aBrowser().signIn(login)
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true])
    api.now = later(11 * 60_000)
    expect((await aBrowser().signIn(login)).status).toBe(200)
  })

  test('pauses after ten failed logins from an address, although the requests claim other addresses', async () => {
    const guess = (i: number) => {
      const headers = { 'x-forwarded-for': `198.51.100.${i}`, forwarded: `for=198.51.100.${i}` }
      return aBrowser().signIn(`guess-${i}@example.com`, 'guess', { remoteAddress: '192.0.2.77', headers })
    }
    for (let i = 0; i < 10; i++) expect((await guess(i)).status).toBe(401)
    expect((await guess(10)).status).toBe(429)
  })

  test("the owner of a partner signs in with the partner's login, as one person", async () => {
    const { partnerId } = await createPartner(api.sql, 'vasilek', PASSWORD)
    const browsers = [aBrowser(), aBrowser()]
    for (const browser of browsers) expect((await browser.signIn('vasilek')).status).toBe(200)
    const { body } = await browsers[0]!.ask('GET', '/session')
    expect(body.person).toMatchObject({ kind: 'PARTNER', role: 'owner', partnerId, login: 'vasilek' })
    expect((await browsers[0]!.ask('GET', '/people')).body.people).toHaveLength(1)
    await disablePartner(api.sql, 'vasilek')
    expect((await browsers[1]!.ask('GET', '/session')).status).toBe(401)
    expect((await aBrowser().signIn('vasilek')).status).toBe(401)
  })

  test('a session ends when it is idle for long, and after two weeks in any case', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const browser = aBrowser()
    await browser.signIn(login)
    const hour = 3600_000
    for (let hours = 11; hours < 14 * 24; hours += 11) {
      api.now = later(hours * hour)
      expect(await whoIs(browser)).toBe(login)
    }
    api.now = later(14 * 24 * hour + 1000)
    expect((await browser.ask('GET', '/session')).status).toBe(401)
    api.now = undefined
    const idle = aBrowser()
    await idle.signIn(login)
    api.now = later(12 * hour + 1000)
    expect((await idle.ask('GET', '/session')).status).toBe(401)
  })

  test('ends the least recently used session if a person has a hundred', async () => {
    const { login, personId } = await aPerson(api.sql, staff, 'admin')
    const oldest = aBrowser()
    await oldest.signIn(login)
    await api.sql`
      insert into person_sessions (session_hash, person_id, half, address, agent, created_at, used_at)
      select sha256(n::text::bytea), ${personId}, false, '192.0.2.1', '', now(), now() + interval '1 second'
      from generate_series(1, 99) n`
    expect(await whoIs(oldest)).toBe(login)
    await aBrowser().signIn(login)
    expect((await oldest.ask('GET', '/session')).status).toBe(401)
    const [row] = await api.sql`select count(*)::int as count from person_sessions where person_id = ${personId}`
    expect(row).toEqual({ count: 100 })
  })

  test('accepts no session value from outside: every sign-in makes a new value', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const browser = aBrowser()
    browser.cookie = `tidings=${'A'.repeat(43)}`
    await browser.signIn(login)
    expect(browser.cookie).not.toContain('A'.repeat(43))
    const [row] =
      await api.sql`select count(*)::int as count from person_sessions where session_hash = decode(${'00'}, 'hex')`
    expect(row).toEqual({ count: 0 })
  })

  test('a request of another site is refused, also with a valid cookie', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const browser = aBrowser()
    await browser.signIn(login)
    const headers = { origin: 'https://evil.example' }
    for (const [method, path, given] of [
      ['DELETE', '/session', headers],
      ['POST', '/people', headers],
      ['PATCH', '/account', headers],
      ['PATCH', '/account', { origin: 'null' }],
    ] as const)
      expect((await browser.ask(method, path, method === 'DELETE' ? undefined : {}, { headers: given })).status).toBe(
        403,
      )
    const withoutOrigin = async (headers: Record<string, string>) => {
      const request = { method: 'PATCH', url: '/cabinet/api/account', payload: { theme: 'auto' } } as const
      return (await api.app.inject({ ...request, headers: { cookie: browser.cookie!, ...headers } })).statusCode
    }
    expect(await withoutOrigin({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await withoutOrigin({})).toBe(204) // a program
    expect(await whoIs(browser)).toBe(login)
  })
})

describe('a second factor', () => {
  async function withFactor() {
    const person = await aPerson(api.sql, staff, 'admin')
    const browser = aBrowser()
    await browser.signIn(person.login)
    const { body: proposal } = await browser.ask('POST', '/account/second-factor/proposal')
    const { body } = await browser.ask('POST', '/account/second-factor', {
      secret: proposal.secret,
      code: codeAt(proposal.secret, new Date()),
      password: PASSWORD,
    })
    return { ...person, browser, secret: proposal.secret as string, recoveryCodes: body.recoveryCodes as string[] }
  }
  const factor = (browser: CabinetBrowser, code: string) => browser.ask('POST', '/session/second-factor', { code })

  test('is required after the password, and no route is open before it', async () => {
    const { login, secret } = await withFactor()
    const browser = aBrowser()
    expect((await browser.signIn(login)).body).toEqual({ needsSecondFactor: true })
    expect((await browser.ask('GET', '/session')).status).toBe(401)
    expect((await browser.ask('GET', '/people')).status).toBe(401)
    expect((await factor(browser, '000000')).status).toBe(401)
    const half = browser.cookie
    api.now = later(60_000)
    expect((await factor(browser, codeAt(secret, api.now))).status).toBe(200)
    expect(await whoIs(browser)).toBe(login)
    browser.cookie = half
    expect((await browser.ask('GET', '/session')).status).toBe(401)
  })

  test('ends other sessions when it is switched on; a session waits ten minutes for the code and is not listed before', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const [here, there, half] = [aBrowser(), aBrowser(), aBrowser()]
    for (const browser of [here, there]) await browser.signIn(login)
    const { secret } = (await here.ask('POST', '/account/second-factor/proposal')).body
    await here.ask('POST', '/account/second-factor', { secret, code: codeAt(secret, new Date()), password: PASSWORD })
    expect((await there.ask('GET', '/session')).status).toBe(401)
    await half.signIn(login)
    expect((await here.ask('GET', '/account/sessions')).body.sessions).toHaveLength(1)
    api.now = later(601_000)
    expect((await factor(half, codeAt(secret, api.now))).status).toBe(401)
  })

  test('a code is accepted once, also within its half minute and for two requests at once', async () => {
    const { login, secret, recoveryCodes } = await withFactor()
    api.now = later(60_000)
    const code = codeAt(secret, api.now)
    const [first, second] = [aBrowser(), aBrowser()]
    await first.signIn(login)
    await second.signIn(login)
    const use = async (code: string) =>
      (await Promise.all([first, second].map(browser => factor(browser, code)))).map(({ status }) => status).sort()
    expect(await use(code)).toEqual([200, 401])
    for (const browser of [first, second]) await browser.signIn(login)
    expect(await use(recoveryCodes[0]!)).toEqual([200, 401])
  })

  test('is switched on only with the current password, and wrong passwords are counted', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const stolen = aBrowser()
    await stolen.signIn(login)
    const { secret } = (await stolen.ask('POST', '/account/second-factor/proposal')).body
    const switchOn = async (given: object) =>
      (await stolen.ask('POST', '/account/second-factor', { secret, code: codeAt(secret, new Date()), ...given }))
        .status
    expect(await switchOn({})).toBe(400)
    for (let i = 0; i < FAILURES_ALLOWED; i++) expect(await switchOn({ password: `guess ${i}` })).toBe(401)
    expect(await switchOn({ password: PASSWORD })).toBe(429)
    expect((await stolen.ask('GET', '/account/second-factor')).body.isOn).toBe(false)
  })

  test('wrong codes are counted like wrong passwords, also with a valid cookie', async () => {
    const { login, secret, browser: signedIn } = await withFactor()
    const browser = aBrowser()
    await browser.signIn(login)
    const guess = (code: string) => [
      factor(browser, code),
      signedIn.ask('DELETE', '/account/second-factor', { code }),
      signedIn.ask('POST', '/account/second-factor/recovery-codes', { code }),
    ]
    for (let i = 0; i < 3; i++) for (const answer of guess(`00000${i}`)) expect((await answer).status).toBe(401)
    expect((await factor(browser, '\uff11'.repeat(6))).status).toBe(401) // digits of another script
    api.now = later(60_000)
    for (const answer of guess(codeAt(secret, api.now))) expect((await answer).status).toBe(429)
  })

  test('each recovery code is accepted once instead of a code of the phone', async () => {
    const { login, recoveryCodes, browser } = await withFactor()
    expect(recoveryCodes).toHaveLength(10)
    const [code] = recoveryCodes
    const lost = aBrowser()
    await lost.signIn(login)
    expect((await factor(lost, code!.toUpperCase())).status).toBe(200)
    expect((await browser.ask('GET', '/account/second-factor')).body).toEqual({ isOn: true, recoveryCodesLeft: 9 })
    const again = aBrowser()
    await again.signIn(login)
    expect((await factor(again, code!)).status).toBe(401)
    expect((await factor(again, (await withFactor()).recoveryCodes[0]!)).status).toBe(401) // of another person
    expect((await browser.ask('DELETE', '/account/second-factor', { code: recoveryCodes[1] })).status).toBe(204)
    expect((await aBrowser().signIn(login)).body).toEqual({ needsSecondFactor: false })
  })
})

describe('the own account', () => {
  test('a new password ends every other session; of an owner also the tokens of the partner API', async () => {
    await createPartner(api.sql, 'landysh', PASSWORD)
    const [browser, other] = [aBrowser(), aBrowser()]
    await browser.signIn('landysh')
    await other.signIn('landysh')
    const credentials = { login: 'landysh', password: PASSWORD }
    const token = async (body: object) =>
      (await api.app.inject({ method: 'POST', url: '/partner/v1/auth/token', payload: body })).json().token
    const headers = { authorization: `Bearer ${await token(credentials)}` }
    const companies = async () => (await api.app.inject({ url: '/partner/v1/company', headers })).statusCode
    expect(await companies()).toBe(200)
    const change = (before: string, password: string) => browser.ask('PUT', '/account/password', { before, password })
    expect((await change('wrong', 'another password')).status).toBe(401)
    expect((await change(PASSWORD, 'short')).status).toBe(400)
    for (let i = 0; i < 9; i++) await change('wrong', 'another password')
    expect((await change(PASSWORD, 'another password')).status).toBe(429) // wrong passwords are counted
    api.now = later(11 * 60_000)
    expect((await change(PASSWORD, 'another password')).status).toBe(204)
    expect([await whoIs(browser), (await other.ask('GET', '/session')).status, await companies()]).toEqual([
      'landysh',
      401,
      401,
    ])
    // The network of the old password is no longer known, so that wrong passwords from elsewhere count there too.
    for (let i = 0; i < 10; i++) await aBrowser().signIn('landysh', 'guess', { remoteAddress: `198.51.100.${i}` })
    expect((await aBrowser().signIn('landysh', 'another password')).status).toBe(429)
    api.now = later(22 * 60_000)
    expect((await aBrowser().signIn('landysh', 'another password')).status).toBe(200)
  })

  test('sessions are listed, and ended one by one or all except the current one', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const [here, there, elsewhere] = [aBrowser(), aBrowser(), aBrowser()]
    for (const browser of [here, there, elsewhere])
      await browser.signIn(login, PASSWORD, { headers: { 'user-agent': 'Firefox' } })
    const list = async () => (await here.ask('GET', '/account/sessions')).body.sessions
    const sessions = await list()
    expect(sessions).toHaveLength(3)
    expect(sessions.filter(({ isThis }: { isThis: boolean }) => isThis)).toMatchObject([{ agent: 'Firefox' }])
    const one = sessions.find(({ isThis }: { isThis: boolean }) => !isThis)
    expect((await here.ask('DELETE', `/account/sessions/${one.id}`)).status).toBe(204)
    expect((await here.ask('DELETE', `/account/sessions/${one.id}`)).status).toBe(404)
    expect((await here.ask('DELETE', '/account/sessions')).body).toEqual({ ended: 1 })
    expect(await list()).toHaveLength(1)
    const stranger = aBrowser()
    await stranger.signIn((await aPerson(api.sql, staff, 'admin')).login)
    const [mine] = await list()
    expect((await stranger.ask('DELETE', `/account/sessions/${mine.id}`)).status).toBe(404)
  })

  test('language, theme and name are stored', async () => {
    const { login } = await aPerson(api.sql, staff, 'admin')
    const browser = aBrowser()
    await browser.signIn(login)
    await browser.ask('PATCH', '/account', { language: 'ru', theme: 'dark', name: 'Ольга <b>' })
    await browser.ask('PATCH', '/account', { theme: 'light' })
    const { person } = (await browser.ask('GET', '/session')).body
    expect(person).toMatchObject({ language: 'ru', theme: 'light', name: 'Ольга <b>' })
    await browser.ask('PATCH', '/account', { language: null })
    expect((await browser.ask('GET', '/session')).body.person.language).toBeNull()
    for (const wrong of [{ language: 'de' }, { theme: 'pink' }, { name: 'x'.repeat(101) }])
      expect((await browser.ask('PATCH', '/account', wrong)).status).toBe(400)
  })
})

describe('people', () => {
  async function signedIn(place = ofCompany(companyId), role = 'owner') {
    const person = await aPerson(api.sql, place, role)
    const browser = aBrowser()
    await browser.signIn(person.login)
    return { ...person, browser }
  }

  test('an owner invites; the link works once and lets the person choose a password', async () => {
    const { browser } = await signedIn()
    const { status, body } = await browser.ask('POST', '/people', { login: 'anna@shop.example', role: 'viewer' })
    expect([status, body.link]).toEqual([
      201,
      expect.stringMatching(/^http:\/\/localhost:8080\/cabinet\/accept-invitation#/),
    ])
    const token = body.link.split('#')[1]
    const visitor = aBrowser()
    expect((await visitor.ask('POST', '/invitation', { token })).body).toEqual({ login: 'anna@shop.example', name: '' })
    const accept = (password: string) => visitor.ask('POST', '/invitation/accept', { token, password })
    expect((await accept('short')).status).toBe(400)
    expect((await aBrowser().signIn('anna@shop.example')).status).toBe(401)
    const answers = await Promise.all([accept(PASSWORD), accept('somebody elses password')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await visitor.ask('POST', '/invitation', { token })).status).toBe(404)
  })

  test('a link lets the owner of a partner choose the password that the cabinet and the partner API share', async () => {
    const { partnerId } = await createPartner(api.sql, 'romashka', PASSWORD)
    const { browser } = await signedIn(ofPartner(partnerId))
    await aBrowser().signIn('romashka')
    const { people } = (await browser.ask('GET', '/people')).body
    const { personId } = people.find(({ login }: { login: string }) => login === 'romashka')
    const { link } = (await browser.ask('POST', `/people/${personId}/invitation`)).body
    const answers = async (login: string, password: string) => [
      (await aBrowser().signIn(login, password)).status,
      (await api.app.inject({ method: 'POST', url: '/partner/v1/auth/token', payload: { login, password } }))
        .statusCode,
    ]
    await aBrowser().ask('POST', '/invitation/accept', { token: link.split('#')[1], password: 'of the link' })
    expect([await answers('romashka', PASSWORD), await answers('romashka', 'of the link')]).toEqual([
      [401, 401],
      [200, 200],
    ])
    await api.sql`update people set password_hash = (select password_hash from partners where login = 'romashka')
      where login = 'romashka'` // the form of older links
    await replacePartnerPassword(api.sql, 'romashka', 'of the staff')
    expect([await answers('romashka', 'of the link'), await answers('romashka', 'of the staff')]).toEqual([
      [401, 401],
      [200, 200],
    ])
  })

  test('an unknown token causes no hash of a password', async () => {
    usePasswordCost(50) // no machine can compute such a hash
    const answer = await aBrowser().ask('POST', '/invitation/accept', { token: 'guessed', password: PASSWORD })
    usePasswordCost(4) // as testing/factories.ts sets it
    expect(answer.status).toBe(404)
  })

  test('an invitation ends after a week, and a new invitation ends the previous one', async () => {
    const { browser } = await signedIn()
    const { body: first } = await browser.ask('POST', '/people', { login: 'boris@shop.example', role: 'viewer' })
    const { body: second } = await browser.ask('POST', `/people/${first.personId}/invitation`)
    const known = async ({ link }: { link: string }) =>
      (await aBrowser().ask('POST', '/invitation', { token: link.split('#')[1] })).status
    expect([await known(first), await known(second)]).toEqual([404, 200])
    await browser.ask('PATCH', `/people/${first.personId}`, { isActive: false })
    expect(await known(second)).toBe(404)
    await browser.ask('PATCH', `/people/${first.personId}`, { isActive: true })
    expect(await known(second)).toBe(200)
    api.now = later(7 * 24 * 3600_000 + 1000)
    expect(await known(second)).toBe(404)
  })

  test('a company has at most a thousand people', async () => {
    const company = await aCompany(api.sql, partner)
    const { browser } = await signedIn(ofCompany(company))
    await api.sql`
      insert into people (kind, company_id, role, login)
      select 'COMPANY', ${company}, 'viewer', 'many-' || n from generate_series(1, 999) n`
    const { status, body } = await browser.ask('POST', '/people', { login: 'one.more@example.com', role: 'viewer' })
    expect([status, body.error.msg]).toEqual([400, 'There can be at most 1000 people'])
  })

  test('a login is given once, and the login of a partner is not given', async () => {
    const { browser, login } = await signedIn()
    for (const taken of [login, partner.login, 'anna anna'])
      expect((await browser.ask('POST', '/people', { login: taken, role: 'viewer' })).status).toBe(400)
    expect((await browser.ask('POST', '/people', { login: 'x@shop.example', role: 'admin' })).status).toBe(400)
  })

  test('a deactivated person loses access at once, and gets it back when activated', async () => {
    const { browser } = await signedIn()
    const person = await aPerson(api.sql, ofCompany(companyId), 'viewer')
    const theirs = aBrowser()
    await theirs.signIn(person.login)
    await browser.ask('PATCH', `/people/${person.personId}`, { isActive: false })
    expect((await theirs.ask('GET', '/session')).status).toBe(401)
    expect((await theirs.signIn(person.login)).status).toBe(401)
    await browser.ask('PATCH', `/people/${person.personId}`, { isActive: true })
    expect((await theirs.signIn(person.login)).status).toBe(200)
  })

  test('the last owner keeps the role and stays active, also against two requests at once', async () => {
    const company = await aCompany(api.sql, partner)
    const one = await signedIn(ofCompany(company))
    const two = await signedIn(ofCompany(company))
    const answers = await Promise.all([
      one.browser.ask('PATCH', `/people/${two.personId}`, { role: 'viewer' }),
      two.browser.ask('PATCH', `/people/${one.personId}`, { isActive: false }),
    ])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const [left] = await api.sql`
      select count(*)::int as count from people
      where company_id = ${company} and role = 'owner' and disabled_at is null`
    expect(left).toEqual({ count: 1 })
    const three = await signedIn(ofCompany(company))
    for (const change of [{ role: 'viewer' }, { isActive: false }]) // also if other owners are left
      expect((await three.browser.ask('PATCH', `/people/${three.personId}`, change)).status).toBe(400)
  })

  test('of two changes of a role at once one is refused, and so is a change based on an old role', async () => {
    const { browser } = await signedIn()
    const { personId } = await aPerson(api.sql, ofCompany(companyId), 'viewer')
    const give = async (body: object) => (await browser.ask('PATCH', `/people/${personId}`, body)).status
    const seen = 'viewer'
    const answers = await Promise.all([give({ role: 'sender', seen }), give({ role: 'finance', seen })])
    expect(answers.sort()).toEqual([204, 400])
    expect(await give({ role: 'owner', seen })).toBe(400)
  })

  test("another company's people are unknown", async () => {
    const { browser } = await signedIn()
    const stranger = await aPerson(api.sql, ofCompany(await aCompany(api.sql, partner)), 'viewer')
    for (const id of [stranger.personId, (await aPerson(api.sql, staff, 'support')).personId, 999_999]) {
      expect((await browser.ask('PATCH', `/people/${id}`, { role: 'owner' })).status).toBe(404)
      expect((await browser.ask('POST', `/people/${id}/invitation`)).status).toBe(404)
    }
    const { people } = (await browser.ask('GET', '/people')).body
    expect(people.map(({ personId }: { personId: number }) => personId)).not.toContain(stranger.personId)
  })

  test('partners and staff manage the people of their companies, and learn nothing of other people', async () => {
    const owner = await signedIn(ofPartner(partner.partnerId))
    const admin = await signedIn(staff, 'admin')
    const company = await signedIn()
    const foreign = await aCompany(api.sql, await aPartner(api.sql))
    const other = await aCompany(api.sql, partner)
    const of = (id: number) => `?companyId=${id}`
    const login = (browser: CabinetBrowser, id: number, name: string) =>
      browser.ask('POST', `/people${of(id)}`, { login: name, role: 'sender' })
    expect((await login(owner.browser, other, 'vera@shop.example')).status).toBe(201)
    const { body } = await admin.browser.ask('GET', `/people${of(other)}`)
    expect(body).toMatchObject({ people: [{ login: 'vera@shop.example', role: 'sender' }], roles: roles.COMPANY })
    const { personId } = body.people[0]
    expect((await owner.browser.ask('PATCH', `/people/${personId}${of(companyId)}`, { role: 'viewer' })).status).toBe(
      404,
    )
    expect((await owner.browser.ask('PATCH', `/people/${personId}${of(other)}`, { role: 'viewer' })).status).toBe(204)
    for (const [browser, id] of [
      [owner.browser, foreign],
      [company.browser, other],
      [admin.browser, 999_999],
    ] as const) {
      expect((await browser.ask('GET', `/people${of(id)}`)).status).toBe(404)
      expect((await login(browser, id, 'x@shop.example')).status).toBe(404)
    }
  })
})

/** An empty cabinet. */
function guarded() {
  const app = fastify()
  const context = { sql: api.sql, clock: () => new Date(), publicUrl: 'http://localhost' }
  guardCabinet(app, context as never, new SessionCookie('http://localhost'))
  return app
}

test('a route that states no right does not start', () => {
  expect(() => guarded().get('/open', async () => ({}))).toThrow('does not state which right it needs')
})

test('a file ends within a second when its reader is deactivated, or loses the right to see it', async () => {
  const app = guarded()
  async function* rows() {
    for (let row = 0; ; row++) {
      await new Promise(resolve => setTimeout(resolve, 50))
      yield `${row}\n`
    }
  }
  const config = { needs: 'money.see' } as const
  app.get('/file', { config }, (_, reply) => reply.type('text/csv').send(Readable.from(rows())))
  const readers = [await aPerson(api.sql, staff, 'support'), await aPerson(api.sql, staff, 'support')]
  const files: Readable[] = []
  for (const { login } of readers) {
    const browser = aBrowser()
    await browser.signIn(login)
    const answer = await app.inject({ url: '/file', headers: { cookie: browser.cookie! }, payloadAsStream: true })
    expect(answer.statusCode).toBe(200)
    files.push(answer.stream())
  }
  const admin = aBrowser()
  await admin.signIn((await aPerson(api.sql, staff, 'admin')).login)
  await admin.ask('PATCH', `/people/${readers[0]!.personId}`, { isActive: false })
  await admin.ask('PATCH', `/people/${readers[1]!.personId}`, { role: 'moderator' })
  for (const file of files) await expect(text(file)).rejects.toThrow()
})

test('over https the cookie is bound to its host', () => {
  const headers: Record<string, string> = {}
  new SessionCookie('https://tidings.example').write(
    { header: (name: string, value: string) => Object.assign(headers, { [name]: value }) } as never,
    'x',
  )
  expect(headers['set-cookie']).toMatch(/^__Host-tidings=x; Path=\/; .*Secure$/)
})
