import { errorCodes } from '../../base/error-codes.ts'
import type { Pool } from '../../db/sql.ts'
import * as lanes from '../lanes/lane-ends.ts'
import * as store from './store.ts'

/** Writes down that messages of a company have failed before they were sent; resolves when that is committed. */
export type Refuse = (companyId: number, uuids: string[], errorCode: number) => Promise<unknown>

const LANES_AT_ONCE = 20
const BATCH = 2000
const KEEP_SECONDS = 30

/**
 * Ends lanes whose time is over (`localCompletionTime`), or whose dispatch was stopped for good: what is left in them
 * becomes unsent, a batch at a time, so that a million messages take neither memory nor a long lock.
 *
 * A lane is closed before it is looked at, so that nobody takes anything of it any more. What is in somebody's hands may
 * be with the operator already: it is left alone until the hand is empty. Whoever dies in between leaves everything to
 * the next: what has failed is not found again, and the lane stays due until nothing of it is left.
 */
export async function endDueLanes(sql: Pool, now: Date, refuse: Refuse): Promise<void> {
  for (const lane of await lanes.claimEndingLanes(sql, now, LANES_AT_ONCE)) await endLane(sql, lane, refuse)
}

async function endLane(sql: Pool, lane: lanes.EndingLane, refuse: Refuse) {
  // Asked before the messages: whoever lets go of something meanwhile leaves it to the next turn.
  const isHeld = (await lanes.selectHeldLeases(sql, lane)).length > 0
  let fromSeq = 0
  for (;;) {
    const unsent = await store.selectUnsent(sql, lane, fromSeq, BATCH)
    if (unsent.length > 0) await refuse(lane.companyId, uuidsOf(unsent), lane.errorCode ?? errorCodes.expired)
    if (unsent.length < BATCH) break
    fromSeq = unsent.at(-1)!.seq + 1
    await lanes.keepEndingLane(sql, lane, KEEP_SECONDS)
  }
  if (isHeld) await lanes.keepEndingLane(sql, lane, 0)
  else await lanes.finishLane(sql, lane)
}

const uuidsOf = (messages: { uuid: string }[]) => messages.map(({ uuid }) => uuid)
