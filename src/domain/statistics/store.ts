import { formatMoney } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { TrafficHour } from './traffic.ts'

/**
 * Adds to the traffic hours of a company. Concurrent transactions of a company lock their rows in the same order, so that they
 * do not deadlock.
 */
export function addTraffic(sql: Sql, companyId: number, rows: TrafficHour[]) {
  const sorted = rows.toSorted(byKey)
  const column = <T>(of: (row: TrafficHour) => T) => sorted.map(of)
  return sql`
    insert into traffic_hours as t (
      company_id, hour, channel_type, traffic_type, brand_id, accepted, accepted_parts, sent, sent_parts, delivered,
      delivered_parts, failed, failed_parts, spent)
    select o.company_id, to_timestamp(q.hour * 3600), q.channel_type, q.traffic_type, q.brand_id, q.accepted,
      q.accepted_parts, q.sent, q.sent_parts, q.delivered, q.delivered_parts, q.failed, q.failed_parts, q.spent
    from companies o, unnest(
      ${column(row => row.hour)}::bigint[], ${column(row => row.channelType)}::text[],
      ${column(row => row.trafficType)}::text[], ${column(row => row.brandId)}::smallint[],
      ${column(row => row.accepted)}::bigint[], ${column(row => row.acceptedParts)}::bigint[],
      ${column(row => row.sent)}::bigint[], ${column(row => row.sentParts)}::bigint[],
      ${column(row => row.delivered)}::bigint[], ${column(row => row.deliveredParts)}::bigint[],
      ${column(row => row.failed)}::bigint[], ${column(row => row.failedParts)}::bigint[],
      ${column(row => formatMoney(row.spent))}::text[]::numeric[]
    ) q (hour, channel_type, traffic_type, brand_id, accepted, accepted_parts, sent, sent_parts, delivered,
      delivered_parts, failed, failed_parts, spent)
    where o.company_id = ${companyId}
    on conflict (company_id, hour, channel_type, brand_id, traffic_type) do update set
      accepted = t.accepted + excluded.accepted, accepted_parts = t.accepted_parts + excluded.accepted_parts,
      sent = t.sent + excluded.sent, sent_parts = t.sent_parts + excluded.sent_parts,
      delivered = t.delivered + excluded.delivered, delivered_parts = t.delivered_parts + excluded.delivered_parts,
      failed = t.failed + excluded.failed, failed_parts = t.failed_parts + excluded.failed_parts,
      spent = t.spent + excluded.spent`
}

const byKey = (a: TrafficHour, b: TrafficHour) =>
  a.hour - b.hour ||
  compareText(a.channelType, b.channelType) ||
  a.brandId - b.brandId ||
  compareText(a.trafficType, b.trafficType)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
