import { formatMoney } from '../../base/money.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import { acceptedMessages } from '../messages/messages.ts'
import type { Partner } from '../partners/partner.ts'
import type { Tally } from './acceptance/tally.ts'
import type { DispatchStatus, Recipient } from './dispatch.ts'
import { requireDispatch } from './reading.ts'

export type AcceptanceRequest = { partner: Partner; recipients: Recipient[]; once: Once }

/** The response to a request that added messages. */
export type AcceptanceSummary = {
  dispatchId: number
  status: DispatchStatus
  currency: string
  estimate: string
  parts: number
  total: number
  success: number
  accepted: Tally['accepted']
}

type Accepted = { dispatchId: number; tally: Tally; currency: string }

/**
 * Runs the request once for its idempotency key. The summary that is stored for a repeated request has no list of
 * messages: a repeated request reads the list from the messages.
 */
export async function acceptOnce(
  pool: Pool,
  request: AcceptanceRequest,
  work: (sql: Transaction) => Promise<Accepted & { firstPosition: number }>,
): Promise<AcceptanceSummary> {
  let accepted: Tally['accepted'] | undefined
  const stored = await once(pool, request.once, async sql => {
    await allowLongWork(sql)
    const result = await work(sql)
    accepted = result.tally.accepted
    const { accepted: _, ...short } = summaryOf(result)
    return { ...short, firstPosition: result.firstPosition }
  })
  const { firstPosition, ...summary } = stored
  return { ...summary, accepted: accepted ?? (await acceptedBefore(pool, request.partner, summary, firstPosition)) }
}

async function acceptedBefore(
  sql: Sql,
  partner: Partner,
  { dispatchId, total }: Omit<AcceptanceSummary, 'accepted'>,
  firstPosition: number,
) {
  return acceptedMessages(sql, await requireDispatch(sql, partner, dispatchId), firstPosition, total)
}

export const summaryOf = ({ dispatchId, tally, currency }: Accepted): AcceptanceSummary => ({
  dispatchId,
  status: 'CREATED',
  currency,
  estimate: formatMoney(tally.estimate),
  parts: tally.parts,
  total: tally.total,
  success: tally.success,
  accepted: tally.accepted,
})
