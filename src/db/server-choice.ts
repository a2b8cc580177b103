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

/** A connection to one server. Both methods end within a few seconds. */
export type Probe = { ask(): Promise<ServerState>; close(): void }

type Server = { host: Host; probe: Probe; state: ServerState }

type Settings = {
  hosts: Host[]
  target: Target
  open(host: Host): Probe
  /** The connections to other servers, or to an earlier start of this one, are of no use any more. */
  onChange(): void
}

const WATCH_EVERY_MS = 1000
/** How long the first answer waits for the answers of other hosts. */
const GRACE_MS = 500

/**
 * Chooses the server of an address with several hosts, and watches it. The driver's own way is not enough: its
 * `read-write` takes a standby, and a machine that is gone keeps its connections waiting for minutes, because TCP
 * notices late.
 *
 * - All hosts are asked at once, so that a host that does not answer costs half a second at most.
 * - Of two primaries the one with the newer timeline is chosen: the other one was replaced and came back by mistake.
 * - One connection asks the chosen server every second. When it does not answer or may not be used any more, all hosts
 *   are asked again. While there is no better server, connections go on being opened to the former one: it may only
 *   be slow.
 */
export class ServerChoice {
  readonly #settings: Settings
  readonly #stopping = new AbortController()
  #chosen: Server | undefined
  #search: Promise<Server> | undefined
  #newestTimeline = 0

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** The host for the next connection. Undefined before the first search. */
  get current(): Host | undefined {
    return this.#chosen?.host
  }

  /** Finds the first server. Rejects when no host may be used. */
  async find(): Promise<Host> {
    return (await this.#searchOnce()).host
  }

  stop(): void {
    this.#stopping.abort()
    this.#chosen?.probe.close()
  }

  #searchOnce(): Promise<Server> {
    this.#search ??= this.#findServer().finally(() => {
      this.#search = undefined
    })
    return this.#search
  }

  async #findServer(): Promise<Server> {
    const found = await askAll(this.#settings, state => this.#isFit(state))
    if (this.#stopping.signal.aborted) found.probe.close()
    const former = this.#chosen
    this.#chosen = found
    this.#newestTimeline = Math.max(this.#newestTimeline, found.state.timeline)
    if (former === undefined) void this.#watch()
    else if (!isSame(former.state, found.state)) this.#settings.onChange()
    return found
  }

  async #watch() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await pause(WATCH_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted || !this.#chosen || (await this.#isStillFit(this.#chosen))) continue
      this.#chosen.probe.close()
      await this.#searchOnce().catch(() => {}) // the next turn tries again
    }
  }

  async #isStillFit({ probe, state }: Server): Promise<boolean> {
    const now = await probe.ask().catch(() => undefined)
    return now !== undefined && isSame(now, state) && this.#isFit(now)
  }

  #isFit({ isStandby, isReadOnly, timeline }: ServerState): boolean {
    const { target } = this.#settings
    if (target === 'any') return true
    if (target === 'standby' || target === 'prefer-standby') return isStandby
    return !isStandby && timeline >= this.#newestTimeline && !(target === 'read-write' && isReadOnly)
  }
}

/** A server that was started again has lost all connections, and another server may have the same address. */
const isSame = (one: ServerState, other: ServerState) =>
  one.startedAt === other.startedAt && one.isStandby === other.isStandby

type Refusal = { host: Host; why: { code?: string; message: string } }

/** The best server that answers, or an error with the state of each. Closes the connections to all others. */
async function askAll({ hosts, target, open }: Settings, isFit: (state: ServerState) => boolean): Promise<Server> {
  const fit: Server[] = []
  const first = Promise.withResolvers<void>()
  const all = Promise.all(hosts.map(host => ask(host)))

  async function ask(host: Host): Promise<Refusal | undefined> {
    const probe = open(host)
    try {
      const state = await probe.ask()
      if (!isFit(state)) throw new Error(roleOf(state))
      fit.push({ host, probe, state })
      first.resolve()
    } catch (why) {
      probe.close()
      return { host, why: why as Refusal['why'] }
    }
  }

  await Promise.race([all, first.promise.then(() => pause(GRACE_MS, undefined, { ref: false }))])
  const [best] = fit.toSorted((one, other) => other.state.timeline - one.state.timeline)
  if (!best)
    throw noServer(
      target,
      (await all).filter(refusal => refusal !== undefined),
    )
  void all.then(() => fit.filter(server => server !== best).map(({ probe }) => probe.close()))
  return best
}

const roleOf = ({ isStandby, isReadOnly, timeline }: ServerState) =>
  isStandby ? 'it is a standby' : `it is a ${isReadOnly ? 'read-only ' : ''}primary of timeline ${timeline}`

/** With the code of all hosts if it is the same one, for example for a wrong password. */
function noServer(target: Target, refusals: Refusal[]): Error {
  const codes = new Set(refusals.map(({ why }) => why.code))
  const [code] = codes
  const each = refusals.map(({ host, why }) => `${nameOf(host)}: ${why.message || why.code}`)
  return Object.assign(new Error(`no host is ${inWords[target]} (${each.join('; ')})`), {
    code: codes.size === 1 && code !== undefined ? code : 'ECONNREFUSED',
  })
}

const inWords: Record<Target, string> = {
  any: 'there',
  'read-write': 'a primary that takes changes',
  primary: 'a primary',
  standby: 'a standby',
  'prefer-standby': 'a standby',
}
