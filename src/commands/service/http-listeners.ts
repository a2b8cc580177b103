import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from 'node:net'
import { UsageError } from '../../base/errors.ts'
import type { App } from '../../http/app.ts'

export type HttpListeners = {
  /** From now on each connection ends with its next answer, and new connections are still accepted. */
  drain(): void
  /**
   * Accepts no new connections and finishes the running requests. It does not wait for clients that keep a connection
   * open after their answer. It waits at most `graceMs` for a client that has not sent its whole request.
   */
  close(graceMs: number): Promise<void>
}

/**
 * Listens on every address of the host: `localhost` is both 127.0.0.1 and ::1 on most machines. Fastify can do the
 * same, but at its end it waits for running requests of the first address only.
 */
export async function openListeners(
  app: App,
  port: number,
  host: string,
  addressesOf: (host: string) => Promise<string[]> = addressesBehind,
): Promise<HttpListeners> {
  const [first, ...others] = await addressesOf(host)
  const servers: Server[] = [app.server]
  const answers = watchAnswers(app.server)
  try {
    await app.listen({ port, host: first ?? host })
    for (const address of others) servers.push(...(await listenAt(app.server, port, address)))
    for (const server of servers.slice(1)) app.connectionLimit?.guard(server)
  } catch (error) {
    await closeAll(app, servers, answers, 0)
    throw new UsageError(whyNotListening(error, port, host))
  }
  servers.forEach(answers.guard)
  return { drain: answers.makeLast, close: graceMs => closeAll(app, servers, answers, graceMs) }
}

/** Connections that another process has accepted. */
export type ConnectionSource = { start(take: (socket: Socket) => void): void; stop(): void }

/** Serves the connections of another process, where the app listens on no port itself. */
export async function takeConnections(app: App, source: ConnectionSource): Promise<HttpListeners> {
  const answers = watchAnswers(app.server)
  const connections = new TakenConnections()
  await app.ready()
  app.server.emit('listening') // Node.js begins to look for slow requests and idle connections
  answers.guard(app.server)
  connections.guard(app.server)
  source.start(socket => {
    connections.add(socket)
    app.server.emit('connection', socket)
  })
  return {
    drain: answers.makeLast,
    close(graceMs) {
      source.stop()
      return closeAll(app, [app.server], answers, graceMs)
    },
  }
}

/** A server does not count connections that it has not accepted itself. */
class TakenConnections {
  readonly #open = new Set<Socket>()
  #onEmpty = () => {}

  add(socket: Socket) {
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#onEmpty()
    })
  }

  /** Lets `close` of the server wait for the connections. */
  guard(server: Server) {
    server.close = done => {
      this.#onEmpty = () => Server.prototype.close.call(server, done)
      server.closeIdleConnections()
      if (this.#open.size === 0) this.#onEmpty()
      return server
    }
  }
}

type Answers = {
  /** From now on each connection ends with its next answer. */
  makeLast(): void
  /** Prevents the server from closing a connection while an answer is being sent. */
  guard(server: Server): void
}

/**
 * Watches each answer from its request until its last byte is given to the system. Node.js treats a connection as idle
 * as soon as its answer is written, also when the answer is not sent yet: a long answer was cut off, although its work
 * was done. The other servers pass their requests to this one, so this listener sees all answers.
 */
function watchAnswers(main: Server): Answers {
  const open = new Set<ServerResponse>()
  let last = false
  main.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    if (last) endConnectionWith(response)
  })
  return {
    makeLast() {
      last = true
      open.forEach(endConnectionWith)
    },
    // The method is replaced, because `close` of a server calls it, too.
    guard(server) {
      server.closeIdleConnections = () => {
        if (open.size === 0) Server.prototype.closeIdleConnections.call(server)
      }
    },
  }
}

function endConnectionWith(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

export async function addressesBehind(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.length > 0 ? [...new Set(found.map(({ address }) => address))] : [host]
}

/** Starts another server that passes its requests to the main one. Returns none if this machine lacks the address. */
async function listenAt(main: Server, port: number, address: string): Promise<Server[]> {
  const { requestTimeout, keepAliveTimeout } = main
  const server = createServer({ requestTimeout, keepAliveTimeout, requireHostHeader: false })
  const forwarded = ['request', 'checkExpectation', 'connect', 'clientError'].filter(event => main.listenerCount(event))
  for (const event of forwarded) server.on(event, (...args) => main.emit(event, ...args))
  try {
    await once(server.listen(port, address), 'listening')
    return [server]
  } catch (error) {
    if (isMissingAddress(error)) return []
    throw error
  }
}

async function closeAll(app: App, [, ...others]: Server[], answers: Answers, graceMs: number) {
  const all = [app.server, ...others]
  answers.makeLast()
  const closingIdle = setInterval(() => all.forEach(server => void server.closeIdleConnections()), 50)
  const closingAll = setTimeout(() => all.forEach(server => void server.closeAllConnections()), graceMs)
  await Promise.all([app.close(), ...others.map(server => new Promise(closed => server.close(closed)))])
  clearInterval(closingIdle)
  clearTimeout(closingAll)
}

/**
 * Finds a free port and keeps it from other programs until it is released. The API reference contains the address of the
 * service, so the port must be known before the service can listen.
 */
export async function holdPort(host: string): Promise<{ port: number; release(): Promise<void> }> {
  const server = createSocketServer().unref()
  await once(server.listen(0, host), 'listening').catch(error => {
    throw new UsageError(whyNotListening(error, 0, host))
  })
  return { port: portOf(server), release: () => new Promise(released => server.close(() => released())) }
}

export const portOf = (server: SocketServer): number => (server.address() as AddressInfo).port

/** This machine lacks the address, such as ::1 without IPv6. */
export const isMissingAddress = (error: unknown) => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** One sentence for the operator. */
export function whyNotListening(error: unknown, port: number, host: string): string {
  if (codeOf(error) === 'EADDRINUSE')
    return `Port ${port} is in use: stop the program that uses it, or set PORT to another one.`
  if (codeOf(error) === 'EACCES')
    return `Port ${port} needs more rights than this user has: set PORT to one above 1023.`
  return `Cannot listen on ${host}: ${error instanceof Error ? error.message : error}. Check HOST.`
}

/** The address of the service for a person on this machine. */
export function urlOf(host: string, port: number): string {
  const isHere = ['0.0.0.0', '::', 'localhost'].includes(host)
  return `http://${isHere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}
