import { reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'

export type Deadline = {
  companyId: number
  deadlineId: number
  laneId: number
  firstSeq: number
  nextSeq: number
  firstUuid: string | null
  lastUuid: string | null
}

/** Deadlines of all companies that are due and that no engine has claimed. */
export const selectDueDeadlines = (sql: Sql, now: Date, limit: number) =>
  sql<{ companyId: number; deadlineId: number }[]>`
    select company_id, deadline_id from deadlines
    where due_at <= ${now} and claimed_until < statement_timestamp() ${reachable(sql)}
    order by due_at limit ${limit}`

/** Claims deadlines of a company that no other engine claimed first. */
export function claimDeadlines(sql: Sql, companyId: number, deadlineIds: number[], now: Date) {
  return sql<Deadline[]>`
    update deadlines d set claimed_until = statement_timestamp() + interval '30 seconds'
    from lanes l
    left join dispatches h on h.company_id = ${companyId} and h.dispatch_id = l.dispatch_id
    where d.company_id = ${companyId} and d.deadline_id = any(${deadlineIds}::bigint[])
      and d.due_at <= ${now} and d.claimed_until < statement_timestamp() and l.company_id = ${companyId} and l.lane_id = d.lane_id
    returning d.company_id, d.deadline_id, d.lane_id, d.first_seq, d.next_seq, h.first_uuid, h.last_uuid`
}

export function postponeDeadline(sql: Sql, { companyId, deadlineId }: Deadline, dueAt: Date) {
  return sql`
    update deadlines set claimed_until = '-infinity', due_at = ${dueAt}
    where company_id = ${companyId} and deadline_id = ${deadlineId}`
}

export const deleteDeadline = (sql: Sql, { companyId, deadlineId }: Deadline) =>
  sql`delete from deadlines where company_id = ${companyId} and deadline_id = ${deadlineId}`

/** Adds a deadline: at that moment the lifetime of the messages sent from this range is over. */
export function insertDeadline(
  sql: Sql,
  range: { companyId: number; laneId: number; firstSeq: number; nextSeq: number },
  dueAt: Date,
) {
  return sql`
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    values (${range.companyId}, ${range.laneId}, ${range.firstSeq}, ${range.nextSeq}, ${dueAt})`
}
