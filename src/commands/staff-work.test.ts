import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { storeDocument } from '../domain/documents/documents.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { printedBy } from '../testing/command-line.ts'
import { PDF } from '../testing/conformance/world.ts'
import { useDatabase } from '../testing/database.ts'
import { numberOf } from '../testing/factories.ts'
import { readMail, TestSmtpServer } from '../testing/smtp-server.ts'
import { aDispatch, aWorld, type World } from '../testing/world.ts'

/** What staff do every day, on the command line alone. */

const db = useDatabase()
const folder = mkdtempSync(join(tmpdir(), 'tidings-staff-'))
afterAll(() => rmSync(folder, { recursive: true }))

let world: World
let company: string[]
let dispatchId: number

beforeAll(async () => {
  world = await aWorld(db.sql)
  company = ['--company', String(world.companyId)]
  const recipients = [{ destination: numberOf.MTS }, { destination: numberOf.BEELINE }, { destination: '12' }]
  dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, recipients, {
    text: 'Hello\u001b[31m, Anna',
  })
})

const env = () => ({ DATABASE_URL: db.url, TIDINGS_SECRET: 'invented for the tests, 32 characters and more' })
const printed = (...words: string[]) => printedBy(words, env())
const answer = async (...words: string[]) => JSON.parse(await printed(...words, '--json'))
const refused = (words: string[], sentence: RegExp) => expect(printed(...words)).rejects.toThrow(sentence)

describe('partners', () => {
  const withPassword = (password: string) => {
    const path = join(folder, 'password')
    writeFileSync(path, `${password}\n`)
    return ['--password-file', path]
  }

  test('are created, get passwords, and are disabled, enabled and unlocked', async () => {
    const create = ['partner', 'create', '--login', 'anna', ...withPassword('correct horse')]
    const { partnerId } = await answer(...create)
    const anna = { partnerId, login: 'anna', currency: 'RUB' }
    await refused(create, /A partner with the login "anna" exists already/)
    const change = ['partner', 'password', '--login']
    expect(await answer(...change, 'anna', ...withPassword('battery staple'))).toEqual({ login: 'anna' })
    await refused(
      [...change, 'boris', ...withPassword('correct horse')],
      /There is no partner with the login "boris": `/,
    )

    expect(await answer('partner', 'disable', 'anna')).toEqual({ login: 'anna', disabled: true })
    expect(await answer('partner', 'list')).toContainEqual({ ...anna, disabled: true })
    expect(await printed('partner', 'list')).toMatch(/^\d+ +RUB +disabled +anna$/m)
    expect(await answer('partner', 'enable', 'anna')).toEqual({ login: 'anna', disabled: false })
    expect(await answer('partner', 'unlock', 'anna')).toEqual({ login: 'anna' })
    for (const verb of ['disable', 'enable', 'unlock']) {
      await refused(['partner', verb, 'boris'], /There is no partner with the login "boris": `tidings partner list`/)
    }
  })

  test('and staff are created, listed and get passwords', async () => {
    const words = ['staff', 'create', '--login', 'olga@example.com', ...withPassword('correct horse')]
    const { staffId } = await answer(...words)
    await refused(words, /A staff member with the login "olga@example.com" exists already/)
    expect(await answer('staff', 'list')).toMatchObject([{ staffId, login: 'olga@example.com' }])
    const change = ['staff', 'password', ...withPassword('battery staple'), '--login']
    expect(await answer(...change, 'olga@example.com')).toEqual({ login: 'olga@example.com' })
    await refused([...change, 'ivan'], /There is no member of staff with the login "ivan": `tidings staff list` shows/)
  })
})

describe('people of the cabinet', () => {
  const invite = (login: string, ...more: string[]) => ['person', 'invite', '--login', login, ...more]

  test('are invited by a link, listed, get roles, and are deactivated and activated', async () => {
    const { link } = await answer(...invite('vera@example.com', '--staff', '--role', 'admin', '--name', 'Vera'))
    expect(link).toMatch(/^http:\/\/.+\/cabinet\/accept-invitation#[\w-]{32}$/)
    await answer(...invite('oleg@example.com', '--staff', '--role', 'support'))
    const list = () => answer('person', 'list', '--staff')
    expect(await list()).toContainEqual(
      expect.objectContaining({ login: 'vera@example.com', name: 'Vera', role: 'admin', state: 'invited' }),
    )
    expect((await answer('person', 'link', 'vera@example.com')).link).not.toBe(link)
    await answer('person', 'role', 'oleg@example.com', '--role', 'moderator')
    await answer('person', 'deactivate', 'oleg@example.com')
    expect(await list()).toContainEqual(
      expect.objectContaining({ login: 'oleg@example.com', role: 'moderator', state: 'deactivated' }),
    )
    await answer('person', 'activate', 'oleg@example.com')
    expect(await printed('person', 'list', '--staff')).toMatch(/oleg@example.com +moderator +invited +off/)
  })

  test('are refused with what to do', async () => {
    await refused(invite('anna@example.com', '--role', 'admin'), /--company N, --partner LOGIN or --staff/)
    await refused(invite('anna@example.com', '--staff', '--role', 'owner'), /role.*admin, moderator, support/)
    await refused(invite('anna anna', '--staff', '--role', 'admin'), /--login must be a plain name/)
    await refused(invite('x@example.com', '--company', '999', '--role', 'owner'), /`tidings company list`/)
    await refused(['person', 'link', 'unknown'], /No person has the login "unknown": `tidings person list`/)
  })
})

describe('with a mail server', () => {
  let server: TestSmtpServer
  const mailEnv = () => ({
    ...env(),
    TIDINGS_SMTP_URL: `smtp://localhost:${server.port}?tls=off`,
    TIDINGS_MAIL_FROM: 'no-reply@sms.example',
    TIDINGS_PUBLIC_URL: 'https://sms.example',
    TIDINGS_MAIL_LANGUAGE: 'ru',
  })
  const run = (...words: string[]) => printedBy(words, mailEnv())
  const invite = (login: string, ...more: string[]) =>
    run('person', 'invite', '--login', login, '--staff', '--role', 'support', ...more)
  afterEach(() => server.close())

  test('links are mailed and printed, and with --no-mail only printed', async () => {
    server = await TestSmtpServer.start({ tls: 'none' })
    const { link, mail } = JSON.parse(await invite('mila@example.com', '--json'))
    expect(mail).toEqual({ to: 'mila@example.com', failure: null })
    expect(server.mails.map(received => readMail(received).text.includes(link))).toEqual([true])
    expect(readMail(server.mails[0]!).fields.get('subject')).toBe('Приглашение в кабинет сотрудников Tidings')
    expect(await run('person', 'link', 'mila@example.com')).toMatch(
      /^This link was mailed to mila.*:\nhttps:\S+#\S+\n$/,
    )
    expect(await run('person', 'link', 'mila@example.com', '--no-mail')).toMatch(/^Give this link to mila/)
    expect(server.mails).toHaveLength(2)
  })

  test('a mail that fails is told, and the link is printed', async () => {
    server = await TestSmtpServer.start({ tls: 'none', instead: { RCPT: '550 5.1.1 unknown' } })
    expect(await invite('nina@example.com')).toMatch(
      /^The link was not mailed: the mail server refused the address \(.*550.*\)\.\nGive this link to nina.*:\nhttps:\S+\n$/,
    )
    expect(await invite('nina')).toMatch(/^The link was not mailed: the login is not an e-mail address/)
  })
})

describe('companies', () => {
  const create = (...more: string[]) => ['company', 'create', '--name', 'Весна', '--inn', '7700000025', ...more]

  test('are created, shown, disabled and enabled', async () => {
    const made = await answer(...create('--partner', world.partner.login, '--budget', '1500.50', '--kpp', '770001001'))
    const id = ['--company', String(made.companyId)]
    expect(await answer('company', 'show', ...id)).toMatchObject({
      companyId: made.companyId,
      partnerId: world.partner.partnerId,
      name: 'Весна',
      status: 'ACTIVE',
      budget: { value: 1500.5, currency: 'RUB' },
      counteragentType: 'LEGAL',
      counteragentInn: '7700000025',
      counteragentKpp: '770001001',
      balance: 0,
      billing: 'POSTPAID',
    })
    expect(await answer('company', 'disable', ...id)).toEqual({ companyId: made.companyId, status: 'DISABLED' })
    const shown = await printed('company', 'show', ...id)
    expect(shown).toMatch(/^Status +DISABLED$/m)
    expect(shown).toMatch(/^Monthly budget +1,500\.50 RUB$/m)
    expect(await answer('company', 'enable', ...id)).toEqual({ companyId: made.companyId, status: 'ACTIVE' })
  })

  test.each<[string[], RegExp]>([
    [create('--partner', 'unknown'), /There is no partner with the login "unknown": `tidings partner list`/],
    [create('--partner', 'x', '--type', 'CLUB'), /--type must be one of LEGAL, INDIVIDUAL, not "CLUB"/],
    [create('--partner', 'x', '--budget', '1e9'), /--budget must be an amount above zero/],
    [['company', 'create', '--name', 'X', '--inn', '77', '--partner', 'x'], /--inn must be 10 or 12 digits, not "77"/],
    [['company', 'show', '--company', '987654'], /There is no company 987654/],
    [['company', 'disable', '--company', '987654'], /There is no company 987654/],
  ])('a mistake is told: %s', refused)
})

describe('dispatches', () => {
  test('are listed, shown, started and stopped', async () => {
    const { total, items } = await answer('dispatch', 'list', ...company)
    expect({ total, items }).toMatchObject({ total: 1, items: [{ dispatchId, status: 'CREATED', name: 'Test' }] })
    expect(await answer('dispatch', 'list', ...company, '--status', 'stopped')).toEqual({ total: 0, items: [] })
    expect(await printed('dispatch', 'list', ...company)).toMatch(
      new RegExp(
        `^ID +STATUS +CHANNEL +CREATED +MESSAGES +DELIVERED +FAILED +NAME\\n${dispatchId} +CREATED +SMS .* Test\\n$`,
      ),
    )
    expect(await answer('dispatch', 'start', String(dispatchId))).toEqual({ dispatchId, status: 'STARTED' })
    expect(await answer('dispatch', 'show', String(dispatchId))).toMatchObject({
      dispatchId,
      status: 'STARTED',
      messages: { total: 3, failed: 1, pending: 2 },
      failures: [{ errorCode: 7401, reason: 'The number is not valid', count: 1 }],
      waitsFor: [expect.stringMatching(/^No engine is at work/)],
    })
    const shown = await printed('dispatch', 'show', String(dispatchId))
    expect(shown).toMatch(/^Text +Hello\\u001b\[31m, Anna$/m)
    expect(shown).toMatch(
      /^Waiting +2\nSent +0\nDelivered +0\nFailed +1\n {2}1 x 7401 The number is not valid\nNo engine/m,
    )
    expect(await answer('dispatch', 'stop', String(dispatchId))).toEqual({ dispatchId, status: 'STOPPED' })
    await refused(['dispatch', 'show', '987654'], /There is no dispatch 987654: `tidings dispatch list --company N`/)
    await refused(['dispatch', 'stop', 'first'], /^ID must be a whole number above zero, not "first"\.$/)
    await refused(['dispatch', 'list', '--company', '987654'], /There is no company 987654/)
  })

  test('are reported as CSV, on stdout or into a new file', async () => {
    const report = await printed('dispatch', 'report', String(dispatchId))
    const lines = report.split('\r\n')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(/^messageUuid,destination,status,/)
    expect(lines[3]).toMatch(/,12,FAILED,7401,/)
    const to = join(folder, 'report.csv')
    const saved = await answer('dispatch', 'report', String(dispatchId), '--to', to)
    expect(saved).toEqual({ dispatchId, file: to, messages: 3 })
    expect(readFileSync(to, 'utf8')).toBe(report)
    await refused(['dispatch', 'report', String(dispatchId), '--to', to], /There is a file ".*report\.csv" already/)
    await refused(
      ['dispatch', 'report', String(dispatchId), '--to', '/nowhere/x'],
      /There is no folder for "\/nowhere\/x"/,
    )
    await refused(['dispatch', 'report', String(dispatchId), '--json'], /--json needs --to FILE/)
  })
})

describe('messages', () => {
  test('are found by number in all companies, and by anything in one', async () => {
    const { total, items } = await answer('message', 'find', '--to', '+7 (916) 000-00-01')
    expect({ total, items }).toMatchObject({
      total: 1,
      items: [
        { companyId: world.companyId, dispatchId, destination: numberOf.MTS, status: 'sending', channelType: 'SMS' },
      ],
    })
    const failed = await answer('message', 'find', ...company, '--status', 'unsent', '--dispatch', String(dispatchId))
    expect(failed.items).toMatchObject([{ destination: '12', status: 'unsent', errorCode: 7401 }])
    const limited = await printed('message', 'find', ...company, '--limit', '1')
    expect(limited).toMatch(/^MESSAGE +COMPANY +DISPATCH .*\n.*\n2 more: --limit shows more\.\n$/)

    const { messageUuid } = items[0]
    expect(await answer('message', 'show', messageUuid)).toMatchObject({ messageUuid, companyId: world.companyId })
    const shown = await printed('message', 'show', messageUuid, ...company)
    expect(shown).toMatch(/^Number +79160000001\nStatus +sending since /m)
    expect(shown).toMatch(/^Text +Hello\\u001b\[31m, Anna$/m)

    const callbackUrl = 'https://user:hush@client.example/hook'
    await db.sql`update messages set callback_url = ${callbackUrl} where message_uuid = ${messageUuid}`
    const masked = await printed('message', 'show', messageUuid, ...company)
    expect(masked).toMatch(/^Callbacks +https:\/\/user:\*\*\*@client\.example\/hook$/m)
  })

  test.each<[string[], RegExp]>([
    [['message', 'find'], /--to or --id is required to search all companies/],
    [['message', 'find', '--to', 'Anna'], /--to must be a phone number, not "Anna"/],
    [
      ['message', 'find', '--to', '79160000001', '--status', 'lost'],
      /--status must be one of sending, sent, delivered/,
    ],
    [['message', 'find', '--to', '79160000001', '--from', 'May'], /--from must be a day or a time such as/],
    [['message', 'find', '--to', '79160000001', '--limit', '100000'], /--limit must be at most 10000/],
    [['message', 'find', '--to', '79160000001', '--company', '987654'], /There is no company 987654/],
    [['message', 'show', 'nothing'], /There is no message "nothing"/],
  ])('a mistake is told: %s', refused)
})

describe('the blacklist', () => {
  test('is added to, listed and taken from', async () => {
    const [number] = ['79160000077']
    expect(
      await answer('blacklist', 'add', '8 916 000-00-77', ...company, '--comment', 'Asked by\u001b letter'),
    ).toEqual({
      companyId: world.companyId,
      msisdn: number,
      blacklist: true,
    })
    expect(await answer('blacklist', 'list', ...company)).toMatchObject({
      total: 1,
      items: [{ msisdn: number, comment: 'Asked by\u001b letter' }],
    })
    expect(await printed('blacklist', 'list', ...company)).toMatch(
      /^NUMBER +SINCE +COMMENT\n79160000077 +\d{4}-\d\d-\d\d +Asked by\\u001b letter\n$/,
    )
    expect(await printed('blacklist', 'remove', number!, ...company)).toMatch(/is no longer on the blacklist/)
    expect(await printed('blacklist', 'remove', number!, ...company)).toMatch(/was not on the blacklist/)
    await refused(['blacklist', 'add', 'Anna', ...company], /NUMBER must be a phone number, not "Anna"/)
    await refused(['blacklist', 'add', number!, '--company', '987654'], /There is no company 987654/)
  })
})

describe('documents', () => {
  test('are listed and saved, and no file is overwritten', async () => {
    const { id } = await storeDocument(db.sql, world.companyId, { filename: '../charter.pdf', content: PDF })
    expect(await answer('document', 'list', ...company)).toMatchObject([{ id, filename: '../charter.pdf' }])
    const to = join(folder, 'charter.pdf')
    expect(await answer('document', 'save', id, ...company, '--to', to)).toEqual({
      id,
      file: to,
      sizeBytes: PDF.length,
    })
    expect(readFileSync(to)).toEqual(PDF)
    await refused(['document', 'save', id, ...company, '--to', to], /There is a file ".*charter\.pdf" already/)
    await refused(['document', 'save', 'x', ...company], /ID must be the id of a document, not "x"/)
    await refused(['document', 'save', crypto.randomUUID(), ...company], /Company \d+ has no document .*document list/)

    const before = process.cwd()
    process.chdir(folder)
    try {
      rmSync(to)
      expect(await answer('document', 'save', id, ...company)).toMatchObject({ file: '_charter.pdf' })
    } finally {
      process.chdir(before)
    }
  })
})
