import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import { createLog } from '../../src/commands/service/log.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { codeAt } from '../../src/domain/people/totp.ts'
import { type App, buildApp } from '../../src/http/app.ts'
import { aPerson, CabinetBrowser, ofCompany, PASSWORD } from '../../src/testing/cabinet.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aKey } from '../../src/testing/messaging-api.ts'
import { aVerifier, codeIn, secret, wrongCode } from '../../src/testing/verification.ts'
import { aDispatch, aWorld, start, type World } from '../../src/testing/world.ts'

/**
 * Runs everything that handles secrets, texts and numbers, also with failures, at the most detailed log level. No line may
 * contain one of them.
 */

const db = useDatabase()
const { anEngine } = useEngines(db)
const lines: string[] = []
const log = createLog({ level: 'trace', role: 'test' }, line => void lines.push(line))
const ends: (() => unknown)[] = []
let app: App
let world: World

/** Values that no line may contain, by their names. */
const hidden = new Map<string, string>()
const hide = <T extends string>(name: string, value: T): T => {
  hidden.set(name, value)
  return value
}

beforeAll(async () => {
  const numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log,
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: true,
    secret,
  })
  world = await aWorld(db.sql)
})

afterAll(async () => {
  for (const end of ends.reverse()) await end()
  await app?.close()
})

async function ask(method: 'GET' | 'POST' | 'PUT', url: string, bearer?: string, payload?: object) {
  const headers = bearer ? { authorization: `Bearer ${bearer}` } : {}
  const answer = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  // biome-ignore lint/suspicious/noExplicitAny: the steps below use parts of it
  return { status: answer.statusCode, body: (answer.body ? answer.json() : undefined) as any }
}

/** Answers the first request with 500, so that the callback is tried again. */
async function aReceiver() {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    received.push(Buffer.concat(await request.toArray()).toString())
    response.writeHead(received.length === 1 ? 500 : 200).end('{"error": "never"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  return { received, port: (server.address() as AddressInfo).port }
}

const numbers = ['79161234501', '79161234502', '79161234503', '79161234504', '79161234505', '79161234506'] as const

test('no line of the log contains a secret, a text or a whole number, after a flow with failures', async () => {
  for (const number of numbers) hide(`the number ${number}`, number)
  const texts: string[] = []
  const smsc = await startSmsc({
    accounts: { tidings: hide('the SMPP password', 'smpppass') },
    onMessage: ({ text }) => void texts.push(text),
  })
  ends.push(() => smsc.stop())
  const receiver = await aReceiver()
  const callbackUrl = `http://client:${hide('the password of a receiver', 'receiverpass')}@127.0.0.1:${receiver.port}/hook?key=${hide('the key of a receiver', 'receiverkey')}`
  await anEngine({ log, secret, callbacks: { allow: ['127.0.0.0/8'] } })
  await aGateway(db.sql, {
    name: 'smpp',
    connector: 'smpp',
    settings: { host: '127.0.0.1', port: smsc.port, systemId: 'tidings', password: 'smpppass', firstBackoffMs: 20 },
  })
  await aGateway(db.sql, {
    name: 'wrong',
    connector: 'smpp',
    settings: {
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'tidings',
      password: hide('a wrong SMPP password', 'wrongpas'),
    },
  })

  await signIns()
  const key = hide('an API key', (await aKey(db.sql, world.companyId)).key)
  await sendMessages(key, callbackUrl)
  await verify(texts)
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(1))
  smsc.deliver({ systemId: 'tidings', from: numbers[4], to: '1234', text: hide('an inbound text', 'inbound words') })
  await eventually(() => expect(lines.join('')).toContain('inbound.taken'))
  smsc.disconnect()
  await failures(key)

  expect(lines.length).toBeGreaterThan(25)
  for (const name of ['request.answered', 'request.failed', 'bind.bound', 'bind.closed', 'callback.attempted'])
    expect(lines.join('')).toContain(`"msg":"${name}"`)
  const found = [...hidden].flatMap(([name, value]) =>
    lines.filter(line => contains(line, value)).map(line => `${name}: ${line.slice(0, 2000)}`),
  )
  expect(found).toEqual([])
})

/** A short code can also be a part of a longer number, of a fraction or of an id. */
const contains = (line: string, value: string) =>
  /^\d{1,8}$/.test(value) ? new RegExp(`(?<![\\w.])${value}(?!\\w)`).test(line) : line.includes(value)

async function signIns() {
  const { login, password, token } = world.partner
  hide('the password of a partner', password)
  hide('a token', token)
  const again = await ask('POST', '/partner/v1/auth/token', undefined, { login, password })
  hide('a new token', again.body.token)
  await ask('POST', '/partner/v1/auth/token', undefined, {
    login,
    password: hide('a wrong password', 'mistyped words'),
  })
  await ask('GET', `/partner/v1/company?token=${token}`, token)
  await ask('GET', '/partner/v1/company', hide('an unknown token', 'unknown-token-of-a-stranger'))
  const form = new FormData()
  form.set('file', new Blob(['%PDF-1.7 '], { type: 'application/pdf' }), 'a.pdf')
  const { headers, body } = new Response(form)
  const payload = Buffer.from(await new Response(body).arrayBuffer())
  const type = headers.get('content-type')!
  const uploaded = { authorization: `Bearer ${token}`, 'content-type': type }
  const url = `/partner/v1/company/${world.companyId}/documents`
  await app.inject({ method: 'POST', url, headers: uploaded, payload })

  const browser = new CabinetBrowser(() => app)
  hide('the password of a person', PASSWORD)
  const person = await aPerson(db.sql, ofCompany(world.companyId), 'owner')
  await browser.signIn(person.login, 'mistyped words')
  await browser.signIn(person.login)
  hide('a session', browser.cookie!.split('=')[1]!)
  const { body: proposal } = await browser.ask('POST', '/account/second-factor/proposal')
  hide('the secret of a second factor', proposal.secret)
  const code = hide('a code of a second factor', codeAt(proposal.secret, new Date()))
  const on = await browser.ask('POST', '/account/second-factor', { secret: proposal.secret, code, password: PASSWORD })
  for (const recovery of on.body.recoveryCodes) hide(`a recovery code ${recovery.slice(0, 1)}`, recovery)
  const invited = await browser.ask('POST', '/people', { login: 'new@example.com', role: 'viewer' })
  hide('the token of an invitation', invited.body.link.split('#')[1])
  await ask('POST', '/cabinet/api/invitation', undefined, { token: invited.body.link.split('#')[1] })
}

async function sendMessages(key: string, callbackUrl: string) {
  const numbering = await loadNumbering(db.sql)
  const text = hide('the text of a dispatch', 'Your order is ready')
  const recipients = [{ destination: numbers[0] }, { destination: numbers[1] }, { destination: `${numbers[5]}x` }]
  const given = { text, callbackUrl, callbackEvents: ['delivered', 'sent'] as never }
  const dispatchId = await aDispatch(db.sql, numbering, world, recipients, given)
  await start(db.sql, world, dispatchId)
  await completed(db.sql, world, dispatchId)
  const single = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numbers[2], callbackUrl }
  const content = hide('the text of a message', 'A single line of prose')
  const sent = await ask('POST', '/api/v1/message', key, { ...single, content })
  expect(sent.status).toBe(200)
  await ask('GET', `/api/v1/message?destination=${numbers[2]}&content=${encodeURIComponent(content)}`, key)
  await ask('POST', '/api/v1/message', key, { ...single, content, senderName: 'UNKNOWN' })
  await ask('POST', '/api/v1/message', key, { ...single, content: { text: [content] } })
  await ask('PUT', '/partner/v1/recipients', world.partner.token, {
    companyId: world.companyId,
    msisdn: numbers[2],
    blacklist: true,
  })
}

async function verify(texts: string[]) {
  const gatewayId = await aVerifier(db.sql, world.companyId, { codeLength: 8 })
  const key = hide('a key for codes', (await aKey(db.sql, world.companyId, 'VERIFIER')).key)
  const send = { channelType: 'SMS', gatewayId, destination: numbers[3] }
  const { body } = await ask('POST', '/api/v1/verifier/send', key, send)
  const code = hide('a code', await eventually(() => codeIn(texts.find(text => /\d{8}/.test(text))!)))
  await ask('POST', '/api/v1/verifier/send', key, send) // too early
  await ask('POST', '/api/v1/verifier/check', key, { uuid: body.uuid, code: hide('a wrong code', wrongCode(code)) })
  expect((await ask('POST', '/api/v1/verifier/check', key, { uuid: body.uuid, code })).body.status).toBe('CONFIRMED')
}

/** PostgreSQL refuses rows, and its errors contain them. */
async function failures(key: string) {
  await db.sql`alter table messages add constraint never check (destination <> '79161234506') not valid`
  const content = hide('the text of a refused row', 'A row that is refused')
  const body = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numbers[5], content }
  expect((await ask('POST', '/api/v1/message', key, body)).status).toBe(500)
}
