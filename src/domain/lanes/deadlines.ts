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

export function claimDeadlines(sql: Sql, now: Date, limit: number) {
  return sql<Deadline[]>`
    update deadlines d set claimed_until = clock_timestamp() + interval '30 seconds'
    from (
      select e.company_id, e.deadline_id, h.first_uuid, h.last_uuid from deadlines e
      join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
      left join dispatches h on h.company_id = l.company_id and h.dispatch_id = l.dispatch_id
      where e.due_at <= ${now} and e.claimed_until < clock_timestamp() order by e.due_at limit ${limit}
    ) due
    where d.company_id = due.company_id and d.deadline_id = due.deadline_id and d.claimed_until < clock_timestamp()
    returning d.company_id, d.deadline_id, d.lane_id,
      d.first_seq, d.next_seq, due.first_uuid, due.last_uuid`
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
