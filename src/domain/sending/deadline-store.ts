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

export const deleteDeadline = (sql: Sql, { companyId, deadlineId }: Deadline) =>
  sql`delete from deadlines where company_id = ${companyId} and deadline_id = ${deadlineId}`
