import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import type { DueExpiry, DueTimer, Expiry, Timer, TimerKind } from './timer.ts'

export type { DueExpiry, Timer, TimerKind } from './timer.ts'

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

/** Sets the ends of messages that are new in this transaction: one row for all messages that end at the same moment. */
export async function setExpiries(
  sql: Sql,
  companyId: number,
  messages: { uuid: string; expiresAt: Date }[],
): Promise<void> {
  if (messages.length === 0) return
  const alike = Map.groupBy(messages, ({ expiresAt }) => expiresAt.getTime())
  const expiries = [...alike].map(([dueAt, group]): Expiry => {
    const uuids = group.map(({ uuid }) => uuid).sort()
    return { firstUuid: uuids[0]!, lastUuid: uuids.at(-1)!, messageCount: uuids.length, dueAt: new Date(dueAt) }
  })
  await store.insertExpiries(sql, companyId, expiries)
}

/** Claims expiries that are due, with at most `mostMessages` messages together, or one expiry with more. */
export async function takeExpiries(sql: Sql, now: Date, mostMessages: number): Promise<DueExpiry[]> {
  const due = await acrossCompanies(sql, () => store.selectDueExpiries(sql, now, mostMessages))
  return byCompany(withMessages(due, mostMessages), (companyId, some) => store.claimExpiries(sql, companyId, some, now))
}

/** The first expiries, as far as they have at most so many messages together; at least one. */
function withMessages(due: readonly DueExpiry[], most: number): DueExpiry[] {
  let messages = 0
  return due.filter(({ messageCount }, i) => {
    messages += messageCount
    return i === 0 || messages <= most
  })
}

export async function dropExpiries(sql: Sql, companyId: number, expiries: DueExpiry[]): Promise<void> {
  if (expiries.length === 0) return
  await store.deleteExpiries(
    sql,
    companyId,
    expiries.map(({ firstUuid }) => firstUuid),
  )
}
