import type { Logger } from 'pino'
import { isDatabaseAway } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { oneByOne } from '../../db/by-company.ts'
import type { Pool } from '../../db/sql.ts'
import { closeDeadline, takeDeadlines } from '../../domain/leases/deadlines.ts'
import { LIFETIME_MS } from '../../domain/messages/message.ts'
import { lastSentIn, overdueMessages } from '../../domain/messages/messages.ts'
import type { Recorder } from '../recording/recorder.ts'
import { ignoreSetAside } from '../recording/set-aside.ts'

export type DeadlinesContext = { sql: Pool; clock: () => Date; log: Logger; recorder: Pick<Recorder, 'noteSoon'> }

type Deadline = Awaited<ReturnType<typeof takeDeadlines>>[number]

/** A range with a message that cannot be written is tried again after this time: a second later it would fail again. */
const POSTPONED_MS = 3600_000

/** Fails messages that got no receipt within their lifetime. One deadline stands for a whole range of a lane. */
export async function failOverdue(context: DeadlinesContext) {
  const now = context.clock()
  await oneByOne(await takeDeadlines(context.sql, now), deadline => failRange(context, deadline, now))
}

/** A range that fails does not stop the others. It is taken again in half a minute. */
async function failRange(context: DeadlinesContext, deadline: Deadline, now: Date) {
  try {
    const isAllWritten = await failMessagesOf(context, deadline, now)
    await closeDeadline(context.sql, deadline, isAllWritten ? LIFETIME_MS : await postponedBy(context, deadline, now))
  } catch (err) {
    if (isDatabaseAway(err)) throw err
    const { companyId, deadlineId, laneId } = deadline
    context.log.error({ err, companyId, deadlineId, laneId }, 'deadline.failed')
  }
}

/** Returns false when a message can never be written. */
async function failMessagesOf({ sql, recorder }: DeadlinesContext, deadline: Deadline, now: Date): Promise<boolean> {
  const overdue = await overdueMessages(sql, deadline, new Date(now.getTime() - LIFETIME_MS))
  const final = { status: 'FAILED' as const, at: now, errorCode: errorCodes.lifetimeOver }
  let isAllWritten = true
  const ending = overdue.map(({ uuid }) =>
    recorder.noteSoon(deadline.companyId, { uuid, final }).catch(error => {
      ignoreSetAside(error)
      isAllWritten = false
    }),
  )
  await Promise.all(ending)
  return isAllWritten
}

/** The deadline of a range counts from its last SENT message. An overdue message that stays SENT would make it due at once. */
async function postponedBy({ sql }: DeadlinesContext, deadline: Deadline, now: Date): Promise<number> {
  const lastSent = await lastSentIn(sql, deadline)
  return lastSent ? Math.max(LIFETIME_MS, now.getTime() + POSTPONED_MS - lastSent.getTime()) : LIFETIME_MS
}
