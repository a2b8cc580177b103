import type { Pool, Sql } from '../../db/sql.ts'
import type { Lease, Run } from '../lanes/lane.ts'
import { finishLease, hasDeadline, splitLease, strandedLeases } from '../lanes/lanes.ts'
import { monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount } from '../ledger/ledger.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import { createdIn, lastSentIn } from '../messages/messages.ts'
import type { RecordingContext } from './status-report.ts'
import * as store from './store.ts'

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
    const [home] = await store.selectHomeOfLane(sql, lease.companyId, lease.laneId)
    await ensureDeadline(sql, lease, home ?? { firstUuid: null, lastUuid: null }, context.now)
    if (!home || home.status === 'STARTED') return
    const { price } = await createdIn(sql, lease, home)
    await changeReserved(sql, lease.companyId, -price)
  })
}

/** What stands within this time may be looked at for the last time just now. */
const SOON_MS = 3600_000

/**
 * A lease that comes back at every retry leaves no row each time: one that has sent nothing needs no deadline, and a
 * deadline that stands looks at the whole range, later sent messages included, until nothing in it waits any more.
 */
async function ensureDeadline(sql: Sql, lease: Lease, home: Bounds, now: Date) {
  if (await hasDeadline(sql, lease, new Date(now.getTime() + SOON_MS))) return
  const { firstUuid, lastUuid } = home
  const needsOne = lease.wasHeld || (await lastSentIn(sql, { ...lease, firstUuid, lastUuid }))
  if (!needsOne) return
  await store.insertDeadline(sql, lease, new Date(now.getTime() + LIFETIME_MS))
}

type Bounds = { firstUuid: string | null; lastUuid: string | null }

/** Leases of engines that died, in lanes that were stopped since: nobody would take them over. */
export async function returnStrandedLeases(pool: Pool, context: RecordingContext): Promise<void> {
  for (const lease of await strandedLeases(pool, 100)) {
    const { firstSeq, nextSeq, attempts, gatewayId } = lease
    const run = { firstSeq, nextSeq, attempts, dueAt: context.now, ...(gatewayId ? { gatewayId } : {}) }
    await returnLease(pool, lease, [run], context)
  }
}
