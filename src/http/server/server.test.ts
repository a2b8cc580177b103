import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { networkOf } from '../../base/network/networks.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { formOf } from '../../testing/api.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { aKey } from '../../testing/messaging-api.ts'
import { aDispatch, aWorld, someRecipients } from '../../testing/world.ts'
import { type App, buildApp } from '../app.ts'
import type { Context } from '../context.ts'

/** What clients without a key can occupy, and what only the log shows. */

const db = useDatabase()
const MIB = 1024 * 1024
const lines: string[] = []
const sockets: Socket[] = []
const apps: App[] = []
let app: App
let port: number
let numbering: Numbering

async function anApp(given: Partial<Context> = {}): Promise<{ app: App; port: number }> {
  const app = await buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => undefined as never,
    log: pino({ level: 'debug' }, { write: line => void lines.push(line) }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: true,
    secret: 'a secret of the tests, 32 or longer',
    ...given,
  })
  apps.push(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: (app.server.address() as AddressInfo).port }
}

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  ;({ app, port } = await anApp({ limits: { strangerBytes: 4 * MIB } }))
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(() => Promise.all(apps.map(one => one.close())))

function dial(to = port): Socket & { received: string } {
  const socket = Object.assign(connect(to, '127.0.0.1'), { received: '' })
  socket.on('error', () => {})
  socket.on('data', chunk => {
    socket.received += chunk
  })
  sockets.push(socket)
  return socket
}

function head(method: string, path: string, headers: Record<string, string | number> = {}) {
  const all = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${all.join('')}\r\n`
}

const statusOf = (socket: { received: string }) => Number(/^HTTP\/1\.1 (\d+)/.exec(socket.received)?.[1])
const bodyOf = (socket: { received: string }) => JSON.parse(socket.received.split('\r\n\r\n')[1]!)
const answered = (socket: { received: string }, status: number) =>
  eventually(() => {
    expect(statusOf(socket)).toBe(status)
    bodyOf(socket)
  })
const logged = (message: string) => lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === message)

describe('a webhook', () => {
  test('of no gateway is refused before its body is sent', async () => {
    const socket = dial()
    socket.write(head('POST', '/webhooks/999999', { 'content-length': 4 * MIB, 'content-type': 'application/json' }))
    await answered(socket, 404)
  })

  test('finds no room while others fill it, and finds it again when they are gone', async () => {
    const { gatewayId } = await aGateway(db.sql, { connector: 'http', name: 'provider' })
    const begin = () => {
      const socket = dial()
      socket.write(head('POST', `/webhooks/${gatewayId}`, { 'content-length': 2 * MIB, 'content-type': 'x/y' }))
      socket.write(Buffer.alloc(700 * 1024))
      return socket
    }
    const [first, second] = [begin(), begin()] // together more than one address may have: a quarter of 4 MiB
    await eventually(() => expect([statusOf(first), statusOf(second)]).toContain(503))
    const refused = [first, second].find(socket => statusOf(socket) === 503)!
    await answered(refused, 503)
    expect(bodyOf(refused).error).toEqual({ code: 5030, msg: 'Too many bodies are arriving: try again in a moment' })
    for (const socket of [first, second]) socket.destroy()
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/webhooks/${gatewayId}`, {
        method: 'POST',
        body: Buffer.alloc(700 * 1024),
      })
      expect(answer.status).toBe(401)
    })
  })
})

test('widget/send with a valid API key has room while strangers fill it, and with a wrong one it has not', async () => {
  const { gatewayId } = await aGateway(db.sql, { connector: 'http', name: 'another provider' })
  const stranger = dial()
  stranger.write(head('POST', `/webhooks/${gatewayId}`, { 'content-length': 2 * MIB, 'content-type': 'x/y' }))
  stranger.write(Buffer.alloc(MIB - 1024)) // all but one KiB of the room of one address
  const { key } = await aKey(db.sql, await aCompany(db.sql, await aPartner(db.sql)), 'VERIFIER')
  const statusFor = async (apiKey: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/verifier/widget/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ key: 'unknown', more: 'x'.repeat(2048) }),
    })
    return answer.status
  }
  await eventually(async () => expect(await statusFor('wrong')).toBe(503))
  expect(await statusFor(key)).toBe(404)
  stranger.destroy()
  await eventually(async () => expect(await statusFor('wrong')).toBe(401))
})

describe('connections', () => {
  test('of one address are bounded, and refused ones are told so', async () => {
    const { port } = await anApp({ limits: { connectionsPerAddress: 2 } })
    const [first, second] = [dial(port), dial(port)]
    await Promise.all([once(first, 'connect'), once(second, 'connect')])
    second.write(head('GET', '/healthz'))
    await answered(second, 200)
    const third = dial(port)
    await answered(third, 503)
    expect(bodyOf(third).error.code).toBe(5030)
    expect(third.received).toMatch(/retry-after: 1\r\n/i)
    first.destroy()
    await eventually(async () => {
      const again = dial(port)
      again.write(head('GET', '/healthz'))
      await eventually(() => expect(statusOf(again)).toBeGreaterThan(0))
      expect(statusOf(again)).toBe(200)
    })
    expect(logged('connections.refused').length).toBeGreaterThan(0)
  })

  test('that are refused have no effect, with any request', async () => {
    const { port } = await anApp({ limits: { connectionsPerAddress: 1 } })
    const first = dial(port)
    first.write(head('GET', '/healthz'))
    await answered(first, 200)
    const second = dial(port)
    second.write(head('GET', '/healthz', { 'x-request-id': 'refused' }))
    await answered(second, 503)
    expect(bodyOf(second).error.msg).toMatch(/^Too many connections/)
    await eventually(() => expect(second.readableEnded).toBe(true))
    expect(logged('request.answered').filter(line => line.requestId === 'refused' && line.status === 200)).toEqual([])
  })

  test('of a trusted proxy are bounded by the number for all alone', async () => {
    const { port } = await anApp({ trustedProxies: ['loopback'], limits: { connectionsPerAddress: 1, connections: 2 } })
    const both = [dial(port), dial(port)]
    for (const socket of both) {
      socket.write(head('GET', '/healthz'))
      await answered(socket, 200)
    }
    await answered(dial(port), 503)
  })

  test.each([
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('from %s count for the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('what Node would answer by itself', () => {
  test.each([
    ['a request without Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 4000],
    ['an unknown method', 'FETCH /healthz HTTP/1.1\r\nhost: x\r\n\r\n', 400, 4000],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', 405, 4050],
    ['bytes that are no HTTP', '\u0016\u0003\u0001\u0002\r\n\r\n', 400, 4000],
    ['two lengths', 'POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400, 4000],
  ])('%s gets the error object', async (_, bytes, status, code) => {
    const socket = dial()
    socket.write(bytes)
    await answered(socket, status)
    expect(bodyOf(socket).error.code).toBe(code)
    expect(socket.received).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/i)
    expect(socket.received).toContain(`</docs/errors#${code}>; rel="help"`)
  })

  test('an unknown Expect is ignored', async () => {
    const socket = dial()
    socket.write(head('GET', '/healthz', { expect: 'tea' }))
    await answered(socket, 200)
  })
})

describe('the log', () => {
  const ask = (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { 'x-request-id': `for ${url}`.replaceAll(/[^\w]/g, '-'), ...headers } })

  test('has one line of a request: at info of an error, at debug of any other', async () => {
    lines.splice(0)
    const partner = await aPartner(db.sql)
    const companyId = await aCompany(db.sql, partner)
    const { key } = await aKey(db.sql, companyId)
    await ask('/api/v1/balance?secret=1', { authorization: `Bearer ${key}` })
    await ask('/partner/v1/company/abc', { authorization: `Bearer ${partner.token}` })
    await ask('/no\u001b[31m/where?secret=1')
    const common = { ms: expect.any(Number), msg: 'request.answered', time: expect.any(Number) }
    const { pid, hostname } = JSON.parse(lines[0]!)
    expect(lines.map(line => JSON.parse(line))).toEqual([
      {
        ...common,
        pid,
        hostname,
        level: 20,
        method: 'GET',
        route: '/api/v1/balance',
        status: 200,
        companyId,
        requestId: 'for--api-v1-balance-secret-1',
      },
      {
        ...common,
        pid,
        hostname,
        level: 30,
        method: 'GET',
        route: '/partner/v1/company/:id',
        status: 404,
        partnerId: partner.partnerId,
        requestId: 'for--partner-v1-company-abc',
      },
      {
        ...common,
        pid,
        hostname,
        level: 30,
        method: 'GET',
        path: expect.stringMatching(/^\/no.*where$/),
        status: 404,
        requestId: expect.any(String),
      },
    ])
  })

  test.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n', 400],
    ['a method that HTTP does not have', 'FOO / HTTP/1.1\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    ['a path that cannot be decoded', 'GET /api/v1/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ])('finds the request id of %s', async (_, bytes, status) => {
    lines.splice(0)
    const socket = dial()
    socket.write(bytes)
    await answered(socket, status)
    const [, requestId] = /^x-request-id: (\S+)/im.exec(socket.received)!
    await eventually(() =>
      expect(lines.map(line => JSON.parse(line))).toEqual([expect.objectContaining({ level: 30, requestId, status })]),
    )
  })

  test('says in one line without a stack that a client hung up', async () => {
    lines.splice(0)
    const partner = await aPartner(db.sql)
    const socket = dial()
    const authorization = `Bearer ${partner.token}`
    const more = { authorization, 'content-type': 'application/json', 'content-length': 5000 }
    const arrival = once(app.server, 'request')
    socket.write(`${head('POST', '/partner/v1/company', more)}{"company":`)
    await arrival
    socket.destroy()
    await eventually(() => expect(logged('request.aborted')).toHaveLength(1))
    expect(logged('request.aborted')[0]).toMatchObject({ level: 30, method: 'POST', route: '/partner/v1/company' })
    expect(lines.join('')).not.toMatch(/"stack"|"level":50/)
  })
})

describe('limits of the partner API', () => {
  test('hold for reports and documents', async () => {
    const { app } = await anApp({
      limits: { reportsPerPartner: 0, documents: { companyMib: 0, partnerMib: 0 } },
      numbering: () => numbering,
    })
    const world = await aWorld(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(1))
    const headers = { authorization: `Bearer ${world.partner.token}` }
    const report = await app.inject({ url: `/partner/v1/dispatches/${dispatchId}/report`, headers })
    expect([report.statusCode, report.json().error.code, report.headers['retry-after']]).toEqual([429, 4290, '5'])
    const form = formOf({ name: 'file', filename: 'charter.pdf', content: '%PDF-1.7' })
    const url = `/partner/v1/company/${world.companyId}/documents`
    const upload = await app.inject({
      method: 'POST',
      url,
      payload: form.body,
      headers: { ...headers, ...form.headers },
    })
    expect([upload.statusCode, upload.json().error.msg]).toEqual([
      400,
      "file: the company's documents have 0 MB, with this one more than 0 MB",
    ])
  })
})

describe('/metrics', () => {
  test.each([
    ['this machine', '127.0.0.1', {}, [], 200],
    ['this machine, by IPv6', '::1', {}, [], 200],
    ['another machine', '192.0.2.7', {}, [], 403],
    ['another machine through a proxy on this one', '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, [], 403],
    ['another machine through a trusted proxy', '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, ['loopback'], 403],
  ])('for %s', async (_, remoteAddress, headers, trustedProxies, status) => {
    const { app } = await anApp({ trustedProxies })
    const answer = await app.inject({ url: '/metrics', remoteAddress, headers })
    expect(answer.statusCode).toBe(status)
  })

  test('for a network that may read them', async () => {
    const { app } = await anApp({ metricsAllow: ['192.0.2.0/24'] })
    expect((await app.inject({ url: '/metrics', remoteAddress: '192.0.2.7' })).statusCode).toBe(200)
    expect((await app.inject({ url: '/metrics', remoteAddress: '127.0.0.1' })).statusCode).toBe(403)
  })
})
