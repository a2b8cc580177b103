import type { Sql } from '../../db/sql.ts'
import type { Lease, Run, RunnableLane, WaitingLane } from './lane.ts'
import * as store from './store.ts'

export const runnableLanes = (sql: Sql, now: Date, limit: number): Promise<RunnableLane[]> =>
  store.selectRunnable(sql, now, { limit, offset: 0 })

export const abandonedLeases = (sql: Sql, now: Date, limit: number) =>
  store.selectAbandoned(sql, now, { limit, offset: 0 })

/**
 * A page of what of one priority may go now: lanes with places that nobody has taken yet, and leases that ran out or
 * were given back; first who was served longest ago. `more` tells whether there is another page.
 */
export async function lanesWithWork(sql: Sql, priority: number, now: Date, page: store.Page) {
  const [lanes, leases] = await Promise.all([
    store.selectRunnable(sql, now, page, priority),
    store.selectAbandoned(sql, now, page, priority),
  ])
  return {
    lanes: [...leases, ...lanes].sort(inTurn),
    more: lanes.length === page.limit || leases.length === page.limit,
  }
}

/** The sort is stable, so of one lane its leases come first. */
const inTurn = (a: RunnableLane, b: RunnableLane) => (a.servedAt === b.servedAt ? 0 : a.servedAt - b.servedAt)

export const postponeLane = (sql: Sql, lane: { companyId: number; laneId: number }, until: Date) =>
  store.postponeLane(sql, lane, until)

/** Open lanes of a dispatch with messages left to send, to tell people why they do not go. */
export const waitingLanes = (sql: Sql, companyId: number, dispatchId: number): Promise<WaitingLane[]> =>
  store.selectWaiting(sql, companyId, dispatchId)

export const strandedLeases = (sql: Sql, limit: number) => store.selectStranded(sql, limit)

export async function takeChunk(
  sql: Sql,
  lane: RunnableLane,
  size: number,
  worker: string,
): Promise<Lease | undefined> {
  const [lease] = await store.insertLease(sql, lane, size, worker)
  return lease
}

export async function takeOver(sql: Sql, lease: { companyId: number; leaseId: number }, worker: string) {
  const [taken] = await store.takeOverLease(sql, lease, worker)
  return taken
}

/** Renews leases; those that are missing from the answer are ours no more. */
export async function renewLeases(sql: Sql, worker: string, tokens: string[]): Promise<Set<string>> {
  return new Set((await store.renewLeases(sql, worker, tokens)).map(({ token }) => token))
}

export const heldLanes = (sql: Sql, lanes: { companyId: number; laneId: number }[]) => store.selectHeldLanes(sql, lanes)

export const heldRanges = (sql: Sql, companyId: number, dispatchId: number) =>
  store.selectHeldRanges(sql, companyId, dispatchId)

/** A chunk that is done with: its lifetime is noted, and the lease is gone. */
export const finishLease = (sql: Sql, lease: Lease, dueAt: Date) => store.finishLease(sql, lease, dueAt)

/** Whether what was sent of a lease's range is looked at after this moment anyway. */
export async function hasDeadline(sql: Sql, lease: Lease, after: Date): Promise<boolean> {
  return (await store.selectDeadline(sql, lease, after)).length > 0
}

/** Replaces a lease by the runs that are left of it; false when it is no longer ours. */
export async function splitLease(sql: Sql, lease: Lease, runs: Run[]): Promise<boolean> {
  const { count } = await store.deleteLease(sql, lease)
  if (count > 0 && runs.length > 0) await store.insertReturned(sql, lease, runs)
  return count > 0
}

const BATCH = 1000
const MOST_BATCHES = 100

/** A client may call itself something else in every message: lanes that stand empty do not stay for it. */
export async function forgetIdleLanes(sql: Sql): Promise<void> {
  let batches = 0
  while ((await store.deleteIdleLanes(sql, BATCH)).count === BATCH && ++batches < MOST_BATCHES);
}
