import type { Sql } from '../../db/sql.ts'
import { ERASED } from '../blacklist/erased.ts'
import type { Lease, RunnableLane } from '../lanes/lane.ts'
import { leaseArguments, type WantedChunk } from '../lanes/lanes.ts'
import type { CheckedMessage } from '../messages/message.ts'

/** A chunk of a lane, with the first and the last message of its dispatch. */
export type ChunkWithin = WantedChunk & { lane: Pick<RunnableLane, 'firstUuid' | 'lastUuid'> }

/** A lease, or a message of the lease of this lane. */
type LeaseRow = (Lease & { uuid: null }) | (CheckedMessage & { laneId: number })

/** Takes chunks of one company for one worker and reads their messages (the function `lease_with_messages` of the schema). */
export function insertLeasesWithMessages(sql: Sql, companyId: number, chunks: ChunkWithin[], worker: string) {
  return sql<LeaseRow[]>`
    select * from lease_with_messages(
      ${leaseArguments(sql, companyId, chunks, worker)},
      ${chunks.map(({ lane }) => lane.firstUuid)}::uuid[], ${chunks.map(({ lane }) => lane.lastUuid)}::uuid[], ${ERASED})`
}

/** The dispatch of a lane. A lane of single messages has none. */
export function selectDispatchOfLane(sql: Sql, companyId: number, laneId: number) {
  return sql<{ status: string; firstUuid: string | null; lastUuid: string | null }[]>`
    select d.status, d.first_uuid, d.last_uuid
    from lanes l join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id
    where l.company_id = ${companyId} and l.lane_id = ${laneId}`
}
