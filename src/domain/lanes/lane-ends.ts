import { reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'

/** A lane whose end has passed. The first and the last uuid of its dispatch limit the search to the months of its messages. */
export type EndingLane = {
  companyId: number
  laneId: number
  tail: number
  errorCode: number | null
  firstUuid: string | null
  lastUuid: string | null
}

/** Lanes of all companies whose end has passed and that no engine has claimed. */
export const selectEndingLanes = (sql: Sql, now: Date, limit: number) =>
  sql<{ companyId: number; laneId: number }[]>`
    select company_id, lane_id from lanes
    where end_at <= ${now} and ending_until < statement_timestamp() ${reachable(sql)}
    order by end_at limit ${limit}`

/**
 * Closes lanes of a company whose end has passed and claims them for 30 seconds. If the engine dies, another one claims
 * them after that. The statement skips locked rows: a transaction that holds one lane and waits for another must never
 * wait for this one.
 */
export function claimEndingLanes(sql: Sql, companyId: number, laneIds: number[], now: Date) {
  return sql<EndingLane[]>`
    with due as (
      select e.lane_id, d.first_uuid, d.last_uuid from lanes e
      join dispatches d on d.company_id = ${companyId} and d.dispatch_id = e.dispatch_id
      where e.company_id = ${companyId} and e.lane_id = any(${laneIds}::bigint[]) and e.end_at <= ${now}
        and e.ending_until < statement_timestamp()
      for update of e skip locked)
    update lanes l set open = false, ending_until = statement_timestamp() + interval '30 seconds'
    from due
    where l.company_id = ${companyId} and l.lane_id = due.lane_id
    returning l.company_id, l.lane_id, l.tail,
      l.end_code as error_code, due.first_uuid, due.last_uuid`
}

/** Extends the claim on a lane, or with 0 seconds gives it back. */
export const extendEndingClaim = (sql: Sql, { companyId, laneId }: EndingLane, seconds: number) => sql`
  update lanes set ending_until = statement_timestamp() + make_interval(secs => ${seconds})
  where company_id = ${companyId} and lane_id = ${laneId}`

/** A lease of the lane that a worker has. */
export const selectWorkerLeases = (sql: Sql, { companyId, laneId }: EndingLane) => sql<{ leaseId: number }[]>`
  select lease_id from leases
  where company_id = ${companyId} and lane_id = ${laneId} and worker is not null limit 1`

/** Removes the end and the leases of a lane. Does nothing if messages were added meanwhile: then the lane is claimed again. */
export function finishLane(sql: Sql, { companyId, laneId, tail }: EndingLane) {
  return sql`
    with lane as (
      update lanes set cursor = tail, end_at = null, ending_until = '-infinity'
      where company_id = ${companyId} and lane_id = ${laneId} and tail = ${tail}
      returning company_id, lane_id)
    delete from leases e using lane where e.company_id = lane.company_id and e.lane_id = lane.lane_id`
}
