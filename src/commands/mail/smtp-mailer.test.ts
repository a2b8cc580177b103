import { afterEach, describe, expect, test } from 'vitest'
import type { Mail } from '../../base/mail/mail.ts'
import { eventually } from '../../testing/eventually.ts'
import { freePort } from '../../testing/free-port.ts'
import { readMail, TestSmtpServer } from '../../testing/smtp-server.ts'
import { type MailerSettings, SmtpMailer } from './smtp-mailer.ts'

const LOGIN = { user: 'tidings', password: 'p@ss #1' }
const TOKEN = '0123456789abcdef_-ij'
const LINK = `https://sms.example/cabinet/accept-invitation#${TOKEN}`
const mail: Mail = {
  to: 'anna@shop.example',
  subject: 'Приглашение',
  text: `Ссылка:\n\n.${LINK}\n.\nконец`,
  html: `<p><a href="${LINK}">Задать пароль</a></p>`,
}

let server: TestSmtpServer
afterEach(() => server?.close())

type Serving = Parameters<typeof TestSmtpServer.start>[0]
type More = Partial<MailerSettings> & { isSigned?: boolean; isUntrusting?: boolean }

async function mailerOf(options: Serving = {}, { isSigned = true, isUntrusting = false, ...more }: More = {}) {
  server = await TestSmtpServer.start({ login: LOGIN, ...options })
  const { tls = 'starttls' } = options
  const signIn = isSigned ? LOGIN : { user: undefined, password: undefined }
  return new SmtpMailer({
    server: { host: 'localhost', port: server.port, tls, ...signIn },
    from: 'Tidings <no-reply@sms.example>',
    ...(isUntrusting ? {} : { ca: server.certificate.cert }),
    ...more,
  })
}

describe('a mail', () => {
  test.each(['starttls', 'direct'] as const)('arrives once and encrypted (%s), after the sign-in', async tls => {
    const mailer = await mailerOf({ tls })
    expect(await mailer.send(mail)).toEqual({ failure: null })
    const envelope = { from: 'no-reply@sms.example', to: 'anna@shop.example', isEncrypted: true, user: 'tidings' }
    expect(server.mails).toMatchObject([envelope])
    const { fields, text, html } = readMail(server.mails[0]!)
    expect(fields.get('from')).toBe('Tidings <no-reply@sms.example>')
    expect(fields.get('to')).toBe('anna@shop.example')
    expect(fields.get('subject')).toBe('Приглашение')
    expect(fields.get('auto-submitted')).toBe('auto-generated')
    expect(text.trimEnd()).toBe(mail.text)
    expect(html.trimEnd()).toBe(mail.html)
    await eventually(() => expect(server.openConnections).toBe(0))
  })

  test('goes without encryption and password only where the setting says so', async () => {
    const mailer = await mailerOf({ tls: 'none', login: undefined as never }, { isSigned: false })
    expect(await mailer.send(mail)).toEqual({ failure: null })
    expect(server.mails).toMatchObject([{ isEncrypted: false, user: undefined }])
  })

  test('gets no header from its subject or address', async () => {
    const mailer = await mailerOf()
    await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@evil.example\r\n\r\nbody' })
    await mailer.send({ ...mail, to: 'anna@shop.example\r\nBcc: eve@evil.example' })
    await mailer.send({ ...mail, to: 'anna@shop.example, eve@evil.example' })
    for (const received of server.mails) {
      expect(readMail(received).fields.has('bcc')).toBe(false)
      expect(received.to).not.toContain('\n')
    }
    expect(readMail(server.mails[0]!).text).toContain(LINK)
  })
})

describe('a failure is a result with its reason, and the mail is not tried again', () => {
  test.each<[string, string, Serving, More?]>([
    ['a wrong password', 'sign_in', { login: { user: 'tidings', password: 'another' } }],
    ['a server that wants a password', 'sign_in', {}, { isSigned: false }],
    ['an unknown recipient', 'address_refused', { instead: { RCPT: '550 5.1.1 <anna@shop.example> unknown' } }],
    ['an unknown recipient, without a longer code', 'address_refused', { instead: { RCPT: '550 no such user' } }],
    ['a server that asks for a later try', 'refused', { instead: { RCPT: '450 4.2.0 greylisted' } }],
    ['a server with an error of its own', 'refused', { instead: { RCPT: '451 4.3.0 try later' } }],
    ['a server that passes on no mails', 'refused', { instead: { RCPT: '554 5.7.1 relay access denied' } }],
    ['a sender that may not send', 'refused', { instead: { MAIL: '550 5.7.1 not you' } }],
    ['a mail that looks like spam', 'refused', { instead: { body: `554 5.7.1 spam: ${LINK} or (${TOKEN}).` } }],
    ['a full server', 'refused', { instead: { DATA: '452 4.3.1 no room' } }],
    ['a server that greets with a refusal', 'refused', { instead: { connect: '554 5.7.1 go away' } }],
    ['a server that speaks another protocol', 'refused', { instead: { connect: 'HTTP/1.1 400 Bad Request' } }],
    ['a certificate of an unknown authority', 'not_secure', {}, { isUntrusting: true }],
    ['such a certificate from the start', 'not_secure', { tls: 'direct' }, { isUntrusting: true }],
    ['a certificate of another name', 'not_secure', { name: 'mail.evil.example' }],
    ['such a certificate from the start, too', 'not_secure', { tls: 'direct', name: 'mail.evil.example' }],
    [
      'a server without STARTTLS',
      'not_secure',
      { instead: { EHLO: '250-localhost\r\n250 AUTH PLAIN', STARTTLS: '502 no' } },
    ],
    ['a server that refuses STARTTLS', 'not_secure', { instead: { STARTTLS: '454 not now' } }],
    ...(['connect', 'EHLO', 'STARTTLS', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'body'] as const).flatMap(
      (step): [string, string, Serving][] => [
        [
          `a server that is silent at ${step}`,
          step === 'body' ? 'unknown' : 'timeout',
          { instead: { [step]: 'hang' } },
        ],
        [
          `a server that closes the connection at ${step}`,
          step === 'body' ? 'unknown' : 'unreachable',
          { instead: { [step]: 'close' } },
        ],
      ],
    ),
  ])('%s: %s', async (_, failure, options, more) => {
    const mailer = await mailerOf(options, { mailMs: 1500, ...more })
    const result = await mailer.send(mail)
    expect(result).toMatchObject({ failure })
    expect(server.mails).toEqual([])
    expect(server.commands.filter(command => command === 'MAIL').length).toBeLessThanOrEqual(1)
    const told = JSON.stringify(result)
    for (const secret of [LOGIN.password, Buffer.from(`\0tidings\0${LOGIN.password}`).toString('base64'), 'another'])
      expect(told).not.toContain(secret)
    expect(told).not.toContain(TOKEN.slice(0, 16))
    expect(told).not.toContain('anna@')
    await eventually(() => expect(server.openConnections).toBe(0))
  })

  test('no server at all', async () => {
    const mailer = await mailerOf()
    await server.close()
    expect(await mailer.send(mail)).toMatchObject({ failure: 'unreachable' })
  })

  test('an unknown name of the server', async () => {
    const unknown = { host: 'mail.invalid', port: await freePort(), tls: 'starttls' as const, ...LOGIN }
    const mailer = await mailerOf({}, { server: unknown, mailMs: 1500 })
    expect((await mailer.send(mail)).failure).toMatch(/^(?:unreachable|timeout)$/)
  })

  test('a server that sends a little now and then does not keep a request waiting', async () => {
    const mailer = await mailerOf({ instead: { MAIL: 'drip' } }, { mailMs: 600 })
    const startedAt = performance.now()
    expect(await mailer.send(mail)).toMatchObject({ failure: 'timeout' })
    expect(performance.now() - startedAt).toBeLessThan(3000)
    await eventually(() => expect(server.openConnections).toBe(0))
  })

  test('more mails at once than allowed', async () => {
    const mailer = await mailerOf({ instead: { EHLO: 'hang' } }, { most: 2, mailMs: 500 })
    const results = await Promise.all([mailer.send(mail), mailer.send(mail), mailer.send(mail)])
    expect(results.map(({ failure }) => failure)).toEqual(['timeout', 'timeout', 'busy'])
    expect(await mailer.send(mail)).toMatchObject({ failure: 'timeout' }) // there is room again
  })
})
