import type { ChannelType } from '../../base/channel-types.ts'
import type { Sql } from '../../db/sql.ts'

/** `laneName` is set for a name without registration that has its own lane. */
export type LaneKey = {
  channelType: ChannelType
  senderId: number | null
  brandId: number
  priority: number
  laneName: string | null
}
export type ReservedPlaces = LaneKey & { laneId: number; first: number }

/** Reserves places at the end of lanes of single messages. Creates missing lanes. These lanes are always open. */
export function extendLanes(sql: Sql, companyId: number, lanes: (LaneKey & { count: number })[]) {
  return sql<ReservedPlaces[]>`
    with wanted as (
      select * from unnest(
        ${lanes.map(({ channelType }) => channelType)}::text[], ${lanes.map(({ senderId }) => senderId)}::bigint[],
        ${lanes.map(({ laneName }) => laneName)}::text[], ${lanes.map(({ brandId }) => brandId)}::smallint[],
        ${lanes.map(({ priority }) => priority)}::smallint[], ${lanes.map(({ count }) => count)}::bigint[]
      ) q (channel_type, sender_id, sender_name, brand_id, priority, count)),
    extended as (
      insert into lanes as l (company_id, channel_type, sender_id, sender_name, brand_id, priority, tail, open)
      select ${companyId}, channel_type, sender_id, sender_name, brand_id, priority, count, true from wanted
      on conflict (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
      do update set tail = l.tail + excluded.tail, open = true
      returning l.*)
    select e.lane_id, e.tail - w.count as first, e.channel_type, e.sender_id,
      e.sender_name as lane_name, e.brand_id, e.priority
    from extended e join wanted w on e.channel_type = w.channel_type and e.sender_id is not distinct from w.sender_id
      and e.sender_name is not distinct from w.sender_name and e.brand_id = w.brand_id and e.priority = w.priority`
}
