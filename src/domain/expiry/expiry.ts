import type { Pool } from '../../db/sql.ts'
import { advanceCascades, type CascadeContext } from '../cascade-steps/cascade-steps.ts'
import { monthOf } from '../ledger/account.ts'
import { lockStatuses, lockStatusesAndAccount } from '../ledger/ledger.ts'
import { isTooLate } from '../recording/follow-up.ts'
import { reportedMessages } from '../recording/reported-messages.ts'
import { enqueueEvents } from '../singles/message-callbacks.ts'
import { type DueExpiry, dropTimers } from '../timers/timers.ts'
import * as store from './store.ts'

export { overdueWaiting } from './store.ts'

/**
 * Messages whose time is over. `waiting` messages are not sent any more, and `sent` messages have no receipt. A `leased`
 * message is left to its worker, which checks the time before sending.
 */
export type Expiring = { waiting: string[]; sent: string[]; leased: string[] }

export const expiringAmong = async (sql: Pool, companyId: number, uuids: string[]): Promise<Expiring> =>
  byState(await store.selectExpiring(sql, companyId, uuids))

/** The same for the messages that an expiry stands for. */
export const expiringWithin = async (sql: Pool, companyId: number, expiries: DueExpiry[]): Promise<Expiring> =>
  byState(await store.selectExpiringWithin(sql, companyId, expiries))

const byState = (found: readonly store.Expiring[]): Expiring => ({
  waiting: found.filter(({ status, isLeased }) => status === 'CREATED' && !isLeased).map(({ uuid }) => uuid),
  sent: found.filter(({ status }) => status === 'SENT').map(({ uuid }) => uuid),
  leased: found.filter(({ status, isLeased }) => status === 'CREATED' && isLeased).map(({ uuid }) => uuid),
})

/**
 * Handles cascade steps whose time is over. Returns the uuids of steps that are still SENT: the caller ends them, and their
 * end starts the next step. A step that was delivered but not read keeps its status, and the next step starts, if
 * the cascade waits for reading.
 */
export function endOverdueSteps(
  pool: Pool,
  companyId: number,
  uuids: string[],
  context: CascadeContext,
): Promise<string[]> {
  return pool.begin(async sql => {
    await lockStatusesAndAccount(sql, companyId, monthOf(context.now, context.billingZone)) // a read that is being recorded counts
    const steps = [...(await reportedMessages(sql, companyId, uuids.map(asMessage))).values()]
    const unread = steps.flatMap(step => {
      const { status, condition, readAt, cascadeUuid, cascadeStep } = step
      const wantsNext = status === 'DELIVERED' && condition === 'not_read' && !readAt && !isTooLate(step, context.now)
      return wantsNext && cascadeUuid && cascadeStep ? [{ cascadeUuid, step: cascadeStep }] : []
    })
    await advanceCascades(sql, companyId, unread, context)
    return steps.filter(({ status }) => status === 'SENT').map(({ uuid }) => uuid)
  })
}

const asMessage = (uuid: string) => ({ uuid })

/** Writes a callback for messages that were delivered but not read within their lifetime. Removing their timers makes it once. */
export async function enqueueUnread(pool: Pool, companyId: number, uuids: string[], now: Date): Promise<void> {
  await pool.begin(async sql => {
    await lockStatuses(sql, companyId) // a read that is being recorded counts
    const due = await dropTimers(sql, companyId, 'unread', uuids)
    if (due.length === 0) return
    const messages = [...(await reportedMessages(sql, companyId, due.map(asMessage))).values()]
    const unread = messages.filter(({ status, readAt }) => status === 'DELIVERED' && !readAt)
    const what = { kind: 'status' as const, status: 'unread' as const, at: now }
    await enqueueEvents(
      sql,
      companyId,
      unread.map(of => ({ of, what })),
      now,
    )
  })
}
