import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Dispatch, DispatchStatus, NewDispatch } from './dispatch.ts'

const columns = (sql: Sql) => sql`
  d.company_id as "companyId", d.dispatch_id as "dispatchId", d.name, d.status, d.channel_type as "channelType",
  d.traffic_type as "trafficType", d.text, d.sender_ids as "senderIds", d.price_estimate as "priceEstimate",
  d.tariff_ids as "tariffIds", d.created_price as "createdPrice", d.message_count as "messageCount",
  d.first_uuid as "firstUuid", d.last_uuid as "lastUuid",
  d.created_at as "createdAt", d.started_at as "startedAt", c.currency`

export function insertDispatchId(sql: Sql, companyId: number) {
  return sql<{ dispatchId: number; now: Date }[]>`
    insert into dispatch_ids (company_id) values (${companyId})
    returning dispatch_id as "dispatchId", clock_timestamp() as now`
}

export function insertDispatch(
  sql: Sql,
  companyId: number,
  dispatchId: number,
  trafficType: string,
  dispatch: NewDispatch,
) {
  const { schedule } = dispatch
  return sql`
    insert into dispatches (
      company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, start_at, offset_minutes, hours,
      days, callback_url, callback_events)
    values (
      ${companyId}, ${dispatchId}, ${dispatch.name}, ${dispatch.channelType}, ${trafficType}, ${dispatch.text},
      ${dispatch.senderIds}, ${schedule?.startAt ?? null}, ${schedule?.offsetMinutes ?? null},
      ${schedule?.hours ?? null}, ${schedule?.days ?? null}, ${dispatch.callbackUrl ?? null},
      ${dispatch.callbackEvents ?? null})`
}

export type Lane = { laneId: number; senderId: number; brandId: number; tail: number }

/** Makes the lanes that are missing, and returns those. */
export function insertLanes(
  sql: Sql,
  home: { companyId: number; dispatchId: number },
  channelType: string,
  priority: number,
  lanes: Pick<Lane, 'senderId' | 'brandId'>[],
) {
  return sql<Lane[]>`
    insert into lanes (company_id, dispatch_id, channel_type, priority, sender_id, brand_id)
    select ${home.companyId}, ${home.dispatchId}, ${channelType}, ${priority}, * from unnest(
      ${lanes.map(({ senderId }) => senderId)}::bigint[], ${lanes.map(({ brandId }) => brandId)}::smallint[])
    on conflict do nothing
    returning lane_id as "laneId", sender_id as "senderId", brand_id as "brandId", tail`
}

export function selectLanes(sql: Sql, home: { companyId: number; dispatchId: number }) {
  return sql<Lane[]>`
    select lane_id as "laneId", sender_id as "senderId", brand_id as "brandId", tail from lanes
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}`
}

export function updateLaneTails(sql: Sql, companyId: number, lanes: Pick<Lane, 'laneId' | 'tail'>[]) {
  return sql`
    update lanes set tail = q.tail
    from unnest(${lanes.map(({ laneId }) => laneId)}::bigint[], ${lanes.map(({ tail }) => tail)}::bigint[]) q (lane_id, tail)
    where lanes.company_id = ${companyId} and lanes.lane_id = q.lane_id`
}

export const setLanesOpen = (sql: Sql, home: { companyId: number; dispatchId: number }, open: boolean) =>
  sql`update lanes set open = ${open}, not_before = '-infinity' where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}`

/** What a request added; the bounds of the keys only ever widen. */
export function addToDispatch(
  sql: Sql,
  home: { companyId: number; dispatchId: number },
  added: { messages: number; estimate: Money; tariffIds: number[]; firstUuid: string; lastUuid: string },
) {
  return sql`
    update dispatches set
      message_count = message_count + ${added.messages},
      price_estimate = price_estimate + ${sql.typed.money(added.estimate)},
      created_price = created_price + ${sql.typed.money(added.estimate)},
      tariff_ids = array(select distinct unnest(tariff_ids || ${added.tariffIds}::bigint[])),
      first_uuid = least(first_uuid, ${added.firstUuid}::uuid),
      last_uuid = greatest(last_uuid, ${added.lastUuid}::uuid)
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}`
}

/** A dispatch of this partner, from its bare id. */
export function selectDispatch(sql: Sql, partnerId: number, dispatchId: number) {
  return sql<Dispatch[]>`
    select ${columns(sql)} from dispatch_ids i
    join dispatches d on d.company_id = i.company_id and d.dispatch_id = i.dispatch_id
    join companies c on c.company_id = d.company_id
    where i.dispatch_id = ${dispatchId} and c.partner_id = ${partnerId}`
}

/** The same, locked: append, start and stop look at the status under this lock. */
export function lockDispatch(sql: Sql, companyId: number, dispatchId: number) {
  return sql<(Dispatch & { now: Date })[]>`
    select ${columns(sql)}, clock_timestamp() as now from dispatches d join companies c using (company_id)
    where d.company_id = ${companyId} and d.dispatch_id = ${dispatchId} for update of d`
}

type BlockSums = {
  createdMessages: number
  sentMessages: number
  deliveredMessages: number
  failedMessages: number
  createdParts: number
  sentParts: number
  deliveredParts: number
  failedParts: number
}

export type DispatchWithSums = Dispatch & BlockSums

const withSums = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(created_messages), 0)::bigint as "createdMessages",
      coalesce(sum(sent_messages), 0)::bigint as "sentMessages",
      coalesce(sum(delivered_messages), 0)::bigint as "deliveredMessages",
      coalesce(sum(failed_messages), 0)::bigint as "failedMessages",
      coalesce(sum(created_parts), 0)::bigint as "createdParts",
      coalesce(sum(sent_parts), 0)::bigint as "sentParts",
      coalesce(sum(delivered_parts), 0)::bigint as "deliveredParts",
      coalesce(sum(failed_parts), 0)::bigint as "failedParts"
    from dispatch_blocks b where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
  ) sums`

export function selectDispatchWithSums(sql: Sql, partnerId: number, dispatchId: number) {
  return sql<DispatchWithSums[]>`
    select ${columns(sql)}, sums.* from dispatch_ids i
    join dispatches d on d.company_id = i.company_id and d.dispatch_id = i.dispatch_id
    join companies c on c.company_id = d.company_id
    ${withSums(sql)}
    where i.dispatch_id = ${dispatchId} and c.partner_id = ${partnerId}`
}

const ofStatus = (sql: Sql, status: DispatchStatus | undefined) => (status ? sql`and status = ${status}` : sql``)

/** The page is cut on the narrow index first, so that what lies before it is skipped, not read. */
export function selectDispatches(
  sql: Sql,
  companyId: number,
  status: DispatchStatus | undefined,
  offset: number,
  limit: number,
) {
  return sql<DispatchWithSums[]>`
    select ${columns(sql)}, sums.* from (
      select company_id, dispatch_id from dispatches where company_id = ${companyId} ${ofStatus(sql, status)}
      order by dispatch_id desc offset ${offset} limit ${limit}
    ) page
    join dispatches d using (company_id, dispatch_id)
    join companies c using (company_id)
    ${withSums(sql)}
    order by d.dispatch_id desc`
}

export function countDispatches(sql: Sql, companyId: number, status: DispatchStatus | undefined) {
  return sql<{ total: number }[]>`
    select count(*) as total from dispatches where company_id = ${companyId} ${ofStatus(sql, status)}`
}

export function updateStatus(sql: Sql, home: { companyId: number; dispatchId: number }, status: DispatchStatus) {
  return sql`
    update dispatches set status = ${status},
      started_at = case when ${status === 'STARTED'} then coalesce(started_at, clock_timestamp()) else started_at end
    where company_id = ${home.companyId} and dispatch_id = ${home.dispatchId}`
}

/** Those of the dispatches that have nothing pending any more, moved once. */
export function completeFinished(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<{ dispatchId: number }[]>`
    update dispatches d set status = 'COMPLETED', completed_at = clock_timestamp()
    where d.company_id = ${companyId} and d.dispatch_id = any(${dispatchIds}::bigint[])
      and d.status in ('STARTED', 'STOPPED')
      and not exists (
        select from dispatch_blocks b
        where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
          and b.created_messages + b.sent_messages > 0)
    returning d.dispatch_id as "dispatchId"`
}

/** How many people each tariff by unique recipients has reached this month, and how many new ones a dispatch could. */
export function selectReach(sql: Sql, dispatch: Dispatch, tariffIds: number[], month: string) {
  return sql<{ tariffId: number; reached: number; within: number }[]>`
    select t.tariff_id as "tariffId", coalesce(u.recipients, 0)::bigint as reached, (
      select count(distinct m.destination) from messages m
      where m.company_id = ${dispatch.companyId} and m.dispatch_id = ${dispatch.dispatchId}
        and m.uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
        and m.tariff_id = t.tariff_id and m.status in ('CREATED', 'SENT')
        and not exists (
          select from tariff_recipients r
          where r.company_id = m.company_id and r.tariff_id = m.tariff_id and r.month = ${month}
            and r.destination = m.destination)
    ) as within
    from unnest(${tariffIds}::bigint[]) t (tariff_id)
    left join tariff_usage u
      on u.company_id = ${dispatch.companyId} and u.tariff_id = t.tariff_id and u.month = ${month}`
}
