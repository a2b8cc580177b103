import type { ChildProcess, SendHandle } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, Socket } from 'node:net'
import { UsageError } from '../../../base/errors.ts'
import { addressesBehind, type ConnectionSource, isMissingAddress, portOf, whyNotListening } from '../http-listeners.ts'

/** Messages of a process that takes connections: it takes one more, and it takes none any more. */
const NEXT = 'connections.next'
const LEAVE = 'connections.leave'
const CONNECTION = 'connection'

/** More connections that wait for a process are closed. */
const MOST_WAITING = 1000

/**
 * One port for several HTTP processes. This process accepts the connections and gives each to the process that has waited
 * longest for one, so all get the same number, and a busy process gets the next one later. It keeps a connection open
 * until the process has taken it. If the process ends before, another one gets the connection.
 *
 * The cluster module of Node.js does nearly the same, but keeps the untaken connection of a killed process for ever, and its client
 * waits. Processes that listen on the same socket get uneven numbers of connections.
 */
export class SharedPort {
  readonly port: number
  readonly #servers: Server[]
  /** The process that has waited longest is first. */
  readonly #free = new Set<ChildProcess>()
  readonly #untaken = new Map<ChildProcess, Socket>()
  readonly #waiting: Socket[] = []
  #isClosed = false

  /** Listens on every address of the host. Throws one sentence if the port is in use. */
  static async open(host: string, wantedPort: number): Promise<SharedPort> {
    const servers: Server[] = []
    let port = wantedPort
    try {
      for (const address of await addressesBehind(host)) {
        const server = await listenAt(address, port)
        if (!server) continue
        servers.push(server)
        port = portOf(server)
      }
      return new SharedPort(servers, port)
    } catch (error) {
      for (const server of servers) server.close()
      throw new UsageError(whyNotListening(error, port, host))
    }
  }

  constructor(servers: Server[], port: number) {
    this.port = port
    this.#servers = servers
    for (const server of servers) server.on('connection', socket => this.#accept(socket))
  }

  /** From its first message on, the process gets connections. */
  join(child: ChildProcess) {
    child.on('message', message => {
      if (message === NEXT) this.#next(child)
      if (message === LEAVE) this.#leave(child)
    })
    child.once('exit', () => this.#leave(child))
  }

  close() {
    this.#isClosed = true
    for (const server of this.#servers) server.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #accept(socket: Socket) {
    socket.on('error', () => {}) // the client is gone: the process that takes the connection notices it
    this.#waiting.push(socket)
    if (this.#waiting.length > MOST_WAITING) this.#waiting.pop()?.destroy()
    this.#give()
  }

  #next(child: ChildProcess) {
    this.#untaken.get(child)?.destroy() // closes our end; the process has its own
    this.#untaken.delete(child)
    this.#free.add(child)
    this.#give()
  }

  #leave(child: ChildProcess) {
    this.#free.delete(child)
    const socket = this.#untaken.get(child)
    this.#untaken.delete(child)
    if (!socket) return
    if (this.#isClosed) return void socket.destroy()
    this.#waiting.unshift(socket)
    this.#give()
  }

  #give() {
    for (const child of this.#free) {
      const socket = this.#waiting.shift()
      if (!socket) return
      this.#free.delete(child)
      this.#untaken.set(child, socket)
      child.send(CONNECTION, socket, { keepOpen: true }, () => {}) // a process that is gone leaves with its `exit`
    }
  }
}

async function listenAt(address: string, port: number): Promise<Server | undefined> {
  const server = createServer({ pauseOnConnect: true, noDelay: true })
  try {
    await once(server.listen(port, address), 'listening')
    return server
  } catch (error) {
    if (isMissingAddress(error)) return undefined
    throw error
  }
}

/** The connections that the parent process accepts, for one of its processes. */
export function connectionsOfParent(): ConnectionSource {
  if (!process.send) throw new UsageError('--connections-from-parent is for the processes that `tidings serve` starts.')
  const tell = (message: string) => void process.send?.(message, undefined, undefined, () => {}) // the parent may be gone
  let take: ((socket: Socket) => void) | undefined
  process.on('message', (message: unknown, socket?: SendHandle) => {
    if (message !== CONNECTION || !(socket instanceof Socket)) return
    if (!take) return socket.destroy() // the parent gives it to another process
    socket.allowHalfOpen = true // as the HTTP server of Node.js has it
    take(socket)
    tell(NEXT)
  })
  return {
    start(taking) {
      take = taking
      process.channel?.ref() // the process has no port of its own that keeps it running
      tell(NEXT)
    },
    stop() {
      take = undefined
      process.channel?.unref()
      tell(LEAVE)
    },
  }
}
