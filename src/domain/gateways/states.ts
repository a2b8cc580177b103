import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../../db/sql.ts'
import type { Gateway, GatewayState, OwnState } from './gateway.ts'
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

/**
 * Waits until every engine goes by the gateway as it is now, and tells how many do not. After a pause, then, none hands
 * it another message.
 */
export const followed = (sql: Sql, { gatewayId, version }: Gateway, patienceMs = PATIENCE_MS): Promise<number> =>
  untilNone(() => store.countBehind(sql, gatewayId, version), patienceMs)

/** Waits until no engine has a gateway that was removed, and tells how many still have it. */
export const letGo = (sql: Sql, gatewayId: number, patienceMs = PATIENCE_MS): Promise<number> =>
  untilNone(() => store.countHolders(sql, gatewayId), patienceMs)

/** Engines learn of a change at once. A killed engine counts for ten seconds more: a little longer than that. */
const PATIENCE_MS = 12_000
const LOOK_EVERY_MS = 20

async function untilNone(count: () => Promise<{ engines: number }[]>, patienceMs: number): Promise<number> {
  const until = performance.now() + patienceMs
  for (;;) {
    const [row] = await count()
    if (row!.engines === 0 || performance.now() > until) return row!.engines
    await pause(LOOK_EVERY_MS)
  }
}

/** Parts that were taken a second, over the last minute. */
export const partsPerSecondOf = ({ partsLastMinute }: Pick<GatewayState, 'partsLastMinute'>): number =>
  Math.round((partsLastMinute / 60) * 100) / 100
