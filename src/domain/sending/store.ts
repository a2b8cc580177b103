import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import type { TrafficKind } from '../statistics/traffic.ts'

/**
 * What a message's dispatch decides about it: whether it holds money while CREATED, who wants to be told, and what it
 * is counted as.
 */
export type Home = TrafficKind & {
  dispatchId: number
  status: DispatchStatus
  format: 'partner' | 'messaging'
  callbackUrl: string | null
  callbackEvents: string[]
}

export function selectHomes(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<Home[]>`
    select dispatch_id as "dispatchId", status, format, callback_url as "callbackUrl",
      coalesce(callback_events, '{delivered}') as "callbackEvents", channel_type as "channelType",
      traffic_type as "trafficType"
    from dispatches
    where company_id = ${companyId} and dispatch_id = any(${dispatchIds}::bigint[])`
}

export function reduceCreatedPrice(sql: Sql, companyId: number, byDispatch: Map<number, Money>) {
  return sql`
    update dispatches d set created_price = created_price - q.amount
    from unnest(${[...byDispatch.keys()]}::bigint[], ${[...byDispatch.values()].map(formatMoney)}::text[]::numeric[]) q (dispatch_id, amount)
    where d.company_id = ${companyId} and d.dispatch_id = q.dispatch_id`
}

export function insertSubmissions(
  sql: Sql,
  companyId: number,
  rows: { gatewayId: number; providerId: string; uuid: string; part: number; parts: number }[],
  now: Date,
) {
  return sql`
    insert into submissions (gateway_id, provider_id, day, company_id, uuid, part, parts)
    select q.gateway_id, q.provider_id, ${now.toISOString().slice(0, 10)}::date, ${companyId}, q.uuid, q.part, q.parts
    from unnest(
      ${rows.map(row => row.gatewayId)}::bigint[], ${rows.map(row => row.providerId)}::text[],
      ${rows.map(row => row.uuid)}::uuid[], ${rows.map(row => row.part)}::smallint[],
      ${rows.map(row => row.parts)}::smallint[]
    ) q (gateway_id, provider_id, uuid, part, parts)
    on conflict do nothing`
}

/** The dispatch that a lane belongs to; none for lanes of single messages. */
export function selectHomeOfLane(sql: Sql, companyId: number, laneId: number) {
  return sql<{ status: string; firstUuid: string | null; lastUuid: string | null }[]>`
    select d.status, d.first_uuid as "firstUuid", d.last_uuid as "lastUuid"
    from lanes l join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id
    where l.company_id = ${companyId} and l.lane_id = ${laneId}`
}

/** When the lifetime of what was sent of a range is over. */
export function insertDeadline(
  sql: Sql,
  range: { companyId: number; laneId: number; firstSeq: number; nextSeq: number },
  dueAt: Date,
) {
  return sql`
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    values (${range.companyId}, ${range.laneId}, ${range.firstSeq}, ${range.nextSeq}, ${dueAt})`
}
