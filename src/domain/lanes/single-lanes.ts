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
export async function extendLanes(
  sql: Sql,
  companyId: number,
  lanes: (LaneKey & { count: number })[],
): Promise<ReservedPlaces[]> {
  const rows = lanes.map(lane => [
    companyId,
    lane.channelType,
    lane.senderId,
    lane.laneName,
    lane.brandId,
    lane.priority,
    lane.count,
    true,
  ])
  const extended = await sql<(LaneKey & { laneId: number; tail: number })[]>`
    insert into lanes as l (company_id, channel_type, sender_id, sender_name, brand_id, priority, tail, open)
    values ${sql(rows as never)}
    on conflict (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
    do update set tail = l.tail + excluded.tail, open = true
    returning l.lane_id, l.tail, l.channel_type, l.sender_id, l.sender_name as lane_name, l.brand_id, l.priority`
  const counts = new Map(lanes.map(lane => [nameOf(lane), lane.count]))
  return extended.map(({ tail, ...lane }) => ({ ...lane, first: tail - counts.get(nameOf(lane))! }))
}

const nameOf = ({ channelType, senderId, laneName, brandId, priority }: LaneKey) =>
  JSON.stringify([channelType, senderId, laneName, brandId, priority])
