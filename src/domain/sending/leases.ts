import type { Pool } from '../../db/sql.ts'
import type { Lease, Run } from '../lanes/lane.ts'
import { finishLease, splitLease, strandedLeases } from '../lanes/lanes.ts'
import { monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount } from '../ledger/ledger.ts'
import { createdIn } from '../messages/messages.ts'
import type { RecordingContext } from './recording.ts'
import * as store from './store.ts'

/** 25 hours: how long a message may be without a receipt. */
export const LIFETIME_MS = 25 * 3600_000

/** A chunk that is worked off, or of which some places are left to be sent later. */
export async function closeLease(pool: Pool, lease: Lease, left: Run[], context: RecordingContext): Promise<void> {
  if (left.length > 0) await returnLease(pool, lease, left, context)
  else await finishLease(pool, lease, new Date(context.now.getTime() + LIFETIME_MS))
}

/**
 * Takes a lease out of our hands with places left in it: its lane was stopped, its gateway went away or was busy, its
 * holder is gone. If its dispatch has been stopped meanwhile, what these messages hold is let go in the same
 * transaction; otherwise they stay reserved and go out when the places are taken again.
 */
async function returnLease(pool: Pool, lease: Lease, left: Run[], context: RecordingContext) {
  await pool.begin(async sql => {
    await lockAccount(sql, lease.companyId, monthOf(context.now, context.billingZone))
    const ours = await splitLease(sql, lease, left)
    if (!ours) return // someone else took it over
    await store.insertDeadline(sql, lease, new Date(context.now.getTime() + LIFETIME_MS))
    const [home] = await store.selectHomeOfLane(sql, lease.companyId, lease.laneId)
    if (!home || home.status === 'STARTED') return
    const { price } = await createdIn(sql, lease, home)
    await changeReserved(sql, lease.companyId, -price)
  })
}

/** Leases of engines that died, in lanes that were stopped since: nobody would take them over. */
export async function returnStrandedLeases(pool: Pool, context: RecordingContext): Promise<void> {
  for (const lease of await strandedLeases(pool, 100)) {
    const { firstSeq, nextSeq, attempts } = lease
    await returnLease(pool, lease, [{ firstSeq, nextSeq, attempts, dueAt: context.now }], context)
  }
}
