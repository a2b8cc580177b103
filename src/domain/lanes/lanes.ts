import type { Sql } from '../../db/sql.ts'
import {
  type Lease,
  type LeasePage,
  MOST_WAITING_LANES,
  type Queue,
  type QueuePage,
  type Run,
  type RunnableLane,
  type WaitingLane,
} from './lane.ts'
import * as store from './store.ts'

/** So many lanes, or leases, are read of each company and channel before the next ones are leapt to. */
const LEAP = 500

/**
 * The channels of companies that have something of one priority to send now, found by leaps: a company with twenty
 * thousand lanes costs as much as one with a few.
 */
export async function queuesWithWork(sql: Sql, priority: number, now: Date): Promise<Queue[]> {
  const found: Queue[] = []
  let after: { companyId: number; channelType: string } = { companyId: 0, channelType: '' }
  for (;;) {
    const page = await store.selectQueues(sql, priority, now, after, LEAP)
    for (const { companyId, channelType, isReady } of page) if (isReady) found.push({ companyId, channelType })
    if (sum(page.map(({ lanes }) => lanes)) < LEAP) return found
    after = page.at(-1)!
  }
}

/** The companies with leases that may have run out or are due, found in the same way. */
export async function companiesWithLeases(sql: Sql, now: Date): Promise<number[]> {
  const found: number[] = []
  let after = 0
  for (;;) {
    const page = await store.selectCompaniesWithLeases(sql, now, after, LEAP)
    for (const { companyId, isReady } of page) if (isReady) found.push(companyId)
    if (sum(page.map(({ leases }) => leases)) < LEAP) return found
    after = page.at(-1)!.companyId
  }
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

export const lanesInTurn = (sql: Sql, priority: number, now: Date, pages: QueuePage[], limit: number) =>
  store.selectLanesInTurn(sql, priority, now, pages, limit)

export const leasesInTurn = (sql: Sql, priority: number, now: Date, pages: LeasePage[], limit: number) =>
  store.selectLeasesInTurn(sql, priority, now, pages, limit)

/** Whether a company has so many lanes with messages that it gets no more until some of them are empty. */
export async function hasTooManyLanes(sql: Sql, companyId: number): Promise<boolean> {
  const [waiting] = await store.countWaitingLanes(sql, companyId, MOST_WAITING_LANES + 1)
  return waiting!.count > MOST_WAITING_LANES
}

export const postponeLane = (sql: Sql, lane: { companyId: number; laneId: number }, until: Date) =>
  store.postponeLane(sql, lane, until)

/** Open lanes of a dispatch with messages left to send, to tell people why they do not go. */
export const waitingLanes = (sql: Sql, companyId: number, dispatchId: number): Promise<WaitingLane[]> =>
  store.selectWaiting(sql, companyId, dispatchId)

/** How many messages wait in open lanes, by channel and operator; with those that were given back. */
export const waitingByRoute = (sql: Sql) => store.sumWaiting(sql)

/** The same for one lane; none when it was closed meanwhile. */
export const waitingLane = (sql: Sql, companyId: number, laneId: number): Promise<WaitingLane[]> =>
  store.selectWaitingLane(sql, companyId, laneId)

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

export const blockedLanes = (sql: Sql, lanes: { companyId: number; laneId: number }[]) =>
  store.selectBlockedLanes(sql, lanes)

export const leasedRanges = (sql: Sql, companyId: number, dispatchId: number) =>
  store.selectLeasedRanges(sql, companyId, dispatchId)

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
