import { insertPieces } from '../../db/insert-pieces.ts'
import type { Transaction } from '../../db/sql.ts'
import { HOUR_MS, type TrafficHour } from './traffic.ts'

/**
 * Adds to the traffic hours of a company. Concurrent transactions of a company lock their rows in the same order, so that they
 * do not deadlock.
 */
export function addTraffic(sql: Transaction, companyId: number, hours: TrafficHour[]) {
  const rows = hours.toSorted(byKey).map(row => ({
    company_id: companyId,
    hour: new Date(row.hour * HOUR_MS),
    channel_type: row.channelType,
    traffic_type: row.trafficType,
    brand_id: row.brandId,
    accepted: row.accepted,
    accepted_parts: row.acceptedParts,
    sent: row.sent,
    sent_parts: row.sentParts,
    delivered: row.delivered,
    delivered_parts: row.deliveredParts,
    failed: row.failed,
    failed_parts: row.failedParts,
    spent: sql.typed.money(row.spent) as never,
  }))
  return insertPieces(
    sql,
    rows,
    (sql, piece) => sql`
      insert into traffic_hours ${sql(piece)}
      on conflict (company_id, hour, channel_type, brand_id, traffic_type) do update set
        accepted = traffic_hours.accepted + excluded.accepted, accepted_parts = traffic_hours.accepted_parts + excluded.accepted_parts,
        sent = traffic_hours.sent + excluded.sent, sent_parts = traffic_hours.sent_parts + excluded.sent_parts,
        delivered = traffic_hours.delivered + excluded.delivered, delivered_parts = traffic_hours.delivered_parts + excluded.delivered_parts,
        failed = traffic_hours.failed + excluded.failed, failed_parts = traffic_hours.failed_parts + excluded.failed_parts,
        spent = traffic_hours.spent + excluded.spent`,
  )
}

const byKey = (a: TrafficHour, b: TrafficHour) =>
  a.hour - b.hour ||
  compareText(a.channelType, b.channelType) ||
  a.brandId - b.brandId ||
  compareText(a.trafficType, b.trafficType)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
