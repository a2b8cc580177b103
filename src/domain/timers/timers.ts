import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { DueTimer, Timer, TimerKind } from './timer.ts'

export type { Timer, TimerKind } from './timer.ts'

/** Claims due timers, at most `limit`. */
export const takeTimers = async (sql: Sql, now: Date, limit: number): Promise<DueTimer[]> =>
  byCompany(await acrossCompanies(sql, () => store.selectDueTimers(sql, now, limit)), (companyId, due) =>
    store.claimTimers(sql, companyId, due, now),
  )

export async function setTimers(sql: Sql, companyId: number, timers: Timer[]): Promise<void> {
  if (timers.length > 0) await store.upsertTimers(sql, companyId, timers)
}

/** The timers of messages that are new in this transaction. */
export async function setFirstTimers(sql: Sql, companyId: number, timers: Timer[]): Promise<void> {
  if (timers.length > 0) await store.insertTimers(sql, companyId, timers)
}

/** Deletes timers that were handled, and returns the messages whose timers still existed. A second caller gets none. */
export async function dropTimers(sql: Sql, companyId: number, kind: TimerKind, uuids: string[]): Promise<string[]> {
  if (uuids.length === 0) return []
  return (await store.deleteTimers(sql, companyId, kind, uuids)).map(({ uuid }) => uuid)
}
