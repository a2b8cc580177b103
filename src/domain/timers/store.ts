import type { Sql } from '../../db/sql.ts'
import type { DueTimer, Timer, TimerKind } from './timer.ts'

/** For messages that are created in this transaction, so none of the rows can exist. */
export function insertTimers(sql: Sql, companyId: number, timers: Timer[]) {
  return sql`
    insert into message_timers (company_id, message_uuid, kind, due_at)
    select ${companyId}, q.* from unnest(
      ${timers.map(({ uuid }) => uuid)}::uuid[], ${timers.map(({ kind }) => kind)}::text[],
      ${timers.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q`
}

/** If a timer exists, the earlier time counts. */
export function upsertTimers(sql: Sql, companyId: number, timers: Timer[]) {
  return sql`
    insert into message_timers as t (company_id, message_uuid, kind, due_at)
    select ${companyId}, q.* from unnest(
      ${timers.map(({ uuid }) => uuid)}::uuid[], ${timers.map(({ kind }) => kind)}::text[],
      ${timers.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q
    on conflict (company_id, message_uuid, kind) do update set due_at = least(t.due_at, excluded.due_at)`
}

/** Claims due timers for 30 seconds. If the engine crashes, another engine claims them afterwards. */
export function takeTimers(sql: Sql, now: Date, limit: number) {
  return sql<DueTimer[]>`
    update message_timers t set claimed_until = clock_timestamp() + interval '30 seconds'
    from (
      select company_id, message_uuid, kind from message_timers
      where due_at <= ${now} and claimed_until < clock_timestamp() order by due_at limit ${limit}) due
    where t.company_id = due.company_id and t.message_uuid = due.message_uuid and t.kind = due.kind and t.claimed_until < clock_timestamp()
    returning t.company_id, t.message_uuid as uuid, t.kind`
}

export function deleteTimers(sql: Sql, companyId: number, kind: TimerKind, uuids: string[]) {
  return sql<{ uuid: string }[]>`
    delete from message_timers
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and kind = ${kind}
    returning message_uuid as uuid`
}
