import { errorCodes } from '../base/error-codes.ts'
import type { Pool } from '../db/sql.ts'
import { LIFETIME_MS } from '../domain/messages/message.ts'
import { overdueMessages } from '../domain/messages/messages.ts'
import { closeDeadline, takeDeadlines } from '../domain/sending/deadlines.ts'
import type { Recorder } from './recorder.ts'

/** Ends what has been without a receipt for its whole lifetime. One row speaks for a whole range of a lane. */
export async function endOverdue({ sql, clock, recorder }: { sql: Pool; clock: () => Date; recorder: Recorder }) {
  const now = clock()
  for (const deadline of await takeDeadlines(sql, now)) {
    const overdue = await overdueMessages(sql, deadline, new Date(now.getTime() - LIFETIME_MS))
    const final = { status: 'FAILED' as const, at: now, errorCode: errorCodes.lifetimeOver }
    await Promise.all(new Set(overdue.map(({ uuid }) => recorder.note(deadline.companyId, { uuid, final }))))
    await closeDeadline(sql, deadline, LIFETIME_MS)
  }
}
