import { isDatabaseAway } from '../../base/database-losses.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { insertDeadline } from '../lanes/deadlines.ts'
import type { Lease, Run } from '../lanes/lane.ts'
import { expiredLeasesOfClosedLanes, finishLeases, hasDeadline, splitLease, takeChunks } from '../lanes/lanes.ts'
import { monthOf } from '../ledger/account.ts'
import { changeReserved, lockStatusesAndAccount } from '../ledger/ledger.ts'
import { type CheckedMessage, LIFETIME_MS } from '../messages/message.ts'
import { createdIn, lastSentIn, queuedOfLeases } from '../messages/messages.ts'
import type { RecordingContext } from '../recording/context.ts'
import * as store from './store.ts'

/** A lease whose messages were read with it has them as `queued`. */
export type LeaseWithMessages = Lease & { queued?: CheckedMessage[] }

/**
 * An answer with so many messages fits into the buffers of a socket. A larger answer could keep the lanes locked as long
 * as an engine is frozen, because the server writes it before it commits.
 */
const MOST_AT_ONCE = 400

/** Takes chunks of one company with the messages of all of them. Undefined for a chunk that another worker took first. */
export async function takeWithMessages(
  sql: Sql,
  companyId: number,
  chunks: store.ChunkWithin[],
  worker: string,
): Promise<(LeaseWithMessages | undefined)[]> {
  const messages = chunks.reduce((sum, { size }) => sum + size, 0)
  if (messages > MOST_AT_ONCE) return takeThenRead(sql, companyId, chunks, worker)
  try {
    return await takeAndRead(sql, companyId, chunks, worker)
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    return takeChunks(sql, companyId, chunks, worker) // a row that cannot be read stops only its own chunk
  }
}

/** In one statement. */
async function takeAndRead(sql: Sql, companyId: number, chunks: store.ChunkWithin[], worker: string) {
  const leases = new Map<number, LeaseWithMessages & { queued: CheckedMessage[] }>()
  for (const row of await store.insertLeasesWithMessages(sql, companyId, chunks, worker)) {
    if (row.uuid === null) leases.set(row.laneId, { ...leaseOf(row), queued: [] })
    else leases.get(row.laneId)?.queued.push(row)
  }
  return chunks.map(({ lane }) => leases.get(lane.laneId))
}

/** In two statements. If the second one fails, the leases are there all the same, without `queued`. */
async function takeThenRead(sql: Sql, companyId: number, chunks: store.ChunkWithin[], worker: string) {
  const leases = await takeChunks(sql, companyId, chunks, worker)
  const taken = leases.flatMap((lease, i) => (lease ? [{ ...boundsOf(chunks[i]!), ...lease }] : []))
  if (taken.length === 0) return leases
  const queued = await queuedOfLeases(sql, companyId, taken).catch(() => undefined)
  if (!queued) return leases
  const byLane = Map.groupBy(queued, ({ laneId }) => laneId)
  return leases.map(lease => lease && { ...lease, queued: byLane.get(lease.laneId) ?? [] })
}

const boundsOf = ({ lane: { firstUuid, lastUuid } }: store.ChunkWithin): Bounds => ({ firstUuid, lastUuid })

/** Without the empty fields of a message. */
const leaseOf = ({ companyId, laneId, leaseId, firstSeq, nextSeq, token, attempts }: Lease): Lease => ({
  companyId,
  laneId,
  leaseId,
  firstSeq,
  nextSeq,
  token,
  attempts,
})

export type { ChunkWithin } from './store.ts'

/** Ends the lease of a chunk. Messages that are left to send become new leases without a worker. */
export async function closeLease(pool: Pool, lease: Lease, left: Run[], context: RecordingContext): Promise<void> {
  if (left.length > 0) await returnLease(pool, lease, left, context)
  else await closeSentLeases(pool, lease.companyId, [lease], context.now)
}

/** Ends leases of a company whose messages are all sent or refused. */
export async function closeSentLeases(pool: Pool, companyId: number, leases: Lease[], now: Date): Promise<void> {
  await finishLeases(pool, companyId, leases, new Date(now.getTime() + LIFETIME_MS))
}

/**
 * Returns a lease with messages left to send: its lane was stopped, its gateway was down or busy, or its worker died. If the
 * dispatch was stopped meanwhile, the same transaction releases the reservation of these messages. Otherwise they stay
 * reserved, and another worker sends them.
 */
async function returnLease(pool: Pool, lease: Lease, left: Run[], context: RecordingContext) {
  await pool.begin(async sql => {
    await lockStatusesAndAccount(sql, lease.companyId, monthOf(context.now, context.billingZone))
    const isOurs = await splitLease(sql, lease, left)
    if (!isOurs) return // another worker took the lease over
    const [dispatch] = await store.selectDispatchOfLane(sql, lease.companyId, lease.laneId)
    await ensureDeadline(sql, lease, dispatch ?? { firstUuid: null, lastUuid: null }, context.now)
    if (!dispatch || dispatch.status === 'STARTED') return
    const { price } = await createdIn(sql, lease, dispatch)
    await changeReserved(sql, lease.companyId, -price)
  })
}

/** A deadline within this time may be about to be removed, so it does not count. */
const SOON_MS = 3600_000

/**
 * Adds a deadline for the range unless it needs none: nothing was sent from it, or a later deadline covers it. So a lease that
 * is returned at every retry does not add a row each time. A deadline covers all messages of its range, also those sent later.
 */
async function ensureDeadline(sql: Sql, lease: Lease, bounds: Bounds, now: Date) {
  if (await hasDeadline(sql, lease, new Date(now.getTime() + SOON_MS))) return
  const needsOne = lease.wasHeld || (await lastSentIn(sql, { ...lease, ...bounds }))
  if (!needsOne) return
  await insertDeadline(sql, lease, new Date(now.getTime() + LIFETIME_MS))
}

type Bounds = { firstUuid: string | null; lastUuid: string | null }

/** Returns leases of engines that died in lanes that were stopped since. No worker takes over leases of a stopped lane. */
export async function returnExpiredLeases(pool: Pool, context: RecordingContext): Promise<void> {
  for (const lease of await expiredLeasesOfClosedLanes(pool, 100)) {
    const { firstSeq, nextSeq, attempts, gatewayId } = lease
    const run = { firstSeq, nextSeq, attempts, dueAt: context.now, ...(gatewayId ? { gatewayId } : {}) }
    await returnLease(pool, lease, [run], context)
  }
}
