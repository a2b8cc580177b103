import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import * as lanes from '../lanes/deadlines.ts'
import { lastSentIn } from '../messages/messages.ts'

/** Claims ranges whose lifetime is over for 30 seconds. If this engine dies, another one claims them after that. */
export const takeDeadlines = async (sql: Sql, now: Date): Promise<lanes.Deadline[]> =>
  byCompany(await acrossCompanies(sql, () => lanes.selectDueDeadlines(sql, now, 100)), (companyId, due) =>
    lanes.claimDeadlines(
      sql,
      companyId,
      due.map(({ deadlineId }) => deadlineId),
      now,
    ),
  )

/**
 * Removes the deadline of a range whose overdue messages have failed. A message that was recorded as sent after the deadline
 * was set (its engine was frozen) still has time: then the deadline moves to the end of that message's lifetime.
 */
export async function closeDeadline(sql: Sql, deadline: lanes.Deadline, lifetimeMs: number): Promise<void> {
  const lastSent = await lastSentIn(sql, deadline)
  if (lastSent) await lanes.postponeDeadline(sql, deadline, new Date(lastSent.getTime() + lifetimeMs))
  else await lanes.deleteDeadline(sql, deadline)
}
