import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import type { MessagesOfDispatch } from '../messages/messages.ts'
import type { DispatchFilter, LiveDispatch, Place, Share, WatchedDispatch } from './watched.ts'

const columns = (sql: Sql) => sql`
  d.dispatch_id, d.status, d.company_id, c.name as company_name, c.currency, d.name,
  d.channel_type, jsonb_path_query_array(d.cascade, '$[*].channelType') as cascade_channels,
  d.price_estimate, d.created_at, d.start_at,
  d.started_at, d.completed_at, d.ended_at, counts.*`

/** Reads the counters of the blocks and no messages. */
const withCounts = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(created_messages), 0)::bigint as waiting, coalesce(sum(sent_messages), 0)::bigint as sent,
      coalesce(sum(delivered_messages), 0)::bigint as delivered, coalesce(sum(failed_messages), 0)::bigint as failed,
      coalesce(sum(unsent_messages), 0)::bigint as unsent
    from dispatch_blocks b where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
  ) counts`

function isInScope(sql: Sql, scope: CompanyScope) {
  if (scope.kind === 'COMPANY') return sql`c.company_id = ${scope.companyId}`
  if (scope.kind === 'PARTNER') return sql`c.partner_id = ${scope.partnerId}`
  return sql`true`
}

function fits(sql: Sql, { status, channelType, search, createdFrom, createdBefore }: DispatchFilter) {
  return sql`
    ${status ? sql`and o.status = ${status}` : sql``}
    ${channelType ? sql`and o.channel_type = ${channelType}` : sql``}
    ${search ? sql`and (position(lower(${search}::text) in lower(o.name)) > 0 or o.dispatch_id::text = ${search})` : sql``}
    ${createdFrom ? sql`and o.created_at >= ${createdFrom}` : sql``}
    ${createdBefore ? sql`and o.created_at < ${createdBefore}` : sql``}`
}

/**
 * A page of the dispatches of all companies in the scope, the newest first. The statement reads at most one page of each
 * company from its index, so it does not read thousands of older dispatches.
 */
export function selectWatched(sql: Sql, scope: CompanyScope, filter: DispatchFilter, place: Place, limit: number) {
  const isUpwards = place !== undefined && 'newerThan' in place
  const order = isUpwards ? sql`asc` : sql`desc`
  const bound =
    place === undefined
      ? sql``
      : 'newerThan' in place
        ? sql`and o.dispatch_id > ${place.newerThan}`
        : sql`and o.dispatch_id < ${place.olderThan}`
  return sql<WatchedDispatch[]>`
    select ${columns(sql)} from (
      select own.company_id, own.dispatch_id from companies c
      cross join lateral (
        select o.company_id, o.dispatch_id from dispatches o
        where o.company_id = c.company_id ${bound} ${fits(sql, filter)}
        order by o.dispatch_id ${order} limit ${limit}
      ) own
      where ${isInScope(sql, scope)}
      order by own.dispatch_id ${order} limit ${limit}
    ) page
    join dispatches d using (company_id, dispatch_id)
    join companies c using (company_id)
    ${withCounts(sql)}
    order by d.dispatch_id desc`
}

export function countByStatus(sql: Sql, scope: CompanyScope) {
  return sql<{ status: DispatchStatus; dispatches: number }[]>`
    select d.status, count(*) as dispatches from companies c join dispatches d using (company_id)
    where ${isInScope(sql, scope)} group by d.status`
}

export function selectOneWatched(sql: Sql, scope: CompanyScope, companyId: number, dispatchId: number) {
  return sql<WatchedDispatch[]>`
    select ${columns(sql)} from dispatches d
    join companies c on c.company_id = d.company_id
    ${withCounts(sql)}
    where d.company_id = ${companyId} and d.dispatch_id = ${dispatchId} and ${isInScope(sql, scope)}`
}

/** The companies among these that are in the scope. */
export function selectOwned(sql: Sql, scope: CompanyScope, companyIds: number[]) {
  return sql<{ companyId: number }[]>`
    select c.company_id from companies c
    where c.company_id = any(${companyIds}::bigint[]) and ${isInScope(sql, scope)}`
}

/** The current state of the dispatches of these companies. */
export function selectLive(sql: Sql, companyIds: number[], dispatchIds: number[]) {
  return sql<LiveDispatch[]>`
    select d.dispatch_id, d.status, counts.* from dispatches d
    ${withCounts(sql)}
    where d.company_id = any(${companyIds}::bigint[]) and d.dispatch_id = any(${dispatchIds}::bigint[])`
}

export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

export type Slices = { from: Date; seconds: number; most: number }
type Counted = Share & { isSlice: boolean; slice: number | null; lastAt: Date | null }

/** Reads every message of the dispatch once, and counts by status and by time of sending. */
export function selectShares(sql: Sql, dispatch: MessagesOfDispatch, { from, seconds, most }: Slices) {
  return sql<Counted[]>`
    select brand_id, status, error_code, was_sent,
      count(*) as messages, sum(price) as price, coalesce(sum(final_price), 0) as final_price,
      grouping(slice) = 0 as is_slice, slice, max(sent_at) as last_at
    from (
      select brand_id, status, error_code, sent_at is not null as was_sent, sent_at, price, final_price,
        case when sent_at is not null then
          floor(least(greatest(extract(epoch from sent_at - ${from}::timestamptz) / ${seconds}::int, 0), ${most}::int))::int
        end as slice
      from messages
      where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
        and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
    ) m
    group by grouping sets ((brand_id, status, error_code, was_sent), (slice))`
}
