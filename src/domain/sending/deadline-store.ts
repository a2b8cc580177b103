import type { Sql } from '../../db/sql.ts'

export type Deadline = { companyId: number; deadlineId: number; laneId: number; firstSeq: number; nextSeq: number }

export function claimDeadlines(sql: Sql, now: Date, limit: number) {
  return sql<Deadline[]>`
    update deadlines d set until = clock_timestamp() + interval '30 seconds'
    from (
      select company_id, deadline_id from deadlines
      where due_at <= ${now} and until < clock_timestamp() order by due_at limit ${limit}
    ) due
    where d.company_id = due.company_id and d.deadline_id = due.deadline_id and d.until < clock_timestamp()
    returning d.company_id as "companyId", d.deadline_id as "deadlineId", d.lane_id as "laneId",
      d.first_seq as "firstSeq", d.next_seq as "nextSeq"`
}

/** Moves a deadline to when the last of what is still SENT in its range is due; touches nothing when nothing is. */
export function postponeDeadline(sql: Sql, deadline: Deadline, lifetimeMs: number) {
  return sql`
    update deadlines d set until = '-infinity', due_at = rest.last + make_interval(secs => ${lifetimeMs / 1000})
    from (
      select max(sent_at) as last from messages
      where company_id = ${deadline.companyId} and lane_id = ${deadline.laneId} and seq >= ${deadline.firstSeq}
        and seq < ${deadline.nextSeq} and status = 'SENT'
    ) rest
    where d.company_id = ${deadline.companyId} and d.deadline_id = ${deadline.deadlineId} and rest.last is not null`
}

export const deleteDeadline = (sql: Sql, { companyId, deadlineId }: Deadline) =>
  sql`delete from deadlines where company_id = ${companyId} and deadline_id = ${deadlineId}`
