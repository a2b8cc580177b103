import type { Logger } from 'pino'
import type { Channel, Feed } from '../channels/channel.ts'
import { createSimulator, type Outbox, type SimulatorSettings } from '../channels/simulator/simulator.ts'
import type { Pool } from '../db/sql.ts'
import type { Gateway } from '../domain/gateways/gateway.ts'
import { keepSimulated, takeSimulatedInbound, unreportedSimulated } from '../domain/gateways/gateways.ts'
import { repeat } from './loop.ts'

export type ConnectorContext = { sql: Pool; log: Logger; worker: string }

/** Builds the channel of a gateway by the name of its connector. */
export function connectGateway(context: ConnectorContext, gateway: Gateway, feed: Feed): Channel {
  const connector = connectors[gateway.connector]
  if (!connector) throw new Error(`gateway ${gateway.name} has an unknown connector "${gateway.connector}"`)
  return connector(context, gateway, feed)
}

export const connectorNames = () => Object.keys(connectors)

const INBOUND_EVERY_MS = 500
const REPORT_AGAIN_EVERY_MS = 10_000
const UNREPORTED_AFTER_SECONDS = 10

const connectors: Record<string, (context: ConnectorContext, gateway: Gateway, feed: Feed) => Channel> = {
  simulator({ sql, log, worker }, { gatewayId, channelType, settings }, feed) {
    const outbox: Outbox = {
      async keep(messages) {
        await keepSimulated(sql, gatewayId, worker, messages)
      },
    }
    const simulator = createSimulator(settings as SimulatorSettings, outbox, feed)
    // An operator goes on when an engine is killed: what it had taken and not reported yet, it reports to the others.
    let afterSeconds = 0
    const loop = repeat('simulator', REPORT_AGAIN_EVERY_MS, log, async () => {
      for (const message of await unreportedSimulated(sql, gatewayId, worker, afterSeconds))
        simulator.reportAgain(message)
      afterSeconds = UNREPORTED_AFTER_SECONDS
    })
    const inbound = repeat('simulator inbound', INBOUND_EVERY_MS, log, () =>
      takeSimulatedInbound(sql, channelType, message => feed.inbound(message)),
    )
    return {
      ...simulator,
      async stop() {
        await loop.stop()
        await inbound.stop()
        await simulator.stop()
      },
    }
  },
}
