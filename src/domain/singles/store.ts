import { formatMoney } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { NewSingle } from './single.ts'

export const selectNow = (sql: Sql) => sql<{ now: Date }[]>`select clock_timestamp() as now`

export type LaneKey = Pick<NewSingle, 'channelType' | 'senderId' | 'brandId' | 'priority'>

/** Makes room for messages at the end of a lane of singles, which is made when it is missing and always open. */
export function extendLane(sql: Sql, companyId: number, key: LaneKey, count: number) {
  return sql<{ laneId: number; first: number }[]>`
    insert into lanes (company_id, channel_type, sender_id, brand_id, priority, tail, open)
    values (${companyId}, ${key.channelType}, ${key.senderId}, ${key.brandId}, ${key.priority}, ${count}, true)
    on conflict (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, zone)
    do update set tail = lanes.tail + excluded.tail, open = true
    returning lane_id as "laneId", tail - ${count}::bigint as first`
}

export type PlacedSingle = NewSingle & { uuid: string; laneId: number; seq: number }

export function insertMessages(sql: Sql, companyId: number, messages: PlacedSingle[]) {
  const column = <T>(of: (message: PlacedSingle) => T) => messages.map(of)
  return sql`
    insert into messages (
      company_id, uuid, lane_id, seq, sender_id, tariff_id, price, status, parts, brand_id, destination, text)
    select ${companyId}, q.uuid, q.lane_id, q.seq, q.sender_id, q.tariff_id, q.price, 'CREATED', q.parts, q.brand_id,
      q.destination, q.text
    from unnest(
      ${column(m => m.uuid)}::uuid[], ${column(m => m.laneId)}::bigint[], ${column(m => m.seq)}::bigint[],
      ${column(m => m.senderId)}::bigint[], ${column(m => m.tariffId)}::bigint[],
      ${column(m => formatMoney(m.price))}::text[]::numeric[], ${column(m => m.parts)}::smallint[],
      ${column(m => m.brandId)}::smallint[], ${column(m => m.destination)}::text[], ${column(m => m.text)}::text[]
    ) q (uuid, lane_id, seq, sender_id, tariff_id, price, parts, brand_id, destination, text)`
}

export const notifyLanes = (sql: Sql) => sql`select pg_notify('tidings_lanes', '')`
