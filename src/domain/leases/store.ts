import type { Sql } from '../../db/sql.ts'

/** The dispatch of a lane. A lane of single messages has none. */
export function selectDispatchOfLane(sql: Sql, companyId: number, laneId: number) {
  return sql<{ status: string; firstUuid: string | null; lastUuid: string | null }[]>`
    select d.status, d.first_uuid, d.last_uuid
    from lanes l join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id
    where l.company_id = ${companyId} and l.lane_id = ${laneId}`
}
