import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { formOf, usePartnerApi } from '../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany } from '../testing/cabinet.ts'
import { PDF, printOfTables } from '../testing/conformance/world.ts'
import { aCompany, aPartner, type TestPartner } from '../testing/factories.ts'
import { answerError } from './error-handler.ts'
import { StrangerBytes } from './server/stranger-bytes.ts'

/** Attacks by paths, headers, forms and slow clients. SECURITY.md lists the tests of all other attacks. */

const api = usePartnerApi()
let port: number
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  port = (api.app.server.address() as AddressInfo).port
})

/** Sends the bytes as they are, because clients of HTTP correct paths. */
function say(text: string): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', chunk => (received += chunk))
    socket.once('error', reject)
    socket.once('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1])
      resolve({ status, type: /^content-type: (\S+)/im.exec(received)?.[1] ?? '', text: received })
    })
  })
}

const get = (path: string, headers = '') =>
  say(`GET ${path} HTTP/1.1\r\nhost: localhost:8080\r\nconnection: close\r\n${headers}\r\n`)

describe('a path', () => {
  test.each([
    '/partner/v1//company',
    '//partner/v1/company',
    '/./partner/v1/company',
    '/docs/../partner/v1/company',
    '/docs/%2e%2e/partner/v1/company',
    '/partner/v1/%63ompany',
    '/partner/v1/%2563ompany',
    '/partner%2fv1%2fcompany',
    '/PARTNER/v1/company',
    '/partner/v1/company;admin=1',
    '/partner/v1/company%00',
    '/partner/v1/company%3fpage=1',
    '/partner/v1/company#/../../healthz',
    'http://localhost:8080/partner/v1/company',
    'http://evil.example/partner/v1/company',
    '/healthz/../partner/v1/company',
    '/cabinet/api/%70eople',
    '/cabinet/api//people',
    '/cabinet/api/service/../people',
    '/cabinet/api/people;.js',
    '/cabinet/..%2fcabinet%2fapi%2fpeople',
    '/cabinet/assets/..%2f..%2f..%2fpackage.json',
    '/cabinet/assets/..%5c..%5cpackage.json',
    '/widget/..%2f..%2fpackage.json',
    '/docs/..%2fpackage.json',
    '/cabinet/%c0%ae%c0%ae/package.json',
  ])('%s leads around no guard and to no file outside', async path => {
    const { status, type, text } = await get(path)
    // Unknown pages of the cabinet are its index, which the browser shows as "not found".
    expect([path, status, type.startsWith('text/html') || status >= 400]).toEqual([path, status, true])
    expect(text).not.toMatch(/"items"|"login"|"dependencies"/)
  })
})

describe('a header', () => {
  test.each([
    'x-original-url: /partner/v1/company\r\n',
    'x-rewrite-url: /partner/v1/company\r\n',
    'x-http-method-override: DELETE\r\n',
    'x-method-override: POST\r\n',
    'x-forwarded-prefix: /partner/v1\r\n',
    'x-forwarded-host: evil.example\r\nforwarded: host=evil.example\r\n',
  ])('%j changes neither the route nor the answer', async header => {
    const { status, text } = await get('/api/v1/ping', header)
    expect([status, text.endsWith('PONG')]).toEqual([200, true])
    expect(text).not.toContain('evil')
    expect((await get('/partner/v1/company', header)).status).toBe(401)
  })

  test.each(['host: evil.example\r\n', 'x-forwarded-host: evil.example\r\n', 'x-forwarded-proto: gopher\r\n'])(
    '%j appears in no redirect',
    async header => {
      const { text } = await say(
        `GET / HTTP/1.1\r\nconnection: close\r\n${header.startsWith('host') ? '' : 'host: a\r\n'}${header}\r\n`,
      )
      expect(text).toMatch(/^location: /im)
      expect(text).not.toMatch(/evil|gopher/)
    },
  )

  test('Host does not become a part of the link of an invitation', async () => {
    const browser = new CabinetBrowser(() => api.app)
    await browser.signIn((await aPerson(api.sql, ofCompany(companyId), 'owner')).login)
    const headers = { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }
    const { body } = await browser.ask('POST', '/people', { login: 'a@example.com', role: 'viewer' }, { headers })
    expect(body.link).toMatch(/^http:\/\/localhost:8080\//)
  })
})

describe('a form', () => {
  const BOUNDARY = '----tidings-test-form'
  const upload = (body: Buffer | string, type = `multipart/form-data; boundary=${BOUNDARY}`) =>
    api.app.inject({
      method: 'POST',
      url: `/partner/v1/company/${companyId}/documents`,
      payload: Buffer.from(body),
      headers: { authorization: `Bearer ${partner.token}`, 'content-type': type },
    })
  const part = (headers: string, content = '%PDF-1.7') => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`
  const file = 'Content-Disposition: form-data; name="file"; filename="a.pdf"'
  const END = `--${BOUNDARY}--\r\n`

  test.each([
    ['ten thousand parts', `${part(file).repeat(10_000)}${END}`],
    ['ten thousand fields', `${part('Content-Disposition: form-data; name="x"', 'x').repeat(10_000)}${END}`],
    ['ten thousand parts and no end', part(file).repeat(10_000)],
    [
      'ten thousand parts and no end of the last head',
      `${part(file).repeat(10_000)}--${BOUNDARY}
${file}`,
    ],
    ['ten thousand parts without a name', `${part('X-A: b').repeat(10_000)}${END}`],
    ['no end', part(file)],
    ['no end of its head', `--${BOUNDARY}\r\n${file}`],
    ['boundaries alone', `--${BOUNDARY}\r\n`.repeat(10_000)],
    ['the name __proto__', `${part(file.replace('"file"', '"__proto__"'))}${END}`],
    ['a form within it', `${part(`${file}\r\nContent-Type: multipart/mixed; boundary=x`, '--x--')}${END}`],
  ])('with %s is refused quickly, and nothing is stored', async (_, body) => {
    const before = await printOfTables(api.sql)
    const { user } = process.cpuUsage()
    const uncaught: Error[] = []
    const note = (error: Error) => void uncaught.push(error)
    process.on('uncaughtException', note)
    const answer = await upload(body)
    await new Promise(setImmediate)
    process.off('uncaughtException', note)
    expect(uncaught).toEqual([])
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: { code: 4000, msg: expect.any(String) } }])
    expect(process.cpuUsage().user - user).toBeLessThan(2_000_000)
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test.each([
    ['parts without a name', part('X-A: b', 'x'.repeat(60_000))],
    ['text before its first boundary', 'x'.repeat(60_000)],
    ['one file', `${part(file).slice(0, -2)}${'x'.repeat(60_000)}`, 'x'.repeat(60_000)],
  ])(
    'of %s without end is refused at the limit of bytes, long before the time limit',
    async (_, first, next = first) => {
      const path = `/partner/v1/company/${companyId}/documents`
      const type = `content-type: multipart/form-data; boundary=${BOUNDARY}\r\ntransfer-encoding: chunked\r\n`
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      const answered = once(socket, 'data').then(([data]) => {
        answer = String(data)
      })
      const send = (text: string) => socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
      socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${partner.token}\r\n${type}\r\n`)
      send(first)
      for (let sentBytes = 0; sentBytes < 30_000_000 && !answer; sentBytes += next.length) {
        if (!send(next)) await once(socket, 'drain')
      }
      if (!answer) socket.write('0\r\n\r\n') // a form without a limit would be answered only now
      await answered
      socket.destroy()
      expect(answer).toMatch(/^HTTP\/1\.1 4(13.*The form is larger than 11 MiB|00.*must be at most 10 MB)/s)
    },
  )

  test.each([
    ['HTML', '<html><script>alert(1)</script>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['HTML before a PDF', `<script>alert(1)</script>${PDF}`],
    ['a program', '\x7fELF\x02\x01\x01'],
    ['GIF', 'GIF89a'],
    ['an empty file', ''],
  ])('with %s that claims to be a PDF is refused', async (_, content) => {
    const form = formOf({ name: 'file', filename: 'charter.pdf', type: 'application/pdf', content })
    expect((await upload(form.body)).statusCode).toBe(400)
  })

  test('with a path in the name of its file keeps the name alone', async () => {
    const form = formOf({ name: 'file', filename: '../../etc/passwd\\..\\x.pdf', content: PDF })
    expect((await upload(form.body)).statusCode).toBe(201)
    const rows = await api.sql`select filename from company_documents where company_id = ${companyId}`
    expect(rows.map(({ filename }) => filename)).toEqual(['x.pdf'])
  })
})

describe('a slow client', () => {
  test('has a minute for its headers, and two for the whole request', () => {
    expect(api.app.server.headersTimeout).toBeLessThanOrEqual(60_000)
    expect(api.app.server.headersTimeout).toBeGreaterThan(0)
    expect(api.app.server.requestTimeout).toBe(120_000)
  })

  test('without credentials is refused when its body takes too long', async () => {
    const app = fastify()
    app.setErrorHandler(answerError as never)
    const bytes = new StrangerBytes(1000, 100)
    bytes.guard(app)
    app.post('/', async () => ({}))
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    const type = 'content-type: application/json\r\n'
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\n${type}content-length: 100\r\n\r\n{"a": `)
    const [answer] = await new Promise<Buffer[]>(resolve => socket.once('data', data => resolve([data])))
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400.*The body took too long to arrive/s)
    socket.destroy()
    await app.close()
    expect(bytes.inFlight).toBe(0)
  })
})
