import type { Logger } from 'pino'
import { createBatcher } from '../../base/concurrency/batcher.ts'
import { piecesOf } from '../../base/pieces.ts'
import type { CallingChannel } from '../../channels/calling-channel.ts'
import { isConnector } from '../../channels/catalogue.ts'
import type { Channel, Feed, Outgoing } from '../../channels/channel.ts'
import type { ConnectorName } from '../../channels/connector-names.ts'
import { createHttpGateway } from '../../channels/http/http.ts'
import { createPush } from '../../channels/push/push.ts'
import { type Outbox, Simulator } from '../../channels/simulator/simulator.ts'
import { createTelegramBot } from '../../channels/telegram/bot.ts'
import { createTelegramGateway } from '../../channels/telegram/gateway.ts'
import { createWhatsapp } from '../../channels/whatsapp/whatsapp.ts'
import type { Pool } from '../../db/sql.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { storeSimulated, takeSimulatedInbound, unreportedSimulated } from '../../domain/gateways/gateways.ts'
import { repeat } from '../loop.ts'
import { SharedWindow } from './shared-window.ts'
import { connectSmpp, connectSmppOnce } from './smpp.ts'

export type ConnectorContext = { sql: Pool; log: Logger; worker: string }

type Connector<Context, Built = Channel> = (context: Context, gateway: Gateway, feed: Feed) => Built
type OnceContext = Omit<ConnectorContext, 'worker'>

/** Builds the channel of a gateway by the name of its connector. The settings include the decrypted secrets. */
export const connectGateway: Connector<ConnectorContext> = (context, gateway, feed) =>
  connectorOf(connectors, gateway)(context, gateway, feed)

/** Connectors that call their provider for each message. */
const calling = {
  whatsapp: (_, { settings }, feed) => createWhatsapp(settings, feed),
  telegram: (_, { settings }, feed) => createTelegramBot(settings, feed),
  'telegram-gateway': (_, { settings }, feed) => createTelegramGateway(settings, feed),
  http: (_, { settings }, feed) => createHttpGateway(settings, feed),
  push: (_, { settings }, feed) => createPush(settings, feed),
} satisfies Partial<Record<ConnectorName, Connector<OnceContext, CallingChannel>>>

/** The provider limits the calls of all engines together. */
const sharing =
  (connect: Connector<ConnectorContext, CallingChannel>): Connector<ConnectorContext> =>
  (context, gateway, feed) =>
    new SharedWindow(context, gateway.gatewayId, connect(context, gateway, feed))

const connectors: Record<ConnectorName, Connector<ConnectorContext>> = {
  whatsapp: sharing(calling.whatsapp),
  telegram: sharing(calling.telegram),
  'telegram-gateway': sharing(calling['telegram-gateway']),
  http: sharing(calling.http),
  push: sharing(calling.push),
  simulator: connectSimulator,
  smpp: connectSmpp,
}

/** Builds a channel for one trial message. It has its own connection, in addition to the connections of the engines. */
export const connectOnce: Connector<OnceContext> = (context, gateway, feed) =>
  connectorOf(connectorsOnce, gateway)(context, gateway, feed)

const connectorsOnce: Record<ConnectorName, Connector<OnceContext>> = {
  ...calling,
  simulator: (_, gateway, feed) => new Simulator(gateway.settings, { keep: async () => {} }, feed),
  smpp: connectSmppOnce,
}

function connectorOf<T>(known: Record<ConnectorName, T>, { connector }: Gateway): T {
  if (!isConnector(connector)) throw new Error(`the connector "${connector}" is not known to this version`)
  return known[connector]
}

const INBOUND_EVERY_MS = 500
const MOST_IN_BATCH = 2000
const REPORT_AGAIN_EVERY_MS = 10_000
const UNREPORTED_AFTER_SECONDS = 10
const ANY_AGE = { least: 0, most: 1e9 }
/** A kill is noticed, and the lost messages are sent again, within this time. */
const PATIENCE_SECONDS = 600

/** Simulated operators without the work that an engine repeats for them. */
export function openSimulator({ sql, worker }: ConnectorContext, gateway: Gateway, feed: Feed): Simulator {
  // Small chunks that are sent together are stored together.
  const keep = createBatcher(async (chunks: Outgoing[][]) => {
    for (const some of piecesOf(chunks.flat(), MOST_IN_BATCH))
      await storeSimulated(sql, gateway.gatewayId, worker, some)
    return chunks.map(() => undefined)
  })
  const outbox: Outbox = { keep }
  return new Simulator(gateway.settings, outbox, feed)
}

function connectSimulator(context: ConnectorContext, gateway: Gateway, feed: Feed): Channel {
  const { sql, log, worker } = context
  const { gatewayId, channelType } = gateway
  const simulator = openSimulator(context, gateway, feed)
  // A real operator reports also after an engine was killed. So the other engines report the messages of the killed engine:
  // first all of them, then those whose receipts were planned when an engine was killed meanwhile.
  let age = ANY_AGE
  const loop = repeat('simulator', REPORT_AGAIN_EVERY_MS, log, async () => {
    for (const message of await unreportedSimulated(sql, gatewayId, worker, age)) simulator.reportAgain(message)
    age = { least: UNREPORTED_AFTER_SECONDS, most: simulator.receiptSeconds + PATIENCE_SECONDS }
  })
  const inbound = repeat('simulator inbound', INBOUND_EVERY_MS, log, () =>
    takeSimulatedInbound(sql, channelType, message => feed.inbound(message)),
  )
  return {
    window: simulator.window,
    submit: (...given) => simulator.submit(...given),
    health: () => simulator.health(),
    async stop() {
      await loop.stop()
      await inbound.stop()
      await simulator.stop()
    },
  }
}
