import type { ChannelType } from '../../base/channel-types.ts'
import { insertPieces } from '../../db/insert-pieces.ts'
import type { Transaction } from '../../db/sql.ts'

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
  sql: Transaction,
  companyId: number,
  lanes: (LaneKey & { count: number })[],
): Promise<ReservedPlaces[]> {
  const rows = lanes.map(lane => ({
    company_id: companyId,
    channel_type: lane.channelType,
    sender_id: lane.senderId,
    sender_name: lane.laneName,
    brand_id: lane.brandId,
    priority: lane.priority,
    tail: lane.count,
    open: true,
  }))
  const extended = await insertPieces(
    sql,
    rows,
    (sql, piece) => sql<(LaneKey & { laneId: number; tail: number })[]>`
      insert into lanes ${sql(piece)}
      on conflict (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
      do update set tail = lanes.tail + excluded.tail, open = true
      returning lane_id, tail, channel_type, sender_id, sender_name as lane_name, brand_id, priority`,
  )
  const counts = new Map(lanes.map(lane => [nameOfLane(lane), lane.count]))
  return extended.map(({ tail, ...lane }) => ({ ...lane, first: tail - counts.get(nameOfLane(lane))! }))
}

/** A text that is the same for equal keys only. */
export const nameOfLane = ({ channelType, senderId, laneName, brandId, priority }: LaneKey) =>
  `${channelType} ${senderId} ${brandId} ${priority}${laneName === null ? '' : ` ${laneName}`}`
