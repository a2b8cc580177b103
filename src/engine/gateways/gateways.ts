import type { Logger } from 'pino'
import { plainName } from '../../base/bot-names.ts'
import { carriedNames } from '../../base/carried-names.ts'
import type { ChannelType } from '../../base/channel-types.ts'
import type { BoxKey } from '../../base/secret-box.ts'
import { catalogue, isConnector } from '../../channels/catalogue.ts'
import type { Channel, Feed, Receipt } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import type { Gateway, OwnState } from '../../domain/gateways/gateway.ts'
import { listGateways } from '../../domain/gateways/gateways.ts'
import { writeGatewayMinutes } from '../../domain/gateways/minutes.ts'
import { openSettings } from '../../domain/gateways/secrets.ts'
import { removeGatewayStates, writeGatewayStates } from '../../domain/gateways/states.ts'
import { type Loop, repeat } from '../loop.ts'
import { type MeteredChannel, metered } from './meter.ts'
import { GatewayTally } from './tally.ts'

const LOOK_EVERY_MS = 1000
const STATES_EVERY_MS = 2000
/** A question to which nobody was found is asked anew after this. */
const DOUBT_MS = 5000

/** `partsPerSecond`: how fast its last chunk went. */
export type LiveGateway = { gateway: Gateway; channel: MeteredChannel; busy: number; partsPerSecond?: number }

export type Gateways = {
  /**
   * Those that serve a channel and brand, and carry what is sent under a name: whether there are any, and those that
   * can take something now. Without a name, whatever names they carry.
   */
  serving(channelType: ChannelType, brandId: number, senderName?: string): Serving
  /** The gateways that carry what is sent under a name, whether they are up or not. */
  carriersOf(channelType: ChannelType, brandId: number, senderName: string): Set<number>
  /** The gateways of a channel that can take something now, and how many there are in all. */
  ofChannel(channelType: ChannelType): { up: LiveGateway[]; all: number }
  /** Counts receipts that came to another process, which kept them for us: those of connectors with a webhook. */
  countKept(gatewayId: number, receipts: Pick<Receipt, 'of' | 'status'>[]): void
  look(): Promise<void>
  /** Something was changed: looks at once. */
  hurry(): void
  stop(): Promise<void>
}

export type Serving = { known: boolean; up: LiveGateway[]; isElsewhere: boolean }

/** The gateway comes with its settings complete: those that are secret are in them. */
export type Connect = (gateway: Gateway, feed: Feed) => Channel

export type GatewaysContext = {
  sql: Pool
  log: Logger
  /** Who we are, for those who ask how gateways are doing. */
  worker: string
  /** Opens the secrets of gateways; those that have some cannot be connected without it. */
  key: BoxKey | undefined
  connect: Connect
  feedOf: (gateway: Gateway) => Feed
  /** The database's clock: minutes are counted by it. */
  now?: () => Date
}

/** The gateways of the database, connected; they come, go and change without a restart. */
export async function keepGateways(context: GatewaysContext): Promise<Gateways> {
  const { sql, log, worker, now = () => new Date() } = context
  const live = new Map<number, LiveGateway>()
  const leaving = new Map<number, Promise<void>>()
  const failed = new Map<number, Failed>()
  const doubts = new Map<string, number>()
  const tallies = new Map<number, GatewayTally>()
  let rows: Gateway[] = []
  let names = new Map<number, ReadonlySet<string> | undefined>()
  let rowsAsOf = 0
  let states: Loop | undefined

  async function look() {
    const asOf = performance.now()
    const before = rows
    rows = await listGateways(sql)
    rowsAsOf = asOf
    names = new Map(rows.map(row => [row.gatewayId, carriedNames(row)]))
    forgetDoubts(asOf)
    const wanted = new Map(rows.map(gateway => [gateway.gatewayId, gateway]))
    for (const [id, { gateway, channel }] of live) {
      const row = wanted.get(id)
      if (row && sameSettings(row, gateway)) continue
      live.delete(id)
      leave(id, channel)
    }
    for (const id of failed.keys()) if (!wanted.has(id)) failed.delete(id)
    for (const gateway of rows) {
      const known = live.get(gateway.gatewayId)
      if (known) known.gateway = gateway
      else if (!leaving.has(gateway.gatewayId)) connect(gateway)
    }
    if (!areSame(before, rows)) states?.hurry() // commands wait for this version
  }

  /**
   * A channel ends what it has under way; only then its gateway is connected anew, because an operator allows so many
   * connections and no more. Meanwhile its messages wait, and nobody else does.
   */
  function leave(gatewayId: number, channel: Channel) {
    const left = channel
      .stop()
      .catch(err => log.error({ err, gatewayId }, 'gateway.not_stopped'))
      .then(() => void leaving.delete(gatewayId))
    leaving.set(gatewayId, left)
  }

  /** One that cannot be connected does not hinder the others; it is tried again at the next look. */
  function connect(gateway: Gateway) {
    try {
      const complete = { ...gateway, settings: openSettings(gateway, context.key) }
      const tally = tallyOf(gateway.gatewayId)
      const channel = metered(context.connect(complete, tally.counting(context.feedOf(gateway))), tally)
      live.set(gateway.gatewayId, { gateway, channel, busy: 0 })
      failed.delete(gateway.gatewayId)
    } catch (err) {
      noteFailure(gateway.gatewayId, err as Error)
    }
  }

  function tallyOf(gatewayId: number): GatewayTally {
    const tally = tallies.get(gatewayId) ?? new GatewayTally(gatewayId, now)
    tallies.set(gatewayId, tally)
    return tally
  }

  async function writeMinutes() {
    for (const [gatewayId, tally] of tallies) {
      const rows = tally.changed()
      if (rows.length > 0) await writeGatewayMinutes(sql, worker, rows)
      tally.wrote(rows)
      const isOver = rows.length === 0 && !live.has(gatewayId) && !leaving.has(gatewayId)
      if (isOver) tallies.delete(gatewayId)
    }
  }

  /** Told once, not at every look. */
  function noteFailure(gatewayId: number, err: Error) {
    if (failed.get(gatewayId)?.lastError === err.message) return
    failed.set(gatewayId, { lastError: err.message, lastErrorAt: new Date() })
    log.error({ err, gatewayId }, 'gateway.not_connected')
  }

  /**
   * Those whose own name it is; only where there is none, those that carry every name. One that is down or paused is
   * still the one: its messages wait for it, as they would reach nobody through another.
   */
  function routesOf(channelType: ChannelType, brandId: number, senderName: string | undefined): Set<number> {
    const all = rows.filter(gateway => serves(gateway, channelType, brandId)).map(({ gatewayId }) => gatewayId)
    if (senderName === undefined) return new Set(all)
    const own = all.filter(gatewayId => names.get(gatewayId)?.has(plainName(senderName)))
    return new Set(own.length > 0 ? own : all.filter(gatewayId => !names.get(gatewayId)))
  }

  /**
   * Where nobody serves, messages end for good: so that is said only when a look that began after the question has found
   * nobody. A gateway may have been added a moment ago.
   */
  function isSurelyUnserved(...question: [ChannelType, number, string | undefined]): boolean {
    const now = performance.now()
    const key = question.join(' ')
    const since = doubts.get(key)
    if (since !== undefined && now - since < DOUBT_MS) return rowsAsOf > since
    doubts.set(key, now)
    return false
  }

  function forgetDoubts(now: number) {
    for (const [key, since] of doubts) if (now - since >= DOUBT_MS) doubts.delete(key)
  }

  const statesNow = (): OwnState[] =>
    rows.map(({ gatewayId, version }) => {
      const known = live.get(gatewayId)
      const state = known ? stateOf(gatewayId, known.channel) : { gatewayId, ...notConnected, ...failed.get(gatewayId) }
      return { ...state, version, answerMs: tallies.get(gatewayId)?.answerMs() ?? null }
    })

  await look()
  const looks = repeat('gateways', LOOK_EVERY_MS, log, look)
  states = repeat('gateway states', STATES_EVERY_MS, log, async () => {
    await writeGatewayStates(sql, worker, statesNow())
    await writeMinutes()
  })

  return {
    look,
    countKept(gatewayId, receipts) {
      const gateway = live.get(gatewayId)?.gateway
      if (gateway && hasWebhook(gateway)) tallyOf(gatewayId).received(receipts)
    },
    hurry: () => looks.hurry(),
    serving(channelType, brandId, senderName) {
      const routes = routesOf(channelType, brandId, senderName)
      const all = [...live.values()].filter(({ gateway }) => routes.has(gateway.gatewayId))
      return {
        known: routes.size > 0 || !isSurelyUnserved(channelType, brandId, senderName),
        up: all.filter(({ gateway, channel }) => !gateway.paused && channel.health().up),
        // All its connections are in the hands of other engines: it is not down, and they go on with it.
        isElsewhere: all.some(({ gateway, channel }) => !gateway.paused && channel.health().binds?.wanted === 0),
      }
    },
    carriersOf: routesOf,
    ofChannel(channelType) {
      const ids = new Set(rows.filter(row => row.channelType === channelType).map(({ gatewayId }) => gatewayId))
      const connected = [...live.values()].filter(({ gateway }) => ids.has(gateway.gatewayId))
      return { all: ids.size, up: connected.filter(({ gateway, channel }) => !gateway.paused && channel.health().up) }
    },
    async stop() {
      await Promise.all([looks, states].map(loop => loop.stop()))
      for (const [gatewayId, { channel }] of live) leave(gatewayId, channel)
      live.clear()
      await Promise.all(leaving.values())
      await writeMinutes().catch(err => log.warn({ err }, 'gateway_minutes.not_written'))
      await removeGatewayStates(sql, worker).catch(err => log.warn({ err }, 'gateway_states.not_removed'))
    },
  }
}

const areSame = (before: Gateway[], after: Gateway[]) =>
  before.length === after.length &&
  before.every(({ gatewayId, version }, i) => gatewayId === after[i]!.gatewayId && version === after[i]!.version)

const serves = (gateway: Gateway, channelType: ChannelType, brandId: number) =>
  gateway.channelType === channelType && (gateway.brands.length === 0 || gateway.brands.includes(brandId))

const sameSettings = (a: Gateway, b: Gateway) =>
  a.connector === b.connector && JSON.stringify(a.settings) === JSON.stringify(b.settings) && sameSecrets(a, b)

const sameSecrets = ({ sealed: a }: Gateway, { sealed: b }: Gateway) => (a && b ? a.equals(b) : a === b)

const hasWebhook = ({ connector }: Gateway) => isConnector(connector) && catalogue[connector].hasWebhook

type Failed = { lastError: string; lastErrorAt: Date }

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
    ...channel.lastTrouble(),
  }
}
