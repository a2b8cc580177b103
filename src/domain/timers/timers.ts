import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { DueTimer, Timer } from './timer.ts'

export type { DueTimer, Timer } from './timer.ts'

export async function setTimers(sql: Sql, companyId: number, timers: Timer[]): Promise<void> {
  if (timers.length > 0) await store.upsertTimers(sql, companyId, timers)
}

/** Timers whose moment has come, taken for a while: who takes them and dies leaves them to the next. */
export const takeTimers = (sql: Sql, now: Date, limit: number): Promise<DueTimer[]> =>
  store.claimTimers(sql, now, limit)

/** They have been seen to. */
export async function dropTimers(sql: Sql, timers: DueTimer[]): Promise<void> {
  if (timers.length > 0) await store.deleteTimers(sql, timers)
}
