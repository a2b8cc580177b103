import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { selfSigned } from '../../testing/self-signed.ts'
import { Poster, targetOf } from './request.ts'

const HOST = 'receiver.example'
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const answered = { kind: 'answered', statusCode: 200, answer: 'ok' }
const closedEarly = { kind: 'failed', error: 'connection closed without an answer' }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** What the receiver does with a request. `place` is the number of requests before it on the same connection. */
type Reaction = (socket: Socket, place: number) => unknown

const servers = { http: createServer, https: secureServer }
type Scheme = keyof typeof servers

function secureServer(listener: (socket: Socket) => void): Server {
  const certificate = selfSigned(HOST)
  const known = getCACertificates('default')
  setDefaultCACertificates([...known, certificate.cert])
  cleanups.push(() => setDefaultCACertificates(known))
  return createTlsServer(certificate, listener)
}

/** By the port of the client. A TLS socket cannot be reset itself. */
const tcpSockets = new Map<number | undefined, Socket>()

/** A receiver that sees the bytes of connections, and a function that sends a request to it. */
async function aReceiver(scheme: Scheme, react: Reaction) {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = servers[scheme](socket => {
    let place = 0
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', bytes => {
      requests.push(bytes.toString())
      react(socket, place++)
    })
  }).listen(0, '127.0.0.1')
  server.on('connection', (socket: Socket) => tcpSockets.set(socket.remotePort, socket))
  await once(server, 'listening')
  const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
  const poster = new Poster({ allow: ['127.0.0.0/8'], resolve, timeoutMs: 5000 })
  cleanups.push(
    () => server.close(),
    () => poster.close(),
  )
  const port = (server.address() as AddressInfo).port
  const post = () =>
    poster.post(targetOf(`${scheme}://${HOST}:${port}/hook?a=b`)!, { 'webhook-id': 'evt_1' }, '{"ä":1}')
  return { requests, sockets, post, poster, port }
}

const closings: [string, (socket: Socket) => unknown][] = [
  ['ends it', socket => socket.end()],
  ['resets it', socket => tcpSockets.get(socket.remotePort)?.resetAndDestroy()],
]

describe.each<Scheme>(['http', 'https'])('with %s, when the receiver closes a connection', scheme => {
  describe.each(closings)('and %s', (_, close) => {
    test('that answered an earlier request, the request is sent again', async () => {
      const { requests, sockets, post } = await aReceiver(scheme, (socket, place) =>
        place === 0 ? socket.write(OK) : close(socket),
      )
      expect(await post()).toEqual(answered)
      await pause(50)
      expect(await post()).toEqual(answered)
      expect([requests.length, sockets.size]).toEqual([3, 2])
      expect(requests[2]).toBe(requests[1])
    })

    test('that is new, the request is not sent again', async () => {
      const { requests, post } = await aReceiver(scheme, close)
      expect(await post()).toEqual(closedEarly)
      await pause(50)
      expect(requests).toHaveLength(1)
    })

    test('after the beginning of an answer, the request is not sent again', async () => {
      const { requests, post } = await aReceiver(scheme, (socket, place) => {
        if (place === 0) return socket.write(OK)
        socket.write('HTTP/1.1 2')
        setTimeout(() => close(socket), 50)
      })
      expect(await post()).toEqual(answered)
      await pause(50)
      expect(await post()).toMatchObject({ kind: 'failed' })
      expect(requests).toHaveLength(2)
    })
  })

  test('after every request but the first, the request is sent again once', async () => {
    const { requests, post } = await aReceiver(scheme, socket =>
      requests.length === 1 ? socket.write(OK) : socket.destroy(),
    )
    expect(await post()).toEqual(answered)
    await pause(50)
    expect(await post()).toEqual(closedEarly)
    expect(requests).toHaveLength(3)
  })
})

test('a request has these bytes', async () => {
  const { requests, post, port } = await aReceiver('http', socket => socket.write(OK))
  await post()
  expect(requests).toEqual([
    [
      'POST /hook?a=b HTTP/1.1',
      `host: ${HOST}:${port}`,
      'connection: keep-alive',
      'content-type: application/json',
      'user-agent: Tidings',
      'webhook-id: evt_1',
      'content-length: 8',
      '',
      '{"ä":1}',
    ].join('\r\n'),
  ])
})

test.each([
  ['together with', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, ''],
  ['before', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\na: b\r\n\r\n', OK],
])('a receiver may send "100 Continue" %s its answer', async (_, first, second) => {
  const { sockets, post } = await aReceiver('http', socket => {
    socket.write(first)
    setTimeout(() => socket.write(second), 50)
  })
  expect(await post()).toEqual(answered)
  await pause(100)
  expect(await post()).toEqual(answered)
  expect(sockets.size).toBe(1)
})

test('requests one after another share a connection', async () => {
  const { requests, sockets, post } = await aReceiver('http', socket => socket.write(OK))
  for (let sent = 0; sent < 20; sent++) expect(await post()).toEqual(answered)
  expect([requests.length, sockets.size]).toEqual([20, 1])
})

test('a connection that is idle for 4 seconds is closed', async () => {
  const { sockets, post } = await aReceiver('http', socket => socket.write(OK))
  await post()
  const begun = performance.now()
  await eventually(() => expect([...sockets].every(socket => socket.destroyed)).toBe(true))
  expect(performance.now() - begun).toBeGreaterThan(3500)
})

test('the time-out covers the handshake, and a closed poster abandons a request during the handshake', async () => {
  const sockets: Socket[] = []
  const server = createServer(socket => sockets.push(socket.on('error', () => {}).resume())).listen(0, '127.0.0.1')
  cleanups.push(() => server.close())
  await once(server, 'listening')
  const target = targetOf(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)!
  const impatient = new Poster({ allow: ['127.0.0.0/8'], timeoutMs: 100 })
  expect(await impatient.post(target, {}, '{}')).toEqual({ kind: 'failed', error: 'no answer in time' })
  const patient = new Poster({ allow: ['127.0.0.0/8'] })
  const abandoned = patient.post(target, {}, '{}')
  await eventually(() => expect(sockets).toHaveLength(2))
  patient.close()
  expect(await abandoned).toEqual({ kind: 'abandoned' })
  await eventually(() => expect(sockets.every(socket => socket.destroyed)).toBe(true))
  impatient.close()
})
