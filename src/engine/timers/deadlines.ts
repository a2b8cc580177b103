import type { Logger } from 'pino'
import { isDatabaseAway } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Pool } from '../../db/sql.ts'
import { closeDeadline, takeDeadlines } from '../../domain/leases/deadlines.ts'
import { LIFETIME_MS } from '../../domain/messages/message.ts'
import { lastSentIn, overdueMessages } from '../../domain/messages/messages.ts'
import type { Recorder } from '../recording/recorder.ts'
import { unlessSetAside } from '../recording/set-aside.ts'

export type DeadlinesContext = { sql: Pool; clock: () => Date; log: Logger; recorder: Pick<Recorder, 'note'> }

type Deadline = Awaited<ReturnType<typeof takeDeadlines>>[number]

/** What could not be written will hardly be written in a second from now. */
const POSTPONED_MS = 3600_000

/** Ends what has been without a receipt for its whole lifetime. One row speaks for a whole range of a lane. */
export async function endOverdue(context: DeadlinesContext) {
  const now = context.clock()
  for (const deadline of await takeDeadlines(context.sql, now)) await endAlone(context, deadline, now)
}

/** The trouble of one range is none of the others': it is taken again in half a minute. */
async function endAlone(context: DeadlinesContext, deadline: Deadline, now: Date) {
  try {
    const isAllWritten = await endRange(context, deadline, now)
    await closeDeadline(context.sql, deadline, isAllWritten ? LIFETIME_MS : await postponedBy(context, deadline, now))
  } catch (err) {
    if (isDatabaseAway(err)) throw err
    const { companyId, deadlineId, laneId } = deadline
    context.log.error({ err, companyId, deadlineId, laneId }, 'deadline.failed')
  }
}

async function endRange({ sql, recorder }: DeadlinesContext, deadline: Deadline, now: Date): Promise<boolean> {
  const overdue = await overdueMessages(sql, deadline, new Date(now.getTime() - LIFETIME_MS))
  const final = { status: 'FAILED' as const, at: now, errorCode: errorCodes.lifetimeOver }
  let isAllWritten = true
  const ending = overdue.map(({ uuid }) =>
    recorder.note(deadline.companyId, { uuid, final }).catch(error => {
      unlessSetAside(error)
      isAllWritten = false
    }),
  )
  await Promise.all(ending)
  return isAllWritten
}

/** A range is due so long after the last message in it that is still SENT: one that is overdue would be due at once. */
async function postponedBy({ sql }: DeadlinesContext, deadline: Deadline, now: Date): Promise<number> {
  const lastSent = await lastSentIn(sql, deadline)
  return lastSent ? Math.max(LIFETIME_MS, now.getTime() + POSTPONED_MS - lastSent.getTime()) : LIFETIME_MS
}
