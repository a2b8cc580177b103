import type { Sql, Transaction } from '../../db/sql.ts'
import type { Actor, AuditAction, Change, Fields } from './entry.ts'

export const ensureMonth = (sql: Transaction) => sql`select ensure_audit_month(now()::timestamptz(3))`

export function insertEntry(
  sql: Transaction,
  actor: Actor,
  { what, subject, companyId = null, partnerId = null }: Change,
  { before, after }: { before: Fields | null; after: Fields | null },
) {
  const from = actor.kind === 'OPERATOR' ? { personId: null, address: null, agent: null, requestId: null } : actor
  return sql`
    insert into audit_entries (actor_kind, actor, person_id, address, agent, request_id, what, subject_kind, subject_id,
      subject_name, company_id, partner_id, before, after)
    values (${actor.kind}, ${actor.name}, ${from.personId}, ${from.address}, ${from.agent}, ${from.requestId}, ${what},
      ${subject.kind}, ${String(subject.id)}, ${subject.name ?? ''}, ${companyId},
      ${partnerId},
      ${before === null ? null : JSON.stringify(before)}::text::jsonb,
      ${after === null ? null : JSON.stringify(after)}::text::jsonb)`
}

export const selectPartnerOf = (sql: Sql, companyId: number) =>
  sql<{ partnerId: number }[]>`select partner_id from companies where company_id = ${companyId}`

export type StoredEntry = {
  entryId: number
  at: Date
  actorKind: Actor['kind']
  actor: string
  personId: number | null
  address: string | null
  agent: string | null
  requestId: string | null
  what: AuditAction
  subjectKind: string
  subjectId: string
  subjectName: string
  companyId: number | null
  partnerId: number | null
  before: Fields | null
  after: Fields | null
}

export type Place = { at: Date; entryId: number }

export type Filter = {
  companyId?: number | undefined
  partnerId?: number | undefined
  actor?: string | undefined
  /** Kinds of actors that `actor` may be. */
  actorKinds?: readonly Actor['kind'][] | undefined
  what?: AuditAction | undefined
  subject?: { kind: string; id: string } | undefined
  from?: Date | undefined
  /** Not included. */
  to?: Date | undefined
  /** The entries older than this one. */
  after?: Place | undefined
}

/** The newest first. */
export function selectEntries(sql: Sql, filter: Filter, limit: number) {
  const { companyId, partnerId, actor, actorKinds, what, subject, from, to, after } = filter
  return sql<StoredEntry[]>`
    select e.entry_id, e.at, e.actor_kind, e.actor, e.person_id, e.address,
      e.agent, e.request_id, e.what, e.subject_kind, e.subject_id,
      e.subject_name, e.company_id, e.partner_id,
      e.before, e.after
    from (
      select * from audit_entries
      where true
        ${companyId === undefined ? sql`` : sql`and company_id = ${companyId}`}
        ${partnerId === undefined ? sql`` : sql`and partner_id = ${partnerId}`}
        ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
        ${actor === undefined || actorKinds === undefined ? sql`` : sql`and actor_kind = any(${[...actorKinds]}::text[])`}
        ${what === undefined ? sql`` : sql`and what = ${what}`}
        ${subject === undefined ? sql`` : sql`and subject_kind = ${subject.kind} and subject_id = ${subject.id}`}
        ${from === undefined ? sql`` : sql`and at >= ${from}`}
        ${to === undefined ? sql`` : sql`and at < ${to}`}
        ${after === undefined ? sql`` : sql`and at <= ${after.at} and (at, entry_id) < (${after.at}, ${after.entryId})`}
      order by at desc, entry_id desc
      limit ${limit}) e
    order by e.at desc, e.entry_id desc`
}

export const selectCompanyNames = (sql: Sql, companyIds: number[]) => sql<{ companyId: number; name: string }[]>`
  select company_id, name from companies where company_id = any(${companyIds}::bigint[])`

/** The months that have a table, as `2026-05`. */
export const selectMonths = (sql: Sql) =>
  sql<{ month: string }[]>`
    select replace(substring(c.relname from 15), '_', '-') as month
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_entries'::regclass
    order by 1`

export async function dropMonth(sql: Transaction, month: string): Promise<number> {
  const table = sql(`audit_entries_${month.replace('-', '_')}`)
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${table}`
  await sql`drop table ${table}`
  return row!.count
}
