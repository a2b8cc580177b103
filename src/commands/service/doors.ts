import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { UsageError } from '../../base/errors.ts'
import type { App } from '../../http/app.ts'

export type Doors = {
  /**
   * Lets nobody in any more and finishes the requests in hand. A client that keeps its connection open after its
   * answer does not hold us up, nor for longer than `graceMs` one that has not sent its request whole.
   */
  close(graceMs: number): Promise<void>
}

/**
 * Listens on every address that the host stands for: `localhost` is both 127.0.0.1 and ::1 on most machines. The
 * framework would do the same, but does not wait for requests in hand at any but the first.
 */
export async function openDoors(
  app: App,
  port: number,
  host: string,
  addressesOf: (host: string) => Promise<string[]> = addressesBehind,
): Promise<Doors> {
  const [first, ...others] = await addressesOf(host)
  const doors: Server[] = [app.server]
  const answers = watchAnswers(app.server)
  try {
    await app.listen({ port, host: first! })
    for (const address of others) doors.push(...(await openAnother(app.server, port, address)))
    for (const door of doors.slice(1)) app.connectionLimit?.guard(door)
  } catch (error) {
    await closeAll(app, doors, answers, 0)
    throw new UsageError(whyNot(error as NodeJS.ErrnoException, port, host))
  }
  doors.forEach(answers.guard)
  return { close: graceMs => closeAll(app, doors, answers, graceMs) }
}

type Answers = {
  /** From now on every answer is the last one of its connection. */
  makeLast(): void
  /** Keeps whoever closes the door from hanging up while an answer is under way. */
  guard(door: Server): void
}

/**
 * Answers from the request to the last byte handed to the system. Node takes a connection for idle as soon as its
 * answer is written, on its way or not: a long one was cut off, although all it tells of had been done. Requests at
 * the other doors pass through this one, so one place sees them all.
 */
function watchAnswers(main: Server): Answers {
  const underWay = new Set<ServerResponse>()
  let last = false
  main.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    response.once('close', () => underWay.delete(response))
    if (last) endConnectionWith(response)
  })
  return {
    makeLast() {
      last = true
      underWay.forEach(endConnectionWith)
    },
    // Replaced and not only avoided: closing a server hangs up idle connections by itself.
    guard(door) {
      door.closeIdleConnections = () => {
        if (underWay.size === 0) Server.prototype.closeIdleConnections.call(door)
      }
    },
  }
}

function endConnectionWith(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

async function addressesBehind(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.length > 0 ? [...new Set(found.map(({ address }) => address))] : [host]
}

/** A door of its own that leads to the same room. None on a machine that only knows the address by name. */
async function openAnother(main: Server, port: number, address: string): Promise<Server[]> {
  const { requestTimeout, keepAliveTimeout } = main
  const door = createServer({ requestTimeout, keepAliveTimeout, requireHostHeader: false })
  const handedOver = ['request', 'checkExpectation', 'connect', 'clientError'].filter(event =>
    main.listenerCount(event),
  )
  for (const event of handedOver) door.on(event, (...happened) => main.emit(event, ...happened))
  try {
    await once(door.listen(port, address), 'listening')
    return [door]
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code!)) return []
    throw error
  }
}

async function closeAll(app: App, [, ...others]: Server[], answers: Answers, graceMs: number) {
  const all = [app.server, ...others]
  answers.makeLast()
  const hangUp = setInterval(() => all.forEach(door => void door.closeIdleConnections()), 50)
  const cutOff = setTimeout(() => all.forEach(door => void door.closeAllConnections()), graceMs)
  await Promise.all([app.close(), ...others.map(door => new Promise(closed => door.close(closed)))])
  clearInterval(hangUp)
  clearTimeout(cutOff)
}

/** A port nobody uses. The service's own address stands in the API reference, so it must be known before listening. */
export async function freePort(host: string): Promise<number> {
  const server = createSocketServer()
  await once(server.listen(0, host), 'listening').catch(error => {
    throw new UsageError(whyNot(error, 0, host))
  })
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function whyNot(error: NodeJS.ErrnoException, port: number, host: string): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use: stop what uses it, or set PORT to another one.`
  if (error.code === 'EACCES') return `Port ${port} needs more rights than this user has: set PORT to one above 1023.`
  return `Cannot listen on ${host}: ${error.message}. Check HOST.`
}

/** Where a person on this machine finds it. */
export function urlOf(host: string, port: number): string {
  const isHere = ['0.0.0.0', '::', 'localhost'].includes(host)
  return `http://${isHere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}
