import { reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import type { DueExpiry, DueTimer, Expiry, Timer, TimerKind } from './timer.ts'

/** For messages that are created in this transaction, so none of the rows can exist. */
export function insertTimers(sql: Sql, companyId: number, timers: Timer[]) {
  return sql`
    insert into message_timers (company_id, message_uuid, kind, due_at)
    select c.company_id, q.* from companies c, unnest(
      ${timers.map(({ uuid }) => uuid)}::uuid[], ${timers.map(({ kind }) => kind)}::text[],
      ${timers.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q
    where c.company_id = ${companyId}`
}

/** If a timer exists, the earlier time counts. */
export function upsertTimers(sql: Sql, companyId: number, timers: Timer[]) {
  return sql`
    insert into message_timers as t (company_id, message_uuid, kind, due_at)
    select c.company_id, q.* from companies c, unnest(
      ${timers.map(({ uuid }) => uuid)}::uuid[], ${timers.map(({ kind }) => kind)}::text[],
      ${timers.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q
    where c.company_id = ${companyId}
    on conflict (company_id, message_uuid, kind) do update set due_at = least(t.due_at, excluded.due_at)`
}

/** Timers of all companies that are due and that no engine has claimed. */
export const selectDueTimers = (sql: Sql, now: Date, limit: number) => sql<DueTimer[]>`
  select company_id, message_uuid as uuid, kind from message_timers
  where due_at <= ${now} and claimed_until < statement_timestamp() ${reachable(sql)}
  order by due_at limit ${limit}`

/** Claims timers of a company for 30 seconds. If the engine crashes, another engine claims them afterwards. */
export function claimTimers(sql: Sql, companyId: number, timers: DueTimer[], now: Date) {
  return sql<DueTimer[]>`
    update message_timers t set claimed_until = statement_timestamp() + interval '30 seconds'
    from unnest(${timers.map(({ uuid }) => uuid)}::uuid[], ${timers.map(({ kind }) => kind)}::text[]) due (uuid, kind)
    where t.company_id = ${companyId} and t.message_uuid = due.uuid and t.kind = due.kind
      and t.due_at <= ${now} and t.claimed_until < statement_timestamp()
    returning t.company_id, t.message_uuid as uuid, t.kind`
}

export function deleteTimers(sql: Sql, companyId: number, kind: TimerKind, uuids: string[]) {
  return sql<{ uuid: string }[]>`
    delete from message_timers
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and kind = ${kind}
    returning message_uuid as uuid`
}

// Expiries --------------------------------------------------------------------------------------------------------

/** For messages that are created in this transaction, so none of the rows can exist. */
export function insertExpiries(sql: Sql, companyId: number, expiries: Expiry[]) {
  return sql`
    insert into expiries (company_id, first_uuid, last_uuid, message_count, due_at)
    select c.company_id, q.* from companies c, unnest(
      ${expiries.map(({ firstUuid }) => firstUuid)}::uuid[], ${expiries.map(({ lastUuid }) => lastUuid)}::uuid[],
      ${expiries.map(({ messageCount }) => messageCount)}::int[],
      ${expiries.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q
    where c.company_id = ${companyId}`
}

/** Expiries of all companies that are due and that no engine has claimed. */
export const selectDueExpiries = (sql: Sql, now: Date, limit: number) => sql<DueExpiry[]>`
  select company_id, first_uuid, last_uuid, message_count, due_at from expiries
  where due_at <= ${now} and claimed_until < statement_timestamp() ${reachable(sql)}
  order by due_at limit ${limit}`

/** Claims expiries of a company for 30 seconds. If the engine crashes, another engine claims them afterwards. */
export function claimExpiries(sql: Sql, companyId: number, due: DueExpiry[], now: Date) {
  return sql<DueExpiry[]>`
    update expiries set claimed_until = statement_timestamp() + interval '30 seconds'
    where company_id = ${companyId} and first_uuid = any(${due.map(({ firstUuid }) => firstUuid)}::uuid[])
      and due_at <= ${now} and claimed_until < statement_timestamp()
    returning company_id, first_uuid, last_uuid, message_count, due_at`
}

export const deleteExpiries = (sql: Sql, companyId: number, firstUuids: string[]) => sql`
  delete from expiries where company_id = ${companyId} and first_uuid = any(${firstUuids}::uuid[])`
