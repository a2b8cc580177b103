import { byCompany, sweep } from '../../db/by-company.ts'
import { acrossCompanies, reachableAmong } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import {
  type Lease,
  type LeasePage,
  MOST_WAITING_LANES,
  type PagedLane,
  type Queue,
  type QueuePage,
  type Run,
  type RunnableLane,
} from './lane.ts'
import * as store from './store.ts'

export {
  finishLeases,
  leasedRanges,
  postponeLanes,
  waitingByRoute,
  waitingLane,
  waitingLanes,
} from './store.ts'

/** Rows that one statement reads. */
const PAGE = 500

/**
 * The queues that have messages of these priorities to send now, by priority. The statement skips from queue to queue in the index, so a
 * company with twenty thousand lanes costs as much as a company with a few.
 */
export async function queuesByPriority(sql: Sql, priorities: number[], now: Date): Promise<Map<number, Queue[]>> {
  const found = new Map<number, Queue[]>(priorities.map(priority => [priority, []]))
  let after = { priority: Math.min(...priorities), companyId: 0, channelType: '' }
  for (;;) {
    const page = await acrossCompanies(sql, () => store.selectQueues(sql, Math.max(...priorities), now, after, PAGE))
    for (const { priority, companyId, channelType, isReady } of page)
      if (isReady) found.get(priority)?.push({ companyId, channelType })
    const last = page.at(-1)
    if (!last || sum(page.map(({ lanes }) => lanes)) < PAGE) return found
    after = last
  }
}

export async function queuesWithWork(sql: Sql, priority: number, now: Date): Promise<Queue[]> {
  return (await queuesByPriority(sql, [priority], now)).get(priority) ?? []
}

/** The companies with leases that may be expired or due, found in the same way. */
export async function companiesWithLeases(sql: Sql, now: Date): Promise<number[]> {
  const found: number[] = []
  let after = 0
  for (;;) {
    const page = await acrossCompanies(sql, () => store.selectCompaniesWithLeases(sql, now, after, PAGE))
    for (const { companyId, isReady } of page) if (isReady) found.push(companyId)
    const last = page.at(-1)
    if (!last || sum(page.map(({ leases }) => leases)) < PAGE) return found
    after = last.companyId
  }
}

/** The next lanes of each of these channels of companies that may go now. */
export const lanesInTurn = (sql: Sql, priority: number, now: Date, pages: QueuePage[], limit: number) =>
  byCompany<QueuePage, PagedLane>(pages, (companyId, own) =>
    store.lanesInTurn(sql, companyId, priority, now, own, limit),
  )

/** The next leases of each of these companies that expired or were returned. */
export async function leasesInTurn(sql: Sql, priority: number, now: Date, pages: LeasePage[], limit: number) {
  const gateways = await store.selectGatewaysInUse(sql)
  return byCompany<LeasePage, PagedLane & { leaseId: number }>(pages, async (_, own) => {
    const read = await Promise.all(own.map(page => store.leasesInTurn(sql, page, priority, now, gateways, limit)))
    return read.flat()
  })
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

/** Which of these lanes may no longer send. Lanes of a company that cannot be reached are left out. */
export function blockedLanes(sql: Sql, lanes: { companyId: number; laneId: number }[]) {
  const companyIds = [...new Set(lanes.map(({ companyId }) => companyId))]
  const laneIds = lanes.map(({ laneId }) => laneId)
  return acrossCompanies(sql, async () => {
    const present = reachableAmong(sql, companyIds)
    return present.length > 0 ? store.blockedLanes(sql, present, laneIds) : []
  })
}

export const expiredLeasesOfClosedLanes = (sql: Sql, limit: number) =>
  acrossCompanies(sql, () => store.expiredLeasesOfClosedLanes(sql, limit))

/** Whether a company has so many waiting lanes that it gets no more until some of them are empty. */
export async function hasTooManyLanes(sql: Sql, companyId: number): Promise<boolean> {
  const [waiting] = await store.countWaitingLanes(sql, companyId, MOST_WAITING_LANES + 1)
  return waiting !== undefined && waiting.count > MOST_WAITING_LANES
}

export type { PostponedLane, WantedChunk } from './store.ts'

/** Takes one lease for each chunk, all of one company and of different lanes. Undefined for a chunk that another worker took first. */
export async function takeChunks(
  sql: Sql,
  companyId: number,
  chunks: store.WantedChunk[],
  worker: string,
): Promise<(Lease | undefined)[]> {
  refuseTwice(chunks)
  const leases = await store.insertLeases(sql, companyId, chunks, worker)
  const byLane = new Map(leases.map(lease => [lease.laneId, lease]))
  return chunks.map(({ lane }) => byLane.get(lane.laneId))
}

/** The first arguments of a function that takes leases. */
export function leaseArguments(sql: Sql, companyId: number, chunks: store.WantedChunk[], worker: string) {
  refuseTwice(chunks)
  return store.leaseArguments(sql, companyId, chunks, worker)
}

function refuseTwice(chunks: store.WantedChunk[]) {
  if (new Set(chunks.map(({ lane }) => lane.laneId)).size < chunks.length) throw new Error('A lane was asked for twice')
}

export async function takeChunk(
  sql: Sql,
  lane: RunnableLane,
  size: number,
  worker: string,
): Promise<Lease | undefined> {
  const [lease] = await takeChunks(sql, lane.companyId, [{ lane, size }], worker)
  return lease
}

export async function takeOver(sql: Sql, lease: { companyId: number; leaseId: number }, worker: string) {
  const [taken] = await store.takeOverLease(sql, lease, worker)
  return taken
}

/** Renews leases of a company, and returns the tokens of the leases that are still ours. */
export async function renewLeases(sql: Sql, companyId: number, leases: Lease[], worker: string): Promise<Set<string>> {
  return new Set((await store.renewLeases(sql, companyId, leases, worker)).map(({ token }) => token))
}

/** Whether a deadline after this moment covers the range of the lease. */
export async function hasDeadline(sql: Sql, lease: Lease, after: Date): Promise<boolean> {
  return (await store.selectDeadline(sql, lease, after)).length > 0
}

/** Replaces a lease by the runs that are left to send. False if another worker has the lease. */
export async function splitLease(sql: Sql, lease: Lease, runs: Run[]): Promise<boolean> {
  const { count } = await store.deleteLease(sql, lease)
  if (count > 0 && runs.length > 0) await store.insertReturned(sql, lease, runs)
  return count > 0
}

const BATCH = 1000
const MOST_BATCHES = 100

/** Deletes empty lanes of sender names without registration, because a client may use another name in every message. */
export async function forgetIdleLanes(sql: Sql): Promise<void> {
  await sweep(
    limit => store.selectIdleLanes(sql, limit),
    (companyId, idle) =>
      store.deleteIdleLanes(
        sql,
        companyId,
        idle.map(({ laneId }) => laneId),
      ),
    { batch: BATCH, mostBatches: MOST_BATCHES },
  )
}
