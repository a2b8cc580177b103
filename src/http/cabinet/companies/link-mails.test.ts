import { pino } from 'pino'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { SmtpMailer } from '../../../commands/mail/smtp-mailer.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { aPerson, CabinetBrowser, ofCompany, PASSWORD, staff } from '../../../testing/cabinet.ts'
import { useDatabase } from '../../../testing/database.ts'
import { aCompany, aPartner } from '../../../testing/factories.ts'
import { readMail, TestSmtpServer } from '../../../testing/smtp-server.ts'
import { type App, buildApp } from '../../app.ts'

const db = useDatabase()
let companyId: number
let app: App
let server: TestSmtpServer
let lines: string[]

beforeAll(async () => {
  companyId = await aCompany(db.sql, await aPartner(db.sql))
  await db.sql`update companies set name = ${'Весна\r\nBcc: eve@evil.example'} where company_id = ${companyId}`
})
afterEach(async () => {
  await app.close()
  await server?.close()
})

type Serving = Parameters<typeof TestSmtpServer.start>[0]

/** The cabinet with a mail server, and an owner of the company who is signed in. */
async function anOwner(options: Serving = {}, place = ofCompany(companyId), role = 'owner') {
  const login = { user: 'tidings', password: 'hush-hush' }
  server = await TestSmtpServer.start({ login, ...options })
  const mailer = new SmtpMailer({
    server: { host: 'localhost', port: server.port, tls: 'starttls', ...login },
    from: 'no-reply@sms.example',
    ca: server.certificate.cert,
    mailMs: 1500,
  })
  return signedIn(place, role, { send: mailer.send, language: 'en' })
}

async function signedIn(place: Parameters<typeof aPerson>[1], role: string, mails?: object) {
  lines = []
  const numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'info' }, { write: line => void lines.push(line) }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'https://sms.example',
    trustedProxies: [],
    metrics: false,
    secret: 'a secret of the tests, 32 or longer',
    ...(mails ? { mails: mails as never } : {}),
  })
  const person = await aPerson(db.sql, place, role)
  const browser = new CabinetBrowser(() => app)
  await browser.signIn(person.login)
  return { ...person, browser }
}

const linesOf = (name: string) => lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === name)

test('an invitation is mailed; its link works once and is shown, too', async () => {
  const { browser, login } = await anOwner()
  const headers = { 'accept-language': 'de, ru-RU;q=0.9, en;q=0.8' }
  const { status, body } = await browser.ask(
    'POST',
    '/people',
    { login: 'a@vesna.example', role: 'viewer' },
    { headers },
  )
  expect([status, body.mail]).toEqual([201, { to: 'a@vesna.example', failure: null }])
  expect(server.mails).toHaveLength(1)
  const { fields, text } = readMail(server.mails[0]!)
  expect(fields.get('subject')).toBe('Приглашение в кабинет компании «Весна Bcc: eve@evil. example»')
  expect(fields.has('bcc')).toBe(false)
  expect(text).toContain(`${login} приглашает вас`)
  const links = text.match(/https:\S+/g)
  expect(links).toEqual([body.link])
  const accept = () =>
    browser.ask('POST', '/invitation/accept', { token: links![0]!.split('#')[1], password: PASSWORD })
  expect([(await accept()).status, (await accept()).status]).toEqual([200, 404])
  expect(linesOf('link.mailed')).toMatchObject([{ personId: body.personId }])
  expect(lines.join()).not.toContain(body.link.split('#')[1])
})

test('a person with a password gets a mail about a new password', async () => {
  const { browser } = await anOwner()
  const other = await aPerson(db.sql, ofCompany(companyId), 'viewer')
  const { body } = await browser.ask('POST', `/people/${other.personId}/invitation`)
  expect(body.mail).toEqual({ to: other.login, failure: null })
  const { fields, text } = readMail(server.mails[0]!)
  expect(fields.get('subject')).toMatch(/^New password for the cabinet/)
  expect(text).toContain(body.link)
})

test('people of a company do not learn the name of the member of staff', async () => {
  const { browser, login } = await anOwner({}, staff, 'admin')
  await browser.ask('POST', `/people?companyId=${companyId}`, { login: 'b@vesna.example', role: 'viewer' })
  expect(readMail(server.mails[0]!).text).toMatch(/^You are invited/m)
  expect(server.mails[0]!.raw).not.toContain(login)
})

test.each([
  ['refuses', 'address_refused', { RCPT: '550 5.1.1 unknown' }],
  ['is silent', 'timeout', { AUTH: 'hang' }],
  ['closes the connection', 'unreachable', { DATA: 'close' }],
  ['does not confirm the mail', 'unknown', { body: 'close' }],
] as const)('when the mail server %s, the link works and the answer says why', async (_, failure, instead) => {
  const { browser } = await anOwner({ instead })
  const login = `${failure.replace('_', '')}@vesna.example`
  const { status, body } = await browser.ask('POST', '/people', { login, role: 'viewer' })
  expect([status, body.mail]).toEqual([201, { to: login, failure }])
  const token = body.link.split('#')[1]
  expect((await browser.ask('POST', '/invitation', { token })).status).toBe(200)
  expect(linesOf('link.not_mailed')).toMatchObject([{ level: 40, personId: body.personId, reason: failure }])
  for (const secret of [token, 'hush-hush', login]) expect(lines.join()).not.toContain(secret)
})

test('a plain login gets no mail, and an address gets at most five an hour', async () => {
  const { browser } = await anOwner()
  const plain = await browser.ask('POST', '/people', { login: 'gleb', role: 'viewer' })
  expect(plain.body.mail).toEqual({ to: 'gleb', failure: 'no_address' })
  const { body } = await browser.ask('POST', '/people', { login: 'c@vesna.example', role: 'viewer' })
  const failures = []
  for (let i = 0; i < 5; i++)
    failures.push((await browser.ask('POST', `/people/${body.personId}/invitation`)).body.mail.failure)
  expect(failures).toEqual([null, null, null, null, 'too_many'])
  expect(server.mails).toHaveLength(5)
})

test('a company gets at most 100 mails an hour, also from many owners, and other companies get theirs', async () => {
  const mails = { send: async () => ({ failure: null }), language: 'en' }
  const { browser } = await signedIn(ofCompany(companyId), 'owner', mails)
  const failureFor = async (by: CabinetBrowser, login: string) =>
    (await by.ask('POST', '/people', { login, role: 'viewer' })).body.mail.failure
  const ownerOf = async (id: number) => {
    const owner = new CabinetBrowser(() => app)
    await owner.signIn((await aPerson(db.sql, ofCompany(id), 'owner')).login)
    return owner
  }
  const second = await ownerOf(companyId)
  for (const [name, by] of [['one', browser] as const, ['two', second] as const]) {
    for (let i = 0; i < 50; i++) expect(await failureFor(by, `${name}${i}@vesna.example`)).toBe(null)
    expect(await failureFor(by, `${name}@vesna.example`)).toBe('too_many')
  }
  expect(await failureFor(await ownerOf(companyId), 'three@vesna.example')).toBe('too_many')
  const other = await aCompany(db.sql, await aPartner(db.sql))
  expect(await failureFor(await ownerOf(other), 'four@vesna.example')).toBe(null)
})

test('mails that never reached the mail server do not count', async () => {
  const instead: { AUTH?: string } = { AUTH: '535 5.7.8 wrong' }
  const { browser } = await anOwner({ instead })
  const { body } = await browser.ask('POST', '/people', { login: 'e@vesna.example', role: 'viewer' })
  const failureOfNext = async () => (await browser.ask('POST', `/people/${body.personId}/invitation`)).body.mail.failure
  for (let i = 0; i < 6; i++) expect(await failureOfNext()).toBe('sign_in')
  delete instead.AUTH
  expect(await failureOfNext()).toBe(null)
})

test('an unknown error is logged without its message', async () => {
  const error = Object.assign(new Error('line one\n secret of the mail'), { code: 'EODD', response: 'secret' })
  const send = () => Promise.reject(error)
  const { browser } = await signedIn(ofCompany(companyId), 'owner', { send, language: 'en' })
  const { body } = await browser.ask('POST', '/people', { login: 'f@vesna.example', role: 'viewer' })
  expect(body.mail.failure).toBe('failed')
  const [{ level, err }] = linesOf('link.not_mailed')
  expect([level, err.name, err.code]).toEqual([50, 'Error', 'EODD'])
  expect(err.stack).toMatch(/^ {4}at .*link-mails\.test/)
  expect(lines.join()).not.toContain('secret')
})

test('without a mail server nothing is tried', async () => {
  server = await TestSmtpServer.start()
  const { browser } = await signedIn(ofCompany(companyId), 'owner')
  const { status, body } = await browser.ask('POST', '/people', { login: 'd@vesna.example', role: 'viewer' })
  expect([status, body.mail]).toEqual([201, null])
  expect([linesOf('link.mailed'), linesOf('link.not_mailed'), server.commands]).toEqual([[], [], []])
})
