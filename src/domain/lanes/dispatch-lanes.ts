import type { Sql } from '../../db/sql.ts'

type DispatchKey = { companyId: number; dispatchId: number }

export type Lane = { laneId: number; senderId: number | null; brandId: number; zone: string | null; tail: number }
export type NewLane = Pick<Lane, 'senderId' | 'brandId' | 'zone'> & { startAt: Date | null; endAt: Date | null }

/** Creates the lanes that are missing and returns all of them. A lane that has ended already gets its new end. */
export function upsertLanes(
  sql: Sql,
  dispatch: DispatchKey,
  kind: { channelType: string; priority: number; senderName: string | null },
  lanes: NewLane[],
) {
  const time = (of: (lane: NewLane) => Date | null) => lanes.map(lane => of(lane)?.toISOString() ?? null)
  return sql<Lane[]>`
    insert into lanes (
      company_id, dispatch_id, channel_type, priority, sender_name, sender_id, brand_id, zone, start_at, end_at)
    select ${dispatch.companyId}, ${dispatch.dispatchId}, ${kind.channelType}, ${kind.priority}, ${kind.senderName}, * from unnest(
      ${lanes.map(({ senderId }) => senderId)}::bigint[], ${lanes.map(({ brandId }) => brandId)}::smallint[],
      ${lanes.map(({ zone }) => zone)}::text[], ${time(({ startAt }) => startAt)}::timestamptz[],
      ${time(({ endAt }) => endAt)}::timestamptz[])
    on conflict on constraint lanes_once do update set end_at = excluded.end_at
    returning lane_id, sender_id, brand_id, zone, tail`
}

export function updateLaneTails(sql: Sql, companyId: number, lanes: Pick<Lane, 'laneId' | 'tail'>[]) {
  return sql`
    update lanes set tail = q.tail
    from unnest(${lanes.map(({ laneId }) => laneId)}::bigint[], ${lanes.map(({ tail }) => tail)}::bigint[]) q (lane_id, tail)
    where lanes.company_id = ${companyId} and lanes.lane_id = q.lane_id`
}

/** Opens the lanes of a dispatch. A lane whose end has passed stays closed. */
export const openLanes = (sql: Sql, dispatch: DispatchKey, now: Date) => sql`
  update lanes set open = end_at is null or end_at > ${now}, not_before = '-infinity'
  where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}`

export const closeLanes = (sql: Sql, dispatch: DispatchKey) => sql`
  update lanes set open = false, not_before = '-infinity'
  where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}`

/** Closes the lanes for good: messages that are left in them fail with this error code. */
export const endLanes = (sql: Sql, dispatch: DispatchKey, errorCode: number) => sql`
  update lanes set open = false, not_before = '-infinity', end_at = '-infinity', end_code = ${errorCode}
  where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}`
