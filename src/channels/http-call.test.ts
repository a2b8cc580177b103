import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { type Call, call, objectOf, retryAfterMs } from './http-call.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

describe('a call', () => {
  test('sends method, headers and body unchanged, and returns the answer', async () => {
    const seen: unknown[] = []
    const url = await serveHttp(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString('utf8')
      seen.push([request.method, request.url, request.headers['x-token'], request.headers['content-length'], body])
      response.writeHead(202, { 'x-answer': 'yes' }).end('{"id":"ü"}')
    })
    const answered = await call(aCall({ url: `${url}/way?a=1`, headers: { 'x-token': 'abc' }, body: '{"text":"ё"}' }))
    expect(seen).toEqual([['POST', '/way?a=1', 'abc', '13', '{"text":"ё"}']])
    expect(answered).toMatchObject({ kind: 'answered', status: 202, body: '{"id":"ü"}' })
    expect(answered.kind === 'answered' && answered.headers.get('x-answer')).toBe('yes')
  })

  test('can be a GET without a body, or carry bytes', async () => {
    const seen: unknown[] = []
    const url = await serveHttp(async (request, response) => {
      seen.push([request.method, [...Buffer.concat(await request.toArray())]])
      response.end()
    })
    await call({ url, method: 'GET', headers: {}, timeoutMs: 5000 })
    await call(aCall({ url, body: new Uint8Array([0, 255, 7]) }))
    expect(seen).toEqual([
      ['GET', []],
      ['POST', [0, 255, 7]],
    ])
  })

  test.each([200, 204, 302, 400, 404, 429, 500, 503])('answered with %i is answered', async status => {
    const url = await serveHttp((request, response) => {
      request.resume()
      response.writeHead(status).end()
    })
    expect(await call(aCall({ url }))).toMatchObject({ kind: 'answered', status })
  })

  test('does not follow a redirect', async () => {
    const paths: (string | undefined)[] = []
    const url = await serveHttp((request, response) => {
      paths.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    expect(await call(aCall({ url: `${url}/here` }))).toMatchObject({ kind: 'answered', status: 307 })
    expect(paths).toEqual(['/here'])
  })

  test('cuts an endless answer, and closes the connection', async () => {
    let closed = false
    const url = await serveHttp((_, response) => {
      response.on('close', () => {
        closed = true
      })
      const pour = () => {
        while (!closed && response.write('x'.repeat(64 * 1024)));
        if (!closed) response.once('drain', pour)
      }
      pour()
    })
    const answered = await call(aCall({ url }))
    expect(answered.kind === 'answered' && answered.body.length).toBe(256 * 1024)
    await eventually(() => expect(closed).toBe(true))
  })
})

describe('not sent is', () => {
  const notSent = (call: Partial<Call> & { url: string }) => expectKind('not sent', call)

  test('a refused connection', async () => {
    const server = await listen(createTcpServer())
    const { port } = server.address() as AddressInfo
    await new Promise(resolve => server.close(resolve))
    await notSent({ url: `http://127.0.0.1:${port}` })
    await notSent({ url: `http://localhost:${port}` })
  })

  test('a name that does not exist', () => notSent({ url: 'http://nowhere.invalid' }))

  test('an impossible address or header', async () => {
    await notSent({ url: 'nonsense' })
    await notSent({ url: 'ftp://127.0.0.1/' })
    const url = await serveHttp((_, response) => response.end())
    await notSent({ url, headers: { 'x-token': 'two\r\nlines' } })
  })

  test.each(['1', '0'])('a certificate of an unknown authority, with NODE_TLS_REJECT_UNAUTHORIZED=%s', async checks => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', checks)
    atEnd.push(() => vi.unstubAllEnvs())
    let requests = 0
    const server = createHttpsServer(selfSigned(), (_, response) => {
      requests++
      response.end()
    })
    const result = await notSent({ url: await urlOf(server, 'https') })
    expect(result).toMatchObject({ reason: expect.stringContaining('SELF_SIGNED') })
    expect(requests).toBe(0)
  })

  test('a port without TLS', async () => {
    const url = await serveHttp((_, response) => response.end())
    await notSent({ url: url.replace('http:', 'https:') })
  })

  test('a port that is silent until the time-out', async () => {
    const { url } = await serveTcp(() => {})
    await notSent({ url: url.replace('http:', 'https:'), timeoutMs: 200 })
  })

  test('a port that closes the connection during the TLS handshake', async () => {
    const { url } = await serveTcp(socket => socket.once('data', () => socket.resetAndDestroy()))
    await notSent({ url: url.replace('http:', 'https:') })
  })

  test('a port that browsers block, if no server listens there', () => notSent({ url: 'http://127.0.0.1:6000' }))
})

describe('maybe sent is', () => {
  const maybeSent = (call: Partial<Call> & { url: string }) => expectKind('maybe sent', call)

  test('a request after which the connection is reset', async () => {
    const { url } = await serveTcp(socket => socket.once('data', () => socket.resetAndDestroy()))
    await maybeSent({ url })
  })

  test('a connection that is reset in the middle of the request', async () => {
    const { url } = await serveTcp(socket => socket.once('data', () => socket.resetAndDestroy()))
    await maybeSent({ url, body: 'x'.repeat(5_000_000) })
  })

  test('a request after which the connection is closed without an answer', async () => {
    const { url } = await serveTcp(socket => socket.once('data', () => socket.end()))
    await maybeSent({ url })
  })

  test('a kept connection that is closed under the next request', async () => {
    let requests = 0
    const { url, connections } = await serveTcp(socket =>
      socket.on('data', () => {
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
        else socket.resetAndDestroy()
      }),
    )
    expect(await call(aCall({ url }))).toMatchObject({ kind: 'answered', body: 'ok' })
    await maybeSent({ url })
    expect({ requests, connections: connections() }).toEqual({ requests: 2, connections: 1 })
  })

  test('silence until the time-out', async () => {
    const url = await serveHttp(() => {})
    expect(await maybeSent({ url, timeoutMs: 2000 })).toMatchObject({ reason: 'no answer in time' })
  })

  test('an answer whose body comes too slowly', async () => {
    const url = await serveHttp((_, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(drip))
    })
    expect(await maybeSent({ url, timeoutMs: 2000 })).toMatchObject({ reason: 'no answer in time' })
  })

  test('an answer that breaks off', async () => {
    const { url } = await serveTcp(socket =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":')),
    )
    await maybeSent({ url })
  })

  test('an answer that is no HTTP', async () => {
    const { url } = await serveTcp(socket => socket.once('data', () => socket.end('SMTP ready\r\n')))
    await maybeSent({ url })
  })
})

test('a reason contains neither the address nor a header', async () => {
  const { url } = await serveTcp(socket => socket.resetAndDestroy())
  for (const at of [`${url}/bot-tok3n`, 'http://tok3n.invalid/', 'tok3n', `${url.replace('http:', 'https:')}/tok3n`]) {
    const result = await call(aCall({ url: at, headers: { authorization: 'tok3n' } }))
    expect(JSON.stringify(result)).not.toContain('tok3n')
  }
})

test('a body is read as an object, or as an empty object', () => {
  expect(objectOf('{"id":"1"}')).toEqual({ id: '1' })
  for (const body of ['', 'null', '[]', '[{"id":1}]', '"text"', '7', '{"id":', '<html>'])
    expect(objectOf(body)).toEqual({})
})

test('Retry-After is read in seconds or as a date, within an hour', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  const read = (value?: string) => retryAfterMs(new Headers(value === undefined ? {} : { 'retry-after': value }), now)
  expect(read('7')).toBe(7000)
  expect(read('0')).toBe(0)
  expect(read('Sun, 01 Mar 2026 12:00:30 GMT')).toBe(30_000)
  expect(read('Sun, 01 Mar 2026 11:00:00 GMT')).toBe(0)
  expect(read('999999999999')).toBe(3600_000)
  expect([read(), read(''), read('soon')]).toEqual([undefined, undefined, undefined])
})

const aCall = (given: Partial<Call> & { url: string }): Call => ({ headers: {}, body: '{}', timeoutMs: 5000, ...given })

async function expectKind(kind: string, given: Partial<Call> & { url: string }) {
  const result = await call(aCall(given))
  expect(result).toMatchObject({ kind, reason: expect.any(String) })
  return result
}

const serveHttp = (listener: RequestListener) => urlOf(createHttpServer(listener))

async function serveTcp(onConnection: (socket: Socket) => void) {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  const url = await urlOf(server)
  atEnd.unshift(() => {
    for (const socket of sockets) socket.destroy()
  })
  return { url, connections: () => connections }
}

async function urlOf(server: Server, scheme = 'http'): Promise<string> {
  await listen(server)
  atEnd.push(() => {
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

// A certificate of an unknown authority, as short as X.509 allows --------------------------------------------------

function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('127.0.0.1')))))
  const validity = der(0x30, der(0x17, Buffer.from('250101000000Z')), der(0x17, Buffer.from('490101000000Z')))
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' })
  const toSign = der(0x30, der(0x02, Buffer.from([1])), ecdsaWithSha256, name, validity, name, keyInfo)
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, privateKey))
  const cert = der(0x30, toSign, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...inside: Buffer[]): Buffer {
  const body = Buffer.concat(inside)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
