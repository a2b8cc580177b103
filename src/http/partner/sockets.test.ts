import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { formOf, usePartnerApi } from '../../testing/api.ts'
import { endpoints } from '../../testing/conformance/endpoints.ts'
import { aDispatch, aWorld, PDF, printOfTables, type World } from '../../testing/conformance/world.ts'
import { eventually } from '../../testing/eventually.ts'
import { numberOf } from '../../testing/factories.ts'

type Operation = {
  security?: object[]
  responses: Record<string, { content: object }>
  parameters?: { in: string; name: string; required?: boolean }[]
}

/** What only a real socket shows: bodies too large, bytes that are no HTTP, clients that go away, kept connections. */

const MIB = 1024 * 1024

const api = usePartnerApi()
let port: number
let world: World

beforeAll(async () => {
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  port = (api.app.server.address() as AddressInfo).port
  world = await aWorld(api)
})

type Answer = { status: number; headers: Record<string, string>; text: string }

const open: Socket[] = []

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

function dial(): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {}) // a server may close while we are still writing; what it said before counts
  open.push(socket)
  return socket
}

/** Sends bytes as they are and reads one answer. */
async function say(...pieces: (string | Buffer)[]): Promise<Answer> {
  const socket = dial()
  const answer = readAnswer(socket)
  for (const piece of pieces) {
    if (socket.destroyed || socket.readableEnded) break
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), answer, once(socket, 'close')])
  }
  return answer
}

/** One answer: its head, and as much body as the head promises. */
function readAnswer(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const listen = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const answer = answerIn(received)
      if (!answer) return
      socket.off('data', listen)
      resolve(answer)
    }
    socket.on('data', listen)
    socket.once('close', () => reject(new Error(`the connection was closed after: ${received}`)))
  })
}

function answerIn(received: Buffer): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [start, ...lines] = received.subarray(0, end).toString().split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const text = received.subarray(end + 4)
  if (text.length < Number(headers['content-length'] ?? 0)) return undefined
  return { status: Number(start!.split(' ')[1]), headers, text: text.toString() }
}

function head(method: string, path: string, headers: Record<string, string | number> = {}) {
  const all = { host: 'localhost', authorization: `Bearer ${world.mine.partner.token}`, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

const json = (text: string | Buffer) => ({
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(text),
})

function expectError(answer: Answer, status: number, code: number) {
  expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error: { code, msg: expect.any(String) } }])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
}

const fetchText = async (path: string, init?: RequestInit) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('bodies', () => {
  const chunkOfSpaces = Buffer.alloc(MIB, ' ')

  test('of 33 MiB are 413, told by their length before they are read', async () => {
    const before = await printOfTables(api.sql)
    const headers = { 'content-type': 'application/json', 'content-length': 33 * MIB }
    expectError(await say(head('POST', '/partner/v1/dispatches', headers)), 413, 4130)
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  const withBodies = endpoints.filter(({ method }) => method !== 'GET')

  test.each(withBodies.map(endpoint => [endpoint.method, endpoint.path, endpoint] as const))(
    'of 33 MiB are 413 at %s %s too',
    async (method, path, { id }) => {
      const headers = { 'content-type': 'application/json', 'content-length': 33 * MIB }
      const address = `/partner/v1${path.replace('{id}', String(id?.(world.mine)))}`
      expectError(await say(head(method, address, headers)), 413, 4130)
    },
  )

  test.each([
    ['16 KiB', 'POST', '/auth/token', 16 * 1024],
    ['1 MiB', 'POST', '/company', MIB],
    ['1 MiB', 'PUT', '/recipients', MIB],
    ['1 MiB', 'POST', '/dispatches/1/start', MIB],
    ['32 MiB', 'POST', '/dispatches', 32 * MIB],
    ['32 MiB', 'POST', '/dispatches/1/messages', 32 * MIB],
  ])('of more than %s are 413 at %s %s, and the answer says so', async (words, method, path, limit) => {
    const declare = (size: number) => ({ 'content-type': 'application/json', 'content-length': size })
    const answer = await say(head(method, `/partner/v1${path}`, declare(limit + 1)))
    expectError(answer, 413, 4130)
    expect(JSON.parse(answer.text).error.msg).toBe(`The request body is larger than ${words}`)
    if (limit > MIB) return
    const whole = await say(head(method, `/partner/v1${path}`, declare(limit)), Buffer.alloc(limit, ' '))
    expectError(whole, 400, 4000) // read, and found to be no JSON
  })

  test('of 33 MiB are 413 when they are sent all the same', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': 33 * MIB }
    const pieces = Array.from({ length: 33 }, () => chunkOfSpaces)
    expectError(await say(head('POST', '/partner/v1/dispatches', headers), ...pieces), 413, 4130)
  })

  test('of 33 MiB in chunks of unknown length are 413', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const chunk = Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), chunkOfSpaces, Buffer.from('\r\n')])
    const pieces = Array.from({ length: 33 }, () => chunk)
    expectError(await say(head('POST', '/partner/v1/dispatches', headers), ...pieces, '0\r\n\r\n'), 413, 4130)
  })

  test('of 33 MiB reach an ordinary client as 413', async () => {
    const { companyId, senderIds, partner } = world.mine
    const text = `${JSON.stringify(aDispatch(companyId, [senderIds.MTS]))}${' '.repeat(33 * MIB)}`
    const headers = { authorization: `Bearer ${partner.token}`, 'content-type': 'application/json' }
    const before = await printOfTables(api.sql)
    const answer = await fetchText('/partner/v1/dispatches', { method: 'POST', headers, body: text })
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([413, 4130])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('of exactly 32 MiB are read', async () => {
    const good = JSON.stringify(aDispatch(world.mine.companyId, [world.mine.senderIds.MTS]))
    const body = Buffer.concat([Buffer.from(good), Buffer.alloc(32 * MIB - good.length, ' ')])
    const answer = await say(head('POST', '/partner/v1/dispatches?dryRun=true', json(body)), body)
    expect([answer.status, JSON.parse(answer.text).success]).toEqual([200, 1])
  })

  test('that are too large are not read for someone without a token', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': 33 * MIB, authorization: 'Bearer nobody' }
    expectError(await say(head('POST', '/partner/v1/dispatches', headers)), 401, 4010)
  })

  test('of a document that is too large reach an ordinary client as 4000', async () => {
    const form = formOf({ name: 'file', filename: 'a.pdf', content: Buffer.concat([PDF, Buffer.alloc(12 * MIB)]) })
    const headers = { authorization: `Bearer ${world.mine.partner.token}`, ...form.headers }
    const path = `/partner/v1/company/${world.mine.companyId}/documents`
    const before = await printOfTables(api.sql)
    const answer = await fetchText(path, { method: 'POST', headers, body: new Uint8Array(form.body) })
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([400, 4000])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('may come in many small pieces', async () => {
    const text = JSON.stringify({ companyId: world.mine.companyId, msisdn: numberOf.MEGAFON, blacklist: false })
    const answer = await say(head('PUT', '/partner/v1/recipients', json(text)), ...text)
    expect(answer.status).toBe(200)
  })
})

describe('a request that is no HTTP', () => {
  test.each([
    ['garbage', '\x00\x01\x02\x03garbage\r\n\r\n'],
    ['a greeting of another protocol', 'EHLO mail.example.com\r\n\r\n'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a method that does not exist', 'BREW /partner/v1/company HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['a version that does not exist', 'GET / HTTP/9.9\r\nhost: localhost\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: localhost\r\n: value\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['a length that is no number', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: many\r\n\r\n'],
  ])('%s is 400 in our form', async (_, bytes) => {
    expectError(await say(bytes), 400, 4000)
  })

  test('headers that are too large are 400 in our form', async () => {
    expectError(await say(head('GET', '/partner/v1/company', { 'x-long': 'x'.repeat(100_000) })), 400, 4000)
  })

  test('an address that is too long is refused in our form', async () => {
    const answer = await say(head('GET', `/partner/v1/company?x=${'x'.repeat(100_000)}`))
    expectError(answer, 400, 4000)
  })

  test('a bad chunk in the middle of a body leaves nothing behind', async () => {
    const before = await printOfTables(api.sql)
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const answer = await say(head('POST', '/partner/v1/company', headers), '5\r\n{"com\r\n', 'no chunk\r\n')
    expectError(answer, 400, 4000)
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('an address that cannot be decoded is 4040', async () => {
    expectError(await say(head('GET', '/partner/v1/company/%zz')), 404, 4040)
    expectError(await say(head('GET', '/%')), 404, 4040)
  })
})

describe('clients that go away', () => {
  test.each([
    [
      'a dispatch',
      () => head('POST', '/partner/v1/dispatches', { 'content-type': 'application/json', 'content-length': 5000 }),
      '{"companyId": 1,',
    ],
    [
      'a company',
      () => head('POST', '/partner/v1/company', { 'content-type': 'application/json', 'content-length': 5000 }),
      '{"company": {',
    ],
    [
      'a document',
      () =>
        head('POST', `/partner/v1/company/${world.mine.companyId}/documents`, {
          'content-type': 'multipart/form-data; boundary=x',
          'content-length': 5000,
        }),
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n${PDF}`,
    ],
  ])('in the middle of %s leave nothing behind', async (_, headOf, part) => {
    const before = await printOfTables(api.sql)
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      const arrival = once(api.app.server, 'connection')
      const socket = dial()
      socket.write(headOf())
      socket.write(part)
      const [ours] = (await arrival) as [Socket]
      await eventually(() => expect(ours.bytesRead).toBeGreaterThan(headOf().length))
      socket[leave]()
      await eventually(() => expect(ours.destroyed).toBe(true))
    }
    expect((await fetchText('/healthz')).status).toBe(200)
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('before the answer do no harm', async () => {
    const { companyId, senderIds } = world.mine
    const messages = Array.from({ length: 20_000 }, () => ({ destination: numberOf.MTS }))
    const text = JSON.stringify(aDispatch(companyId, [senderIds.MTS], { messages, name: 'left alone' }))
    const socket = dial()
    await once(socket, 'connect')
    socket.write(head('POST', '/partner/v1/dispatches', json(text)))
    await new Promise(resolve => socket.write(text, resolve))
    socket.destroy()
    // The request was whole: it is carried out entirely, or not at all.
    expect((await fetchText('/healthz')).status).toBe(200)
    await eventually(async () => {
      const busy = await api.sql`select 1 from pg_stat_activity
        where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`
      expect(busy).toHaveLength(0)
    })
    const [left] =
      await api.sql`select count(*) as messages from messages join dispatches using (company_id, dispatch_id)
      where name = 'left alone'`
    expect([0, 20_000]).toContain(left!.messages)
  })
})

describe('a kept connection', () => {
  type Reply = { status: number; connection: string | undefined; port: number }

  /** A client that keeps one connection as long as the server lets it. */
  function useAgent() {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (method: string, path: string, body = '', given: Record<string, string> = {}) =>
      new Promise<Reply>((resolve, reject) => {
        const headers = { authorization: `Bearer ${world.mine.partner.token}`, ...given }
        const request = httpRequest({ port, host: '127.0.0.1', agent, method, path, headers }, response => {
          const { statusCode, headers, socket } = response
          const reply = { status: statusCode!, connection: headers.connection, port: socket.localPort! }
          response.resume().on('end', () => resolve(reply))
        })
        request.on('error', reject)
        request.end(body)
      })
    return { ask, close: () => agent.destroy() }
  }

  const jsonType = { 'content-type': 'application/json' }

  test('serves the next request after an answer that was an error', async () => {
    const { ask, close } = useAgent()
    const answers = [
      await ask('GET', '/partner/v1/company'),
      await ask('GET', '/partner/v1/company/abc'),
      await ask('POST', '/partner/v1/company', '{}', jsonType),
      await ask('GET', '/partner/v1/company?page=0'),
      await ask('GET', '/partner/v1/company', '', { authorization: 'Bearer nobody' }),
      await ask('GET', '/nowhere'),
      await ask('GET', '/partner/v1/company'),
    ]
    close()
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 400, 401, 404, 200])
    expect(answers.map(({ port }) => port)).toEqual(answers.map(() => answers[0]!.port))
  })

  test('with a body that cannot be parsed answers an error and stays usable, or says that it closes', async () => {
    const { ask, close } = useAgent()
    const broken = await ask('POST', '/partner/v1/company', '{', jsonType)
    const next = await ask('GET', '/partner/v1/company')
    const unknown = await ask('POST', '/partner/v1/company', 'text', { 'content-type': 'text/plain' })
    const last = await ask('GET', '/partner/v1/company')
    close()
    expect([broken, next, unknown, last].map(({ status }) => status)).toEqual([400, 200, 400, 200])
    for (const [one, following] of [
      [broken, next],
      [unknown, last],
    ] as const) {
      expect(one.port === following.port || one.connection === 'close').toBe(true)
    }
  })

  test('takes requests one after the other without waiting', async () => {
    const socket = dial()
    let received = ''
    socket.on('data', chunk => (received += chunk))
    socket.write(head('GET', '/healthz') + head('GET', '/partner/v1/company/abc') + head('GET', '/healthz'))
    await eventually(() =>
      expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']),
    )
  })
})

describe('around the API', () => {
  test('/healthz says that the process lives', async () => {
    const answer = await fetchText('/healthz')
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status: 'ok' }])
  })

  test('/readyz wants an engine that was seen within ten seconds', async () => {
    const seen = (secondsAgo: number) => api.sql`
      insert into engines (worker, seen_at) values (gen_random_uuid(), now() - ${`${secondsAgo} seconds`}::interval)`
    const expectNotReady = async () => {
      const answer = await fetchText('/readyz')
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        503,
        { error: { code: 5030, msg: expect.stringMatching(/^No engine is at work/) } },
      ])
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    await expectNotReady()
    await seen(11)
    await expectNotReady()
    await seen(1)
    const answer = await fetchText('/readyz')
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status: 'ready' }])
  })

  test('/readyz says which clocks are wrong', async () => {
    await api.sql`insert into engines (worker, clock_off_ms) values (gen_random_uuid(), -93600000)`
    const answer = await fetchText('/readyz')
    const warnings = ["The clock of an engine is 93600 s behind the database's: set it right"]
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status: 'ready', warnings }])
  })

  test.each(['/api/v1/ping', '/v1/ping', '/api/v1/v1/ping', '/api/v1/ping/', '/v1/ping/'])(
    'GET %s is PONG, in plain text and for everyone',
    async path => {
      const answer = await fetchText(path)
      expect([answer.status, answer.text]).toEqual([200, 'PONG'])
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    },
  )

  test('/docs is a page that needs nothing from elsewhere', async () => {
    const page = await fetchText('/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(page.text).toContain('/docs/partner.json')
    const linked = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1]!)
    for (const link of linked.filter(link => !link.startsWith('data:'))) {
      expect(link).toMatch(/^\/docs\//)
      expect((await fetchText(link)).status).toBe(200)
    }
  })

  test('/docs/partner.json is an OpenAPI 3.1 document of every path, with a token for all but one', async () => {
    const answer = await fetchText('/docs/partner.json')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const document = JSON.parse(answer.text)
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    expect(document.servers).toMatchObject([{ url: '/partner/v1' }])

    const methods = Object.fromEntries(
      Object.entries(document.paths as Record<string, object>).map(([path, item]) => [path, Object.keys(item).sort()]),
    )
    expect(methods).toEqual({
      '/auth/token': ['post'],
      '/company': ['get', 'post'],
      '/company/{id}': ['get', 'put'],
      '/company/{id}/documents': ['get', 'post'],
      '/senders': ['get', 'post'],
      '/senders/{id}': ['get', 'put'],
      '/senders/{id}/suspend': ['post'],
      '/senders/{id}/unsuspend': ['post'],
      '/dispatches': ['get', 'post'],
      '/dispatches/{id}': ['get'],
      '/dispatches/{id}/messages': ['post'],
      '/dispatches/{id}/report': ['get'],
      '/dispatches/{id}/start': ['post'],
      '/dispatches/{id}/stop': ['post'],
      '/messages': ['get'],
      '/recipients': ['put'],
      '/price/tariffs': ['get'],
      '/price/senders': ['get'],
    })
    for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
      for (const [method, operation] of Object.entries(item)) {
        const what = `${method} ${path}`
        if (path === '/auth/token') expect(operation.security ?? [], what).toEqual([])
        else expect(operation.security, what).toEqual([{ token: [] }])
        const success = Object.keys(operation.responses).filter(status => status.startsWith('2'))
        expect(success, what).toHaveLength(1)
        const type = path.endsWith('/report') ? 'text/csv' : 'application/json'
        expect(Object.keys(operation.responses[success[0]!]!.content), what).toEqual([type])
        expect(operation.responses[500], what).toBeDefined()
        const named = (operation.parameters ?? []).filter(parameter => parameter.in === 'path')
        expect(
          named.map(parameter => [parameter.name, parameter.required]),
          what,
        ).toEqual(path.includes('{id}') ? [['id', true]] : [])
      }
    }
    expect(document.components.securitySchemes.token).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(Object.keys(document.paths['/company/{id}/documents'].post.requestBody.content)).toEqual([
      'multipart/form-data',
    ])
  })

  test('no answer of either API invites a browser', async () => {
    const headers = { origin: 'https://shop.example.com', 'access-control-request-method': 'POST' }
    for (const [method, path] of [
      ['GET', '/partner/v1/company'],
      ['GET', '/partner/v1/price/senders'],
      ['OPTIONS', '/partner/v1/company'],
      ['OPTIONS', '/partner/v1/auth/token'],
      ['GET', '/api/v1/ping'],
      ['OPTIONS', '/api/v1/ping'],
    ] as const) {
      const answer = await fetchText(path, { method, headers })
      const names = [...answer.headers.keys()].filter(name => name.startsWith('access-control-'))
      expect(names, `${method} ${path}`).toEqual([])
      if (method === 'OPTIONS') expect(JSON.parse(answer.text).error.code).toBe(4050)
    }
  })

  test('an unknown path outside both APIs is 4040 in our form', async () => {
    for (const path of ['/nowhere', '/partner', '/partner/v2/company', '/api/v1/nothing', '/docs/none.js']) {
      const answer = await fetchText(path)
      expect([answer.status, JSON.parse(answer.text).error.code], path).toEqual([404, 4040])
    }
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
