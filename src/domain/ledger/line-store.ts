import type { Sql } from '../../db/sql.ts'
import type { LedgerEntry, LedgerLine, LineFilter, LinePlace } from './line.ts'

/**
 * A page of lines, the newest first. Names are joined to the lines of the page alone: the limit is inside, so that no
 * plan joins before it.
 */
export function selectLines(
  sql: Sql,
  companyId: number,
  { kind, from, to }: LineFilter,
  after: LinePlace | undefined,
  limit: number,
) {
  return sql<LedgerLine[]>`
    select l.line_id, l.day::text as day, l.month::text as month, l.kind, l.amount, l.messages, l.entries,
      l.first_at, l.last_at, l.note, l.dispatch_id, d.name as dispatch_name,
      l.sender_id, s.sender_name, s.brand, l.tariff_id
    from (
      select * from ledger_lines
      where company_id = ${companyId}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${from === undefined ? sql`` : sql`and day >= ${from}::date`}
        ${to === undefined ? sql`` : sql`and day <= ${to}::date`}
        ${after === undefined ? sql`` : sql`and (day, line_id) < (${after.day}::date, ${after.lineId}::bigint)`}
      order by day desc, line_id desc limit ${limit}
    ) l
    left join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id
    left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
    order by l.day desc, l.line_id desc`
}

/** The balance at the end of each day: that after the last entry of the day. */
export const selectDayEnds = (sql: Sql, companyId: number, days: string[]) => sql<{ day: string; balance: bigint }[]>`
  select wanted.day::text as day, last.balance from unnest(${days}::text[]::date[]) wanted (day)
  cross join lateral (
    select balance from ledger_lines where company_id = ${companyId} and day = wanted.day
    order by last_entry_id desc limit 1
  ) last`

export type LineKey = {
  kind: string
  month: string
  dispatchId: number | null
  senderId: number | null
  tariffId: number | null
  firstEntryId: number
  lastEntryId: number
}

export const selectLineKey = (sql: Sql, companyId: number, { day, lineId }: LinePlace) => sql<LineKey[]>`
  select kind, month::text as month, dispatch_id, sender_id, tariff_id,
    first_entry_id, last_entry_id
  from ledger_lines where company_id = ${companyId} and day = ${day}::date and line_id = ${lineId}`

/** Entries of a line, the newest first. */
export function selectEntries(sql: Sql, companyId: number, line: LineKey, before: number | undefined, limit: number) {
  const last = before === undefined ? line.lastEntryId : Math.min(line.lastEntryId, before - 1)
  return sql<LedgerEntry[]>`
    select entry_id, created_at as at, amount, messages from ledger_entries
    where company_id = ${companyId}
      and ${line.dispatchId === null ? sql`dispatch_id is null` : sql`dispatch_id = ${line.dispatchId}`}
      and kind = ${line.kind} and entry_id between ${line.firstEntryId} and ${last}
      and month = ${line.month}::date and sender_id is not distinct from ${line.senderId}::bigint
      and tariff_id is not distinct from ${line.tariffId}::bigint
    order by entry_id desc limit ${limit}`
}
