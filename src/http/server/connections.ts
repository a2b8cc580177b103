import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { isInNetworks, type Network, networkOf } from '../../base/network/networks.ts'
import { endWithError } from './broken-requests.ts'
import { readNamedNetworks } from './named-networks.ts'

type Bounds = { connections: number; connectionsPerAddress: number; trustedProxies: string[]; log: Logger }

export const TOO_MANY_CONNECTIONS = 'Too many connections: use the open ones, or try again in a moment'
const WARN_EVERY_MS = 60_000
const CLOSE_IDLE_EVERY_MS = 1_000

/**
 * Limits the connections of this process, in all and from one address, over all its servers. A trusted proxy passes on the
 * requests of many clients, so only the limit for all connections holds for it.
 */
export class ConnectionLimit {
  readonly #bounds: Bounds
  readonly #trusted: Network[]
  readonly #byAddress = new Map<string, number>()
  readonly #servers = new Set<Server>()
  readonly #refusedSockets = new WeakSet<Socket>()
  #open = 0
  #refused = 0
  #warnedAt = Number.NEGATIVE_INFINITY
  #closedIdleAt = Number.NEGATIVE_INFINITY

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    this.#trusted = readNamedNetworks(bounds.trustedProxies)
  }

  /** A refused connection may deliver bytes before it is closed. No request in them may take effect. */
  isRefused(socket: Socket): boolean {
    return this.#refusedSockets.has(socket)
  }

  guard(server: Server) {
    this.#servers.add(server)
    server.on('connection', (socket: Socket) => this.#admit(socket))
  }

  #admit(socket: Socket) {
    const address = networkOf(socket.remoteAddress ?? '')
    const fromAddress = (this.#byAddress.get(address) ?? 0) + 1
    this.#open += 1
    this.#byAddress.set(address, fromAddress)
    socket.once('close', () => this.#leave(address))
    const { connections, connectionsPerAddress } = this.#bounds
    const isTooMany = this.#open > connections
    if (isTooMany) this.#closeIdle()
    if (isTooMany || (fromAddress > connectionsPerAddress && !this.#isTrusted(socket))) this.#refuse(socket, address)
  }

  #leave(address: string) {
    this.#open -= 1
    const left = this.#byAddress.get(address)! - 1
    if (left > 0) this.#byAddress.set(address, left)
    else this.#byAddress.delete(address)
  }

  #isTrusted({ remoteAddress = '' }: Socket) {
    return isInNetworks(this.#trusted, remoteAddress)
  }

  #refuse(socket: Socket, address: string) {
    this.#refusedSockets.add(socket)
    this.#warn(address)
    endWithError(socket, {
      status: '503 Service Unavailable',
      code: 5030,
      message: TOO_MANY_CONNECTIONS,
      headers: { 'Retry-After': '1' },
    })
    socket.destroySoon()
  }

  /** Closes idle connections, so that new clients can connect. */
  #closeIdle() {
    const now = performance.now()
    if (now - this.#closedIdleAt < CLOSE_IDLE_EVERY_MS) return
    this.#closedIdleAt = now
    for (const server of this.#servers) server.closeIdleConnections()
  }

  #warn(address: string) {
    this.#refused += 1
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#bounds.log.warn({ refused: this.#refused, open: this.#open, address }, 'connections.refused')
    this.#refused = 0
  }
}
