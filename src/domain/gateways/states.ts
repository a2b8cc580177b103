import type { Sql } from '../../db/sql.ts'
import type { GatewayState, OwnState } from './gateway.ts'
import * as store from './state-store.ts'

/** Writes down how an engine's gateways are doing, in place of what it wrote before. */
export async function writeGatewayStates(sql: Sql, worker: string, states: OwnState[]): Promise<void> {
  await store.deleteOthers(
    sql,
    worker,
    states.map(({ gatewayId }) => gatewayId),
  )
  if (states.length > 0) await store.upsertStates(sql, worker, states)
}

/** An engine that stops takes its word with it. */
export async function removeGatewayStates(sql: Sql, worker: string): Promise<void> {
  await store.deleteOthers(sql, worker, [])
}

/** Of those gateways that an engine has in hand; engines that are gone count no more. */
export async function gatewayStates(sql: Sql): Promise<Map<number, GatewayState>> {
  const states = await store.selectStates(sql)
  return new Map(states.map(state => [state.gatewayId, state]))
}

/** Parts that were taken a second, over the last minute. */
export const partsPerSecondOf = ({ partsLastMinute }: Pick<GatewayState, 'partsLastMinute'>): number =>
  Math.round((partsLastMinute / 60) * 100) / 100
