import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../../../db/sql.ts'
import type { Gateway, GatewayState, OwnState } from '../gateway.ts'
import * as store from './state-store.ts'

export { gatewayEngines } from './state-store.ts'

/** Replaces the states of an engine's gateways. */
export async function writeGatewayStates(sql: Sql, worker: string, states: OwnState[]): Promise<void> {
  await store.deleteOthers(
    sql,
    worker,
    states.map(({ gatewayId }) => gatewayId),
  )
  if (states.length > 0) await store.upsertStates(sql, worker, states)
}

/** Removes the states of an engine that stops. */
export async function removeGatewayStates(sql: Sql, worker: string): Promise<void> {
  await store.deleteOthers(sql, worker, [])
}

/** The gateways that other engines than this one can use. */
export async function gatewaysUpElsewhere(sql: Sql, worker: string): Promise<Set<number>> {
  return new Set((await store.selectUpElsewhere(sql, worker)).map(({ gatewayId }) => gatewayId))
}

/** The states of the gateways that an engine runs. Stopped engines are not counted. */
export async function gatewayStates(sql: Sql): Promise<Map<number, GatewayState>> {
  const states = await store.selectStates(sql)
  return new Map(states.map(state => [state.gatewayId, state]))
}

/**
 * Waits until every engine uses this version of the gateway. Returns how many engines do not: 0 after a pause means that
 * no engine submits another message to it.
 */
export const waitForEngines = (sql: Sql, { gatewayId, version }: Gateway, patienceMs = PATIENCE_MS): Promise<number> =>
  untilNone(() => store.countBehind(sql, gatewayId, version), patienceMs)

/** Waits until no engine uses a removed gateway. Returns how many engines still do. */
export const waitForRelease = (sql: Sql, gatewayId: number, patienceMs = PATIENCE_MS): Promise<number> =>
  untilNone(() => store.countHolders(sql, gatewayId), patienceMs)

/** Engines learn of a change at once. A killed engine is counted for ten seconds, so the wait is a little longer. */
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

/** The accepted parts per second, over the last minute. */
export const partsPerSecondOf = ({ partsLastMinute }: Pick<GatewayState, 'partsLastMinute'>): number =>
  Math.round((partsLastMinute / 60) * 100) / 100
