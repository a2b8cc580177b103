import { channelTypes } from '../../base/channel-types.ts'
import type { Sql } from '../../db/sql.ts'
import type { Gateway } from './gateway.ts'
import * as store from './store.ts'

export const listGateways = (sql: Sql): Promise<Gateway[]> => store.selectGateways(sql)

export async function addGateway(
  sql: Sql,
  gateway: Omit<Gateway, 'gatewayId' | 'paused'>,
): Promise<Gateway | undefined> {
  const [added] = await store.insertGateway(sql, gateway)
  return added
}

/** Simulated operators for every channel: only in demo mode, or where someone adds one by hand. */
export async function addSimulators(sql: Sql): Promise<void> {
  for (const channelType of channelTypes) {
    await addGateway(sql, {
      name: `simulator-${channelType.toLowerCase()}`,
      channelType,
      connector: 'simulator',
      brands: [],
      settings: {},
      partsPerSecond: null,
    })
  }
}

const OUTBOX_SIZE = 100_000

export const keepSimulated = (sql: Sql, gatewayId: number, worker: string, messages: store.SimulatedMessage[]) =>
  store.insertSimulated(sql, gatewayId, worker, messages)

/** What a simulated operator took from another engine longer ago than this, and never reported: that one is gone. */
export const unreportedSimulated = (sql: Sql, gatewayId: number, worker: string, afterSeconds: number) =>
  store.selectUnreported(sql, gatewayId, worker, afterSeconds)

export const simulatorOutbox = (sql: Sql) => store.selectOutbox(sql)

export const trimOutbox = (sql: Sql) => store.trimSimulated(sql, OUTBOX_SIZE)
