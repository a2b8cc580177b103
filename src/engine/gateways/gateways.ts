import type { Logger } from 'pino'
import type { ChannelType } from '../../base/channel-types.ts'
import { plainName } from '../../base/content/bot-names.ts'
import { carriedNames } from '../../base/content/carried-names.ts'
import type { BoxKey } from '../../base/secret-box.ts'
import { catalogue, isConnector } from '../../channels/catalogue.ts'
import type { Channel, Feed, Receipt } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import type { Gateway, OwnState } from '../../domain/gateways/gateway.ts'
import { listGateways } from '../../domain/gateways/gateways.ts'
import { writeGatewayMinutes } from '../../domain/gateways/monitoring/minutes.ts'
import {
  gatewaysUpElsewhere,
  removeGatewayStates,
  writeGatewayStates,
} from '../../domain/gateways/monitoring/states.ts'
import { openSettings } from '../../domain/gateways/secrets.ts'
import { type Loop, repeat } from '../loop.ts'
import { MeteredChannel } from './meter.ts'
import { GatewayTally } from './tally.ts'

const REFRESH_EVERY_MS = 1000
const STATES_EVERY_MS = 2000
/** After this time a question that found no gateway counts as a new question. */
const QUESTION_MS = 5000

export type LiveGateway = {
  gateway: Gateway
  channel: MeteredChannel
  /** Chunks that it sends now. */
  busy: number
  /** How fast it took its last chunk. */
  partsPerSecond?: number
  /** Its limit is used up until this moment, on the clock of `performance.now()`. */
  restsUntil?: number
}

/** Connects a gateway. Its settings include the decrypted secrets. */
export type Connect = (gateway: Gateway, feed: Feed) => Channel

export type GatewaysContext = {
  sql: Pool
  log: Logger
  /** The id of this engine in the states of gateways. */
  worker: string
  /** Decrypts the secrets of gateways. Without it a gateway that has secrets cannot be connected. */
  key: BoxKey | undefined
  connect: Connect
  feedOf: (gateway: Gateway) => Feed
  /** The clock of the database. The minutes of the statistics follow it. */
  now?: () => Date
  /** The codes thread gives its states to the main thread, which writes one state for both. */
  giveStates?: ((states: ThreadState[]) => void) | undefined
}

/** What the codes thread has of a gateway. */
export type ThreadState = Pick<OwnState, 'gatewayId' | 'version' | 'partsLastMinute' | 'answerMs'>

/** `known`: at least one gateway serves the question. `up`: the gateways among them that can send now. */
export type Serving = {
  known: boolean
  up: LiveGateway[]
  /**
   * The gateway is not down: other engines have all its connections, or their connections are up and ours is not. The other
   * engines send the messages, so this engine must not postpone them.
   */
  isElsewhere: boolean
}

/** The gateways of the database, connected. Gateways are added, changed and removed without a restart. */
export class Gateways {
  readonly #context: GatewaysContext
  readonly #live = new Map<number, LiveGateway>()
  readonly #stopping = new Map<number, Promise<void>>()
  readonly #failed = new Map<number, ConnectError>()
  /** When a question that found no gateway was first asked. */
  readonly #unanswered = new Map<string, number>()
  readonly #tallies = new Map<number, GatewayTally>()
  #rows: Gateway[] = []
  #names = new Map<number, ReadonlySet<string> | undefined>()
  #rowsAsOf = 0
  #upElsewhere: ReadonlySet<number> = new Set()
  /** Undefined without a codes thread. */
  #ofThread: Map<number, ThreadState> | undefined
  #refreshing: Loop | undefined
  #writingStates: Loop | undefined

  private constructor(context: GatewaysContext) {
    this.#context = context
  }

  static async open(context: GatewaysContext): Promise<Gateways> {
    const gateways = new Gateways(context)
    await gateways.refresh()
    gateways.#startLoops()
    return gateways
  }

  #startLoops() {
    const { sql, log, worker, giveStates } = this.#context
    this.#refreshing = repeat('gateways', REFRESH_EVERY_MS, log, () => this.refresh())
    this.#writingStates = repeat('gateway states', STATES_EVERY_MS, log, async () => {
      if (giveStates) giveStates(this.#states())
      else await writeGatewayStates(sql, worker, this.#states())
      await this.#writeMinutes()
    })
  }

  async stop(): Promise<void> {
    const { sql, log, worker } = this.#context
    await Promise.all([this.#refreshing?.stop(), this.#writingStates?.stop()])
    for (const [gatewayId, { channel }] of this.#live) this.#stopChannel(gatewayId, channel)
    this.#live.clear()
    await Promise.all(this.#stopping.values())
    await this.#writeMinutes().catch(err => log.warn({ err }, 'gateway_minutes.not_written'))
    await removeGatewayStates(sql, worker).catch(err => log.warn({ err }, 'gateway_states.not_removed'))
  }

  // Questions of the scheduler ----------------------------------------------------------------------------------------

  /** The gateways that serve a channel and brand and carry a sender name. Without a name, its names do not matter. */
  serving(channelType: ChannelType, brandId: number, senderName?: string): Serving {
    const ids = this.carriersOf(channelType, brandId, senderName)
    const connected = this.#connected(ids)
    return {
      known: ids.size > 0 || !this.#isSurelyUnserved(channelType, brandId, senderName),
      up: connected.filter(isUp),
      isElsewhere: connected.some(({ gateway, channel }) => !gateway.paused && this.#isElsewhere(gateway, channel)),
    }
  }

  /**
   * The gateways that carry a sender name, up or not: the gateways that list the name, and only if there is none of these,
   * the gateways without a list. Messages wait for the gateway of their name while it is down or paused, because no other
   * gateway can deliver them.
   */
  carriersOf(channelType: ChannelType, brandId: number, senderName: string | undefined): Set<number> {
    const all = this.#rows.filter(gateway => serves(gateway, channelType, brandId)).map(({ gatewayId }) => gatewayId)
    if (senderName === undefined) return new Set(all)
    const own = all.filter(gatewayId => this.#names.get(gatewayId)?.has(plainName(senderName)))
    return new Set(own.length > 0 ? own : all.filter(gatewayId => !this.#names.get(gatewayId)))
  }

  /** The gateways of a channel that can send now, and how many there are in all, without paused ones. */
  ofChannel(channelType: ChannelType): { up: LiveGateway[]; all: number } {
    const rows = this.#rows.filter(row => row.channelType === channelType && !row.paused)
    const ids = new Set(rows.map(({ gatewayId }) => gatewayId))
    return { all: ids.size, up: this.#connected(ids).filter(isUp) }
  }

  /** For the codes thread, which submits over them and counts what it submits. */
  connections(): Map<number, Channel> {
    return new Map([...this.#live].map(([gatewayId, { channel }]) => [gatewayId, channel.connection]))
  }

  isPaused(gatewayId: number): boolean {
    return this.#live.get(gatewayId)?.gateway.paused ?? true
  }

  #isElsewhere({ gatewayId }: Gateway, channel: Channel): boolean {
    return channel.health().binds?.wanted === 0 || this.#upElsewhere.has(gatewayId)
  }

  #connected(ids: Set<number>): LiveGateway[] {
    return [...this.#live.values()].filter(({ gateway }) => ids.has(gateway.gatewayId))
  }

  /**
   * Messages without any gateway fail for good. A gateway may have been added a moment ago, so the answer is true only when
   * the gateways were read after the question was first asked.
   */
  #isSurelyUnserved(...question: [ChannelType, number, string | undefined]): boolean {
    const now = performance.now()
    const key = question.join(' ')
    const since = this.#unanswered.get(key)
    if (since !== undefined && now - since < QUESTION_MS) return this.#rowsAsOf > since
    this.#unanswered.set(key, now)
    return false
  }

  // Following the database --------------------------------------------------------------------------------------------

  /** A gateway was changed: reads the gateways at once. */
  hurry(): void {
    this.#refreshing?.hurry()
  }

  /** Reads the gateways, stops the removed and changed ones, and connects the new ones. */
  async refresh(): Promise<void> {
    const asOf = performance.now()
    const before = this.#rows
    const { sql, worker } = this.#context
    this.#rows = await listGateways(sql)
    this.#upElsewhere = await gatewaysUpElsewhere(sql, worker)
    this.#rowsAsOf = asOf
    this.#names = new Map(this.#rows.map(row => [row.gatewayId, carriedNames(row)]))
    for (const [key, since] of this.#unanswered) if (asOf - since >= QUESTION_MS) this.#unanswered.delete(key)
    this.#stopChanged()
    this.#connectNew()
    if (!areSame(before, this.#rows)) this.#writingStates?.hurry() // commands wait until the new version is written
  }

  #stopChanged() {
    const rows = new Map(this.#rows.map(gateway => [gateway.gatewayId, gateway]))
    for (const [gatewayId, { gateway, channel }] of this.#live) {
      const row = rows.get(gatewayId)
      if (row && sameSettings(row, gateway)) continue
      this.#live.delete(gatewayId)
      this.#stopChannel(gatewayId, channel)
    }
    for (const gatewayId of this.#failed.keys()) if (!rows.has(gatewayId)) this.#failed.delete(gatewayId)
  }

  /**
   * The channel finishes its open messages. Its gateway is connected again only after that, because the operator limits the
   * number of connections. Meanwhile only the messages of this gateway wait.
   */
  #stopChannel(gatewayId: number, channel: Channel) {
    const stopped = channel
      .stop()
      .catch(err => this.#context.log.error({ err, gatewayId }, 'gateway.not_stopped'))
      .then(() => void this.#stopping.delete(gatewayId))
    this.#stopping.set(gatewayId, stopped)
  }

  #connectNew() {
    for (const gateway of this.#rows) {
      const known = this.#live.get(gateway.gatewayId)
      if (known) known.gateway = gateway
      else if (!this.#stopping.has(gateway.gatewayId)) this.#connect(gateway)
    }
  }

  /** A gateway that cannot be connected does not affect the others. The next refresh tries it again. */
  #connect(gateway: Gateway) {
    const { key, connect, feedOf } = this.#context
    try {
      const complete = { ...gateway, settings: openSettings(gateway, key) }
      const tally = this.#tallyOf(gateway.gatewayId)
      const channel = new MeteredChannel(connect(complete, tally.counting(feedOf(gateway))), tally)
      this.#live.set(gateway.gatewayId, { gateway, channel, busy: 0 })
      this.#failed.delete(gateway.gatewayId)
    } catch (err) {
      this.#noteFailure(gateway.gatewayId, err)
    }
  }

  /** Logs an error once, not at every refresh. */
  #noteFailure(gatewayId: number, err: unknown) {
    const lastError = err instanceof Error ? err.message : String(err)
    if (this.#failed.get(gatewayId)?.lastError === lastError) return
    this.#failed.set(gatewayId, { lastError, lastErrorAt: new Date() })
    this.#context.log.error({ err, gatewayId }, 'gateway.not_connected')
  }

  /** The states of the codes thread of this engine, or undefined when it has ended. Commands wait for both threads. */
  addStatesOfThread(states: ThreadState[] | undefined): void {
    this.#ofThread = states && new Map(states.map(state => [state.gatewayId, state]))
    this.#writingStates?.hurry()
  }

  // States and statistics ---------------------------------------------------------------------------------------------

  /**
   * Counts receipts that another process took and stored. Only connectors with a webhook have such receipts; the receipts of
   * the other connectors are counted when their channel gets them.
   */
  countKept(gatewayId: number, receipts: Pick<Receipt, 'of' | 'status'>[]): void {
    const gateway = this.#live.get(gatewayId)?.gateway
    if (gateway && hasWebhook(gateway)) this.#tallyOf(gatewayId).received(receipts)
  }

  #tallyOf(gatewayId: number): GatewayTally {
    const tally = this.#tallies.get(gatewayId) ?? new GatewayTally(gatewayId, this.#context.now ?? (() => new Date()))
    this.#tallies.set(gatewayId, tally)
    return tally
  }

  async #writeMinutes() {
    for (const [gatewayId, tally] of this.#tallies) {
      const minutes = tally.changed()
      if (minutes.length > 0) await writeGatewayMinutes(this.#context.sql, this.#context.worker, minutes)
      tally.wrote(minutes)
      const isGone = !this.#live.has(gatewayId) && !this.#stopping.has(gatewayId)
      if (minutes.length === 0 && isGone) this.#tallies.delete(gatewayId)
    }
  }

  /** Without a thread there is nothing to add. A thread that does not know the gateway yet has no version of it. */
  #stateOfThread(gatewayId: number, version: number): Omit<ThreadState, 'gatewayId'> {
    if (!this.#ofThread) return { version, partsLastMinute: 0, answerMs: null }
    return this.#ofThread.get(gatewayId) ?? { version: 0, partsLastMinute: 0, answerMs: null }
  }

  #states(): OwnState[] {
    return this.#rows.map(({ gatewayId, version }) => {
      const known = this.#live.get(gatewayId)
      const state = known
        ? stateOf(gatewayId, known.channel)
        : { gatewayId, ...notConnected, ...this.#failed.get(gatewayId) }
      const ofThread = this.#stateOfThread(gatewayId, version)
      const answerMs = this.#tallies.get(gatewayId)?.answerMs() ?? null
      return {
        ...state,
        version: Math.min(version, ofThread.version),
        partsLastMinute: state.partsLastMinute + ofThread.partsLastMinute,
        answerMs: ofThread.answerMs === null ? answerMs : Math.max(answerMs ?? 0, ofThread.answerMs),
      }
    })
  }
}

const isUp = ({ gateway, channel }: LiveGateway) => !gateway.paused && channel.health().up

const areSame = (before: Gateway[], after: Gateway[]) =>
  before.length === after.length &&
  before.every(({ gatewayId, version }, i) => gatewayId === after[i]?.gatewayId && version === after[i]?.version)

const serves = (gateway: Gateway, channelType: ChannelType, brandId: number) =>
  gateway.channelType === channelType && (gateway.brands.length === 0 || gateway.brands.includes(brandId))

const sameSettings = (a: Gateway, b: Gateway) =>
  a.connector === b.connector && JSON.stringify(a.settings) === JSON.stringify(b.settings) && sameSecrets(a, b)

const sameSecrets = ({ sealed: a }: Gateway, { sealed: b }: Gateway) => (a && b ? a.equals(b) : a === b)

const hasWebhook = ({ connector }: Gateway) => isConnector(connector) && catalogue[connector].hasWebhook

type ConnectError = { lastError: string; lastErrorAt: Date }

const notConnected = {
  up: false,
  open: 0,
  window: 0,
  bound: 0,
  wanted: 0,
  partsLastMinute: 0,
  lastError: null,
  lastErrorAt: null,
}

function stateOf(gatewayId: number, channel: MeteredChannel): Omit<OwnState, 'version' | 'answerMs'> {
  const { up, open = 0, binds } = channel.health()
  return {
    ...notConnected,
    gatewayId,
    up,
    open,
    window: channel.window,
    bound: binds?.bound ?? 0,
    wanted: binds?.wanted ?? 0,
    partsLastMinute: channel.partsLastMinute(),
    ...channel.lastError(),
  }
}
