import type { Logger } from 'pino'
import type { ChannelType } from '../base/channel-types.ts'
import type { Channel, Feed } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import type { Gateway } from '../domain/gateways/gateway.ts'
import { listGateways } from '../domain/gateways/gateways.ts'
import { type Loop, repeat } from './loop.ts'

const LOOK_EVERY_MS = 1000

export type LiveGateway = { gateway: Gateway; channel: Channel; busy: number }

export type Gateways = {
  /** Those that serve a channel and brand: whether there are any, and those that can take something now. */
  serving(channelType: ChannelType, brandId: number): { known: boolean; up: LiveGateway[] }
  look(): Promise<void>
  stop(): Promise<void>
}

export type Connect = (gateway: Gateway, feed: Feed) => Channel

/** The gateways of the database, connected; they come, go and change without a restart. */
export async function keepGateways(context: {
  sql: Pool
  log: Logger
  connect: Connect
  feedOf: (gateway: Gateway) => Feed
}): Promise<Gateways> {
  const live = new Map<number, LiveGateway>()
  const leaving = new Map<number, Promise<void>>()
  let rows: Gateway[] = []

  async function look() {
    rows = await listGateways(context.sql)
    const wanted = new Map(rows.map(gateway => [gateway.gatewayId, gateway]))
    for (const [id, { gateway, channel }] of live) {
      const row = wanted.get(id)
      if (row && sameSettings(row, gateway)) continue
      live.delete(id)
      leave(id, channel)
    }
    for (const gateway of rows) {
      const known = live.get(gateway.gatewayId)
      if (known) known.gateway = gateway
      else if (!leaving.has(gateway.gatewayId)) connect(gateway)
    }
  }

  /**
   * A channel ends what it has under way; only then its gateway is connected anew, because an operator allows so many
   * connections and no more. Meanwhile its messages wait, and nobody else does.
   */
  function leave(gatewayId: number, channel: Channel) {
    const left = channel
      .stop()
      .catch(err => context.log.error({ err, gatewayId }, 'gateway.not_stopped'))
      .then(() => void leaving.delete(gatewayId))
    leaving.set(gatewayId, left)
  }

  /** One that cannot be connected does not hinder the others; it is tried again at the next look. */
  function connect(gateway: Gateway) {
    try {
      const channel = context.connect(gateway, context.feedOf(gateway))
      live.set(gateway.gatewayId, { gateway, channel, busy: 0 })
    } catch (err) {
      context.log.error({ err, gatewayId: gateway.gatewayId }, 'gateway.not_connected')
    }
  }

  await look()
  const loop: Loop = repeat('gateways', LOOK_EVERY_MS, context.log, look)

  return {
    look,
    serving(channelType, brandId) {
      const all = [...live.values()].filter(({ gateway }) => serves(gateway, channelType, brandId))
      return {
        known: rows.some(gateway => serves(gateway, channelType, brandId)),
        up: all.filter(({ gateway, channel }) => !gateway.paused && channel.health().up),
      }
    },
    async stop() {
      await loop.stop()
      for (const [gatewayId, { channel }] of live) leave(gatewayId, channel)
      live.clear()
      await Promise.all(leaving.values())
    },
  }
}

const serves = (gateway: Gateway, channelType: ChannelType, brandId: number) =>
  gateway.channelType === channelType && (gateway.brands.length === 0 || gateway.brands.includes(brandId))

const sameSettings = (a: Gateway, b: Gateway) =>
  a.connector === b.connector && JSON.stringify(a.settings) === JSON.stringify(b.settings)
