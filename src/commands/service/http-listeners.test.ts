import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, createServer } from 'node:net'
import fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { UsageError } from '../../base/errors.ts'
import type { App } from '../../http/app.ts'
import { eventually } from '../../testing/eventually.ts'
import { freePort } from '../../testing/free-port.ts'
import { holdPort, openListeners, urlOf } from './http-listeners.ts'

const HOST = '127.0.0.1'
const LONG_MS = 600_000 // longer than any test may take

/** More bytes than the system buffers for a client that does not read. */
const LONG_ANSWER = 'long '.repeat(8_000_000)

const leftOver: { destroy(): void }[] = []
afterEach(() => {
  for (const thing of leftOver.splice(0)) thing.destroy()
})

/** Answers when the test says so. */
function aSlowApp() {
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  const { promise: asked, resolve: arrive } = Promise.withResolvers<void>()
  const app = fastify({ return503OnClosing: false })
  app.get('/', async () => 'quick')
  app.get('/long', async () => LONG_ANSWER)
  app.get('/slow', async () => {
    arrive()
    await told
    return 'slow'
  })
  return { app: app as unknown as App, asked, tell }
}

/** A client that keeps its connection open, as most do. */
async function ask(port: number, path: string, host = HOST): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  leftOver.push(agent)
  const [response] = await once(get({ host, port, path, agent }), 'response')
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  return text
}

test('while it drains, a server accepts connections and ends each with its answer', async () => {
  const { app } = aSlowApp()
  const port = await freePort()
  const listeners = await openListeners(app, port, HOST)
  const agent = new Agent({ keepAlive: true })
  leftOver.push(agent)
  const connectionAfter = async () => {
    const [response] = await once(get({ host: HOST, port, agent }), 'response')
    for await (const _ of response);
    return response.headers.connection
  }
  expect(await connectionAfter()).toBe('keep-alive')
  listeners.drain()
  expect(await connectionAfter()).toBe('close') // over the open connection
  expect(await connectionAfter()).toBe('close') // over a new connection
  await listeners.close(LONG_MS)
})

test('a running request is finished, and its open connection does not delay the end', async () => {
  const { app, asked, tell } = aSlowApp()
  const port = await freePort()
  const listeners = await openListeners(app, port, HOST)
  expect(await ask(port, '/')).toBe('quick')
  const slow = ask(port, '/slow')
  await asked

  const closed = listeners.close(LONG_MS)
  await eventually(() => expect(ask(port, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' }))
  tell()
  expect(await slow).toBe('slow')
  await closed
})

test.for([HOST, '127.0.0.2'])(
  'a client at %s that reads slowly gets the whole of a long answer',
  async (host, context) => {
    if (process.platform !== 'linux') context.skip('only Linux has 127.0.0.2 without being told')
    const { app } = aSlowApp()
    const port = await freePort()
    const listeners = await openListeners(app, port, 'localhost', async () => [HOST, '127.0.0.2'])
    const agent = new Agent({ keepAlive: true })
    leftOver.push(agent)
    const [response] = await once(get({ host, port, path: '/long', agent }), 'response')
    let read = 0
    response.on('data', (piece: Buffer) => {
      read += piece.length
      if (read < 2_000_000) setTimeout(() => response.resume(), 20)
      if (read < 2_000_000) response.pause()
    })
    const end = once(response, 'end')
    let isClosed = false
    const closed = listeners.close(LONG_MS).then(() => {
      isClosed = true
    })
    await eventually(() => expect(ask(port, '/', host)).rejects.toMatchObject({ code: 'ECONNREFUSED' }))
    expect(isClosed).toBe(false)
    await end
    expect(read).toBe(LONG_ANSWER.length)
    await closed
  },
)

test('an answer that is sent while the listeners close has `connection: close`', async () => {
  const { app, asked, tell } = aSlowApp()
  const port = await freePort()
  const listeners = await openListeners(app, port, HOST)
  const agent = new Agent({ keepAlive: true })
  leftOver.push(agent)
  const answered = once(get({ host: HOST, port, path: '/slow', agent }), 'response')
  await asked
  const closed = listeners.close(LONG_MS)
  tell()
  const [response] = await answered
  expect(response.headers.connection).toBe('close')
  response.resume()
  await closed
})

test('the connection of a client that does not send its whole request is closed after the grace time', async () => {
  const { app } = aSlowApp()
  const port = await freePort()
  const listeners = await openListeners(app, port, HOST)
  const socket = connect(port, HOST)
  leftOver.push(socket)
  socket.write('GET / HTTP/1.1\r\nHost: example\r\n')
  await once(app.server, 'connection')
  const cut = once(socket, 'close')
  await listeners.close(50)
  await cut
})

test('localhost means all its addresses, and running requests at each address are finished', async context => {
  const { app, asked, tell } = aSlowApp()
  const port = await freePort()
  const probe = createServer().listen(0, '::1')
  const hasIpv6 = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  probe.close()
  if (!hasIpv6) context.skip('this machine has no ::1')

  const listeners = await openListeners(app, port, 'localhost', async () => [HOST, '::1'])
  expect([await ask(port, '/', HOST), await ask(port, '/', '::1')]).toEqual(['quick', 'quick'])
  const slow = ask(port, '/slow', '::1')
  await asked
  const closed = listeners.close(LONG_MS)
  await eventually(() => expect(ask(port, '/', '::1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }))
  tell()
  expect(await slow).toBe('slow')
  await closed
})

test('a second address that the machine does not have is ignored', async () => {
  const { app } = aSlowApp()
  const port = await freePort()
  const listeners = await openListeners(app, port, 'localhost', async () => [HOST, '192.0.2.1'])
  expect(await ask(port, '/')).toBe('quick')
  await listeners.close(LONG_MS)
})

test('a port that is taken only at the second address counts as in use, and the first listener is closed again', async context => {
  if (process.platform !== 'linux') context.skip('only Linux has 127.0.0.2 without being told')
  const { app } = aSlowApp()
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.2')
  await once(other, 'listening')
  const opening = openListeners(app, port, 'localhost', async () => [HOST, '127.0.0.2'])
  await expect(opening).rejects.toThrow(
    new UsageError(`Port ${port} is in use: stop the program that uses it, or set PORT to another one.`),
  )
  await expect(ask(port, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  other.close()
})

test('an address of another machine is refused in one sentence', async () => {
  const { app } = aSlowApp()
  await expect(openListeners(app, 8080, '192.0.2.1')).rejects.toThrow(
    /^Cannot listen on 192\.0\.2\.1: .*\. Check HOST\.$/,
  )
  await expect(holdPort('192.0.2.1')).rejects.toThrow(/^Cannot listen on 192\.0\.2\.1: .*\. Check HOST\.$/)
})

test.each([
  ['localhost', 'http://localhost:8080'],
  ['0.0.0.0', 'http://localhost:8080'],
  ['::', 'http://localhost:8080'],
  ['192.0.2.1', 'http://192.0.2.1:8080'],
  ['2001:db8::1', 'http://[2001:db8::1]:8080'],
])('listening on %s it is found at %s', (host, url) => {
  expect(urlOf(host, 8080)).toBe(url)
})
