import { errorCodes } from '../../base/error-codes.ts'
import { byCompany, oneByOne } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Pool } from '../../db/sql.ts'
import * as lanes from '../lanes/lane-ends.ts'
import * as store from './store.ts'

/** Records that messages of a company failed before they were sent. Resolves after the commit. */
export type Refuse = (companyId: number, uuids: string[], errorCode: number) => Promise<unknown>

const LANES_AT_ONCE = 20
const BATCH = 2000
const KEEP_SECONDS = 30

/**
 * Ends lanes after their completion time (`localCompletionTime`), and lanes of a dispatch that was ended. Their CREATED
 * messages fail as unsent, batch by batch, so that a million messages need neither much memory nor a long lock.
 *
 * The lane is closed first, so that no worker leases its messages. The operator may already have messages that an open
 * lease covers, so these wait until the lease is closed. If the process crashes, another process continues: failed messages
 * are not selected again, and the lane stays due until no message is left.
 */
export async function endDueLanes(sql: Pool, now: Date, refuse: Refuse): Promise<void> {
  await oneByOne(await claimDueLanes(sql, now), lane => endLane(sql, lane, refuse))
}

const claimDueLanes = async (sql: Pool, now: Date): Promise<lanes.EndingLane[]> =>
  byCompany(await acrossCompanies(sql, () => lanes.selectEndingLanes(sql, now, LANES_AT_ONCE)), (companyId, due) =>
    lanes.claimEndingLanes(
      sql,
      companyId,
      due.map(({ laneId }) => laneId),
      now,
    ),
  )

async function endLane(sql: Pool, lane: lanes.EndingLane, refuse: Refuse) {
  // Read before the messages. Messages of a lease that is closed meanwhile fail in the next turn.
  const isLeased = (await lanes.selectWorkerLeases(sql, lane)).length > 0
  let fromSeq = 0
  for (;;) {
    const unsent = await store.selectUnsent(sql, lane, fromSeq, BATCH)
    if (unsent.length > 0) await refuse(lane.companyId, uuidsOf(unsent), lane.errorCode ?? errorCodes.expired)
    const last = unsent.at(-1)
    if (!last || unsent.length < BATCH) break
    fromSeq = last.seq + 1
    await lanes.extendEndingClaim(sql, lane, KEEP_SECONDS)
  }
  if (isLeased) await lanes.extendEndingClaim(sql, lane, 0)
  else await lanes.finishLane(sql, lane)
}

const uuidsOf = (messages: { uuid: string }[]) => messages.map(({ uuid }) => uuid)
