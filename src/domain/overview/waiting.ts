import type { ChannelType } from '../../base/channel-types.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import { waitingLane } from '../lanes/lanes.ts'
import { reasonsOfLanes, type WaitReason } from '../waiting/waiting.ts'
import { DAY_MS } from './days.ts'
import * as store from './store.ts'

/** The company of a line. It is present if several companies are shown. */
export type CompanyName = { companyId: number; name: string }

export type OldestWaiting = {
  company: CompanyName
  channelType: ChannelType
  dispatch: { dispatchId: number; name: string } | null
  since: Date
  /** What stops it most; none when it simply takes its time. */
  reason: WaitReason | undefined
}

/** A lane with messages that wait, and since when its first one does. */
export type Waiting = store.WaitingPlace & { since: Date }

const MOST_LANES = 500
/** Single messages wait no longer: their lifetime is over. */
const LONGEST_WAIT_MS = 8 * DAY_MS

export async function waitingPlaces(sql: Sql, scope: CompanyScope, now: Date): Promise<Waiting[]> {
  const earliest = firstUuidAt(new Date(now.getTime() - LONGEST_WAIT_MS))
  const places = await store.selectWaiting(sql, scope, earliest, MOST_LANES)
  return places.flatMap(place => {
    const since = place.since ?? (place.firstUuid === null ? null : timeOfUuid7(place.firstUuid))
    return since === null || since > now ? [] : [{ ...place, since }]
  })
}

/** Not greater than any key that was made at this time. */
function firstUuidAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

export async function oldestOf(sql: Sql, waiting: Waiting[], now: Date): Promise<OldestWaiting | undefined> {
  const [oldest] = waiting.toSorted((a, b) => a.since.getTime() - b.since.getTime())
  if (!oldest) return undefined
  const { companyId, laneId, channelType, dispatchId, dispatchName, since } = oldest
  const [reason] = await reasonsOfLanes(sql, await waitingLane(sql, companyId, laneId), now)
  return {
    company: { companyId, name: oldest.companyName },
    channelType,
    dispatch: dispatchId === null ? null : { dispatchId, name: dispatchName ?? '' },
    since,
    reason,
  }
}
