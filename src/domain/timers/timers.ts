import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { DueTimer, Timer, TimerKind } from './timer.ts'

export type { Timer, TimerKind } from './timer.ts'

export async function setTimers(sql: Sql, companyId: number, timers: Timer[]): Promise<void> {
  if (timers.length > 0) await store.upsertTimers(sql, companyId, timers)
}

/** The timers of messages that are new in this transaction. */
export async function setFirstTimers(sql: Sql, companyId: number, timers: Timer[]): Promise<void> {
  if (timers.length > 0) await store.insertTimers(sql, companyId, timers)
}

/** Timers whose moment has come, taken for a while: who takes them and dies leaves them to the next. */
export const takeTimers = (sql: Sql, now: Date, limit: number): Promise<DueTimer[]> =>
  store.claimTimers(sql, now, limit)

/** They have been seen to. Gives back whose timers were still there: who comes second finds none. */
export async function dropTimers(sql: Sql, companyId: number, kind: TimerKind, uuids: string[]): Promise<string[]> {
  if (uuids.length === 0) return []
  return (await store.deleteTimers(sql, companyId, kind, uuids)).map(({ uuid }) => uuid)
}
