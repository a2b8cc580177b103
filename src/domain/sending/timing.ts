import type { Pool } from '../../db/sql.ts'
import { advanceCascades, type CascadeContext } from '../cascades/cascades.ts'
import { monthOf } from '../ledger/account.ts'
import { lockAccount } from '../ledger/ledger.ts'
import { tell } from '../singles/telling.ts'
import { dropTimers } from '../timers/timers.ts'
import { isTooLate } from './follow-up.ts'
import * as store from './timing-store.ts'

/**
 * What is to become of messages whose time is over: those that wait are not sent any more, those that were sent have
 * not arrived. One that a worker has in hand is left to it: it looks at the time itself.
 */
export async function expiringAmong(sql: Pool, companyId: number, uuids: string[]) {
  const found = await store.selectExpiring(sql, companyId, uuids)
  return {
    waiting: found.filter(({ status, inHand }) => status === 'CREATED' && !inHand).map(({ uuid }) => uuid),
    sent: found.filter(({ status }) => status === 'SENT').map(({ uuid }) => uuid),
    inHand: found.filter(({ status, inHand }) => status === 'CREATED' && inHand).map(({ uuid }) => uuid),
  }
}

/** Single messages that waited too long without a timer of their own; whoever takes one meanwhile looks at the time itself. */
export const overdueWaiting = (sql: Pool, now: Date, limit: number) => store.selectOverdueWaiting(sql, now, limit)

/**
 * The time of cascade steps has passed. One that is still on its way ends, and its end brings the next step: its uuid
 * is given back. One that was delivered and not read, where reading was wanted, stays as it is, and the next step goes.
 */
export function passSteps(pool: Pool, companyId: number, uuids: string[], context: CascadeContext): Promise<string[]> {
  return pool.begin(async sql => {
    // Under the lock: a reading that is being recorded just now counts.
    await lockAccount(sql, companyId, monthOf(context.now, context.billingZone))
    const steps = await store.selectTold(sql, companyId, uuids)
    const unread = steps.flatMap(of => {
      const { status, condition, readAt, cascadeUuid, cascadeStep } = of
      const wantsNext = status === 'DELIVERED' && condition === 'not_read' && !readAt && !isTooLate(of, context.now)
      return wantsNext ? [{ cascadeUuid: cascadeUuid!, step: cascadeStep! }] : []
    })
    await advanceCascades(sql, companyId, unread, context)
    return steps.filter(({ status }) => status === 'SENT').map(({ uuid }) => uuid)
  }) as Promise<string[]>
}

/** Tells that messages were delivered and not read within their lifetime, once: with it their timers go. */
export async function tellUnread(
  pool: Pool,
  companyId: number,
  uuids: string[],
  { billingZone, now }: Pick<CascadeContext, 'billingZone' | 'now'>,
): Promise<void> {
  await pool.begin(async sql => {
    // Under the lock: a reading that is being recorded just now counts.
    await lockAccount(sql, companyId, monthOf(now, billingZone))
    const due = await dropTimers(sql, companyId, 'unread', uuids)
    if (due.length === 0) return
    const told = await store.selectTold(sql, companyId, due)
    const unread = told.filter(({ status, readAt }) => status === 'DELIVERED' && !readAt)
    const what = { kind: 'status' as const, status: 'unread' as const, at: now }
    await tell(
      sql,
      companyId,
      unread.map(of => ({ of, what })),
      now,
    )
  })
}
