import { setTimeout as pause } from 'node:timers/promises'
import { type Host, nameOf, type Target } from '../base/database-address.ts'

/** What a server says about itself. */
export type ServerState = {
  isStandby: boolean
  isReadOnly: boolean
  /** Each promotion begins a new one. 0 on a standby. */
  timeline: number
  startedAt: string
}

/** A connection to one host, opened again when it was lost. `ask` ends within a few seconds. */
export type Probe = { ask(): Promise<ServerState>; close(): void }

/** A host with its last answer, and the time at which it was asked. */
type Server = { host: Host; probe: Probe; state?: ServerState | undefined; askedAt?: number; why?: unknown }
type Answered = Server & { state: ServerState; askedAt: number }

type Settings = {
  hosts: Host[]
  target: Target
  open(host: Host): Probe
  /**
   * Connections that were opened before this time (`performance.now()`) are of no use any more. They lead to the former
   * server, or to an earlier start of the same one.
   */
  onChange(openedBefore: number): void
  /** How often each host is asked. */
  everyMs?: number
}

const ASK_EVERY_MS = 1000
/** How long the first answer waits for the answers of other hosts. */
const GRACE_MS = 500

/**
 * Chooses the server of an address with several hosts, and asks each host for its role every second. The driver's own
 * way is not enough: its `read-write` takes a standby, and a machine that is gone keeps its connections waiting for
 * minutes, because TCP notices late.
 *
 * - The hosts are asked independently, so that a host that does not answer delays no decision.
 * - Of two primaries the one with the newer timeline is chosen: the other one was replaced, and hangs or came back by
 *   mistake.
 * - While no host may be used, connections go on being opened to the former one: it may only be slow.
 */
export class ServerChoice {
  readonly #settings: Settings
  readonly #servers: Server[]
  readonly #stopping = new AbortController()
  #chosen: { host: Host; state: ServerState; askedAt: number } | undefined
  #finding: Promise<Host> | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.#servers = settings.hosts.map(host => ({ host, probe: settings.open(host) }))
  }

  /** The host for the next connection. Undefined before the first one is found. */
  get current(): Host | undefined {
    return this.#chosen?.host
  }

  /** Finds the first server. Rejects when no host may be used; the next call tries again. */
  find(): Promise<Host> {
    this.#finding ??= this.#findFirst().catch(error => {
      this.#finding = undefined
      throw error
    })
    return this.#finding
  }

  stop(): void {
    this.#stopping.abort()
    for (const { probe } of this.#servers) probe.close()
  }

  async #findFirst(): Promise<Host> {
    const found = Promise.withResolvers<void>()
    const ask = async (server: Server) => {
      await this.#ask(server)
      if (this.#isFit(server)) found.resolve()
    }
    const grace = found.promise.then(() => pause(GRACE_MS, undefined, { ref: false }))
    await Promise.race([Promise.all(this.#servers.map(ask)), grace])
    const host = this.#decide()
    if (!host) throw noServer(this.#settings.target, this.#servers)
    for (const server of this.#servers) void this.#follow(server)
    return host
  }

  async #follow(server: Server) {
    const { signal } = this.#stopping
    const { everyMs = ASK_EVERY_MS } = this.#settings
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      await this.#ask(server)
      this.#decide()
    }
  }

  async #ask(server: Server) {
    const askedAt = performance.now()
    try {
      server.state = await server.probe.ask()
      server.askedAt = askedAt
    } catch (why) {
      server.state = undefined
      server.why = why
    }
  }

  /** The best host. Among equals the chosen one stays. */
  #decide(): Host | undefined {
    const former = this.#chosen
    const isFormer = ({ state }: Answered) => former !== undefined && isSame(former.state, state)
    const rankOf = (server: Answered) => server.state.timeline + (isFormer(server) ? 0.5 : 0)
    const [best] = this.#servers
      .filter(server => this.#isFit(server))
      .toSorted((one, other) => rankOf(other) - rankOf(one))
    if (!best || this.#stopping.signal.aborted) return
    this.#chosen = { host: best.host, state: best.state, askedAt: best.askedAt }
    if (former && !isFormer(best)) this.#settings.onChange(endOf(former, best))
    return best.host
  }

  #isFit(server: Server): server is Answered {
    if (!server.state) return false
    const { isStandby, isReadOnly, timeline } = server.state
    const { target } = this.#settings
    if (target === 'any') return true
    if (target === 'standby' || target === 'prefer-standby') return isStandby
    return !isStandby && timeline >= (this.#chosen?.state.timeline ?? 0) && !(target === 'read-write' && isReadOnly)
  }
}

/**
 * The connections to another server are all of no use. A server that was started again has new connections, opened since
 * its earlier start answered for the last time: these stay.
 */
const endOf = (former: { host: Host; askedAt: number }, best: Answered) =>
  best.host === former.host ? former.askedAt : Number.POSITIVE_INFINITY

/** A server that was started again has lost all connections, and another server may have the same address. */
const isSame = (one: ServerState, other: ServerState) =>
  one.startedAt === other.startedAt && one.isStandby === other.isStandby

const roleOf = ({ isStandby, isReadOnly, timeline }: ServerState) =>
  isStandby ? 'it is a standby' : `it is a ${isReadOnly ? 'read-only ' : ''}primary of timeline ${timeline}`

/** With the code of all hosts if it is the same one, for example for a wrong password. */
function noServer(target: Target, servers: Server[]): Error {
  const refusals = servers.map(({ host, state, why }) => ({ host, ...refusalOf(state, why) }))
  const codes = new Set(refusals.map(({ code }) => code))
  const [code = 'ECONNREFUSED'] = codes
  const each = refusals.map(({ host, message }) => `${nameOf(host)}: ${message}`)
  return Object.assign(new Error(`no host is ${inWords[target]} (${each.join('; ')})`), {
    code: codes.size === 1 ? code : 'ECONNREFUSED',
  })
}

function refusalOf(state: ServerState | undefined, why: unknown): { code?: string | undefined; message: string } {
  if (state) return { message: roleOf(state) }
  const { code, message } = why as { code?: string; message?: string }
  return { code, message: message || code || 'no answer' }
}

const inWords: Record<Target, string> = {
  any: 'there',
  'read-write': 'a primary that takes changes',
  primary: 'a primary',
  standby: 'a standby',
  'prefer-standby': 'a standby',
}
