import { randomUUID } from 'node:crypto'
import type { ChannelType } from '../../base/channel-types.ts'
import { reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import {
  CODES,
  LEASE_SECONDS,
  type Lease,
  type LeasePage,
  type PagedLane,
  type Queue,
  type QueuePage,
  type Run,
  type RunnableLane,
  type WaitingLane,
} from './lane.ts'

/** What a lane needs to be brought out. */
const columns = (sql: Sql) => sql`
  l.company_id, l.lane_id, l.dispatch_id,
  l.channel_type, l.brand_id, l.priority,
  extract(epoch from l.served_at)::double precision as served_at,
  l.sender_id, coalesce(s.sender_name, l.sender_name, '') as sender_name,
  coalesce(s.status, 'APPROVED') as sender_status,
  s.parts_per_second as sender_rate, c.parts_per_second as company_rate, d.parts_per_second as dispatch_rate,
  coalesce(l.start_at, d.start_at, case when l.zone is not null then 'epoch'::timestamptz end) as start_at,
  l.end_at, case when d.offset_minutes is null then l.zone end as zone, d.offset_minutes,
  d.hours, d.days, d.cascade -> 0 -> 'content' as content, d.cascade -> 0 -> 'ttl' as ttl_seconds,
  d.first_uuid, d.last_uuid`

/** A name without registration has no sender. */
const withSender = (sql: Sql, companyId: number) => sql`
  left join senders s on s.company_id = ${companyId} and s.sender_id = l.sender_id
  left join dispatches d on d.company_id = ${companyId} and d.dispatch_id = l.dispatch_id`

/** Neither suspended nor past its end, and not stepped aside. */
const mayGo = (sql: Sql, now: Date) => sql`
  l.not_before <= ${now} and s.suspended is not true and (l.end_at is null or l.end_at > ${now})`

const servingKey = (sql: Sql) => sql`
  (l.channel_type || '/' || l.brand_id || '/' || coalesce(l.sender_id::text, '') || '/' || coalesce(l.sender_name, ''))`

type QueueKey = { priority: number; companyId: number; channelType: string }

/**
 * The channels in which companies have open lanes with messages that no worker has taken, in the order of priorities, companies
 * and channels, and whether a lane of each may go now. At most `limit` lanes are read: `lanes` says how many were.
 * Lanes of one channel are read in the order of their times, so the first one decides, and the next call leaps over
 * the others.
 */
export function selectQueues(sql: Sql, lastPriority: number, now: Date, after: QueueKey, limit: number) {
  return sql<(Queue & { priority: number; isReady: boolean; lanes: number })[]>`
    select priority, company_id, channel_type, min(not_before) <= ${now} as is_ready,
      count(*) as lanes
    from (
      select priority, company_id, channel_type, not_before from lanes
      where open and cursor < tail and priority <= ${lastPriority}
        and (priority, company_id, channel_type)
          > (${after.priority}::int, ${after.companyId}::bigint, ${after.channelType}::text) ${reachable(sql)}
      order by priority, company_id, channel_type, not_before
      limit ${limit}
    ) page
    group by priority, company_id, channel_type
    order by priority, company_id, channel_type`
}

/**
 * The companies that have leases, in their order, and whether one of them may be due and without a worker. At most `limit`
 * leases are read.
 */
export function selectCompaniesWithLeases(sql: Sql, now: Date, afterCompanyId: number, limit: number) {
  return sql<{ companyId: number; isReady: boolean; leases: number }[]>`
    select company_id, count(*) as leases,
      bool_or(due_at <= ${now} and claimed_until < statement_timestamp()) or count(*) = ${limit} as is_ready
    from (
      select company_id, due_at, claimed_until from leases where company_id > ${afterCompanyId} ${reachable(sql)}
      order by company_id, due_at
      limit ${limit}
    ) page
    group by company_id
    order by company_id`
}

/**
 * The next lanes of each of these channels of a company that may go now, in each those first that were served longest
 * ago. A disabled company has none.
 *
 * Senders and dispatches are joined to the page only. Joined to all waiting lanes, a cached plan from the time of few
 * dispatches read all dispatches for each lane.
 */
export function lanesInTurn(
  sql: Sql,
  companyId: number,
  priority: number,
  now: Date,
  pages: Omit<QueuePage, 'companyId'>[],
  limit: number,
) {
  return sql<PagedLane[]>`
    select ${columns(sql)}, l.tail - l.cursor as waiting, l.served_at::text as place, l.lane_id as place_id,
      ${servingKey(sql)} as serving_key
    from unnest(
      ${pages.map(({ channelType }) => channelType)}::text[],
      ${pages.map(({ after }) => after?.place ?? '-infinity')}::text[]::timestamptz[],
      ${pages.map(({ after }) => after?.id ?? 0)}::bigint[]
    ) q (channel_type, served_at, lane_id)
    join companies c on c.company_id = ${companyId} and c.status = 'ACTIVE'
    cross join lateral (
      select l.* from lanes l
      where l.company_id = ${companyId} and l.channel_type = q.channel_type and l.priority = ${priority}
        and l.open and l.cursor < l.tail and l.not_before <= ${now} and (l.end_at is null or l.end_at > ${now})
        and (l.sender_id is null or l.sender_id <> all (array(
          select sender_id from senders where company_id = ${companyId} and suspended)))
        and ${servingKey(sql)} <> all (${pages.flatMap(({ without = [] }) => without)}::text[])
        and (l.served_at, l.lane_id) > (q.served_at, q.lane_id)
      order by l.served_at, l.lane_id
      limit ${limit}
    ) l
    ${withSender(sql, companyId)}
    order by l.served_at, l.lane_id`
}

/** The next leases of a company that expired or were returned, in open lanes. */
export function leasesInTurn(
  sql: Sql,
  { companyId, after, without = [] }: LeasePage,
  priority: number,
  now: Date,
  gateways: GatewayInUse[],
  limit: number,
) {
  return sql<(PagedLane & { leaseId: number })[]>`
    select e.lease_id, g.gateway_id, ${columns(sql)}, e.next_seq - e.first_seq as waiting,
      e.due_at::text as place, e.lease_id as place_id, ${servingKey(sql)} as serving_key
    from leases e
    join companies c on c.company_id = ${companyId} and c.status = 'ACTIVE'
    join lanes l on l.company_id = ${companyId} and l.lane_id = e.lane_id and l.open and l.priority = ${priority}
    ${withSender(sql, companyId)} ${itsGateway(sql, now, gateways)}
    where e.company_id = ${companyId} and e.due_at <= ${now} and e.claimed_until < statement_timestamp()
      and ${mayGo(sql, now)}
      and (g.gateway_id is not null or ${servingKey(sql)} <> all (${[...without]}::text[]))
      and (e.due_at, e.lease_id) > (${after?.place ?? '-infinity'}::text::timestamptz, ${after?.id ?? 0})
    order by e.due_at, e.lease_id
    limit ${limit}`
}

/** A gateway that is not paused. `brands` is a list of PostgreSQL. */
export type GatewayInUse = { gatewayId: number; channelType: string; brands: string }

export const selectGatewaysInUse = (sql: Sql) => sql<GatewayInUse[]>`
  select gateway_id, channel_type, brands::text from gateways where not paused`

/**
 * The gateway that may have accepted parts of a lease, if it is in use and serves the lane. A lease waits for it for at
 * most an hour.
 */
const itsGateway = (sql: Sql, now: Date, gateways: GatewayInUse[]) => sql`
  left join unnest(
    ${gateways.map(({ gatewayId }) => gatewayId)}::bigint[], ${gateways.map(({ channelType }) => channelType)}::text[],
    ${gateways.map(({ brands }) => brands)}::text[]
  ) g (gateway_id, channel_type, brands)
    on g.gateway_id = e.gateway_id and g.channel_type = l.channel_type
    and (g.brands = '{}' or l.brand_id = any(g.brands::smallint[])) and e.due_at > ${now}::timestamptz - interval '1 hour'`

/** Counts the waiting lanes of a company, at most up to `most`. */
export function countWaitingLanes(sql: Sql, companyId: number, most: number) {
  return sql<{ count: number }[]>`
    select count(*) as count from (
      select company_id from lanes where company_id = ${companyId} and open and cursor < tail limit ${most}) waiting`
}

/**
 * Takes the next chunk of each of these lanes of one company for one worker (the function `lease_chunks` of the schema).
 *
 * The commit of a lease with few codes does not wait for the disk. If the database crashes before this commit is on disk,
 * the codes are leased and sent again. This affects only codes whose results are not recorded, because recording a result
 * flushes all commits before it. Such codes are sent again after a crash in any case.
 */
export function insertLeases(sql: Sql, companyId: number, chunks: WantedChunk[], worker: string) {
  return sql<Lease[]>`select * from lease_chunks(${leaseArguments(sql, companyId, chunks, worker)})`
}

/** The arguments of the functions that take leases. */
export const leaseArguments = (sql: Sql, companyId: number, chunks: WantedChunk[], worker: string) => sql`
  ${companyId}, ${chunks.map(({ lane }) => lane.laneId)}::bigint[], ${chunks.map(({ size }) => size)}::int[],
  ${chunks.map(() => randomUUID())}::uuid[], ${worker},
  statement_timestamp() + make_interval(secs => ${LEASE_SECONDS}), ${!chunks.every(isFewCodes)}`

/** A chunk of at most `size` messages of a lane. */
export type WantedChunk = {
  lane: Pick<RunnableLane, 'companyId' | 'laneId' | 'priority' | 'waiting'>
  size: number
}

/** This many codes are submitted within milliseconds. */
const FEW_CODES = 10

const isFewCodes = ({ lane, size }: WantedChunk) => lane.priority === CODES && Math.min(lane.waiting, size) <= FEW_CODES

/** Postpones lanes until they may send. A start of their dispatch ends the delay. Skips locked rows instead of waiting. */
export const postponeLanes = (sql: Sql, companyId: number, lanes: PostponedLane[]) => sql`
  with lane as (
    select company_id, lane_id from lanes
    where company_id = ${companyId} and lane_id = any(${lanes.map(({ laneId }) => laneId)}::bigint[]) and open
    for update skip locked)
  update lanes set not_before = q.until
  from lane, unnest(${lanes.map(({ laneId }) => laneId)}::bigint[], ${lanes.map(({ until }) => until.toISOString())}::timestamptz[]) q (lane_id, until)
  where lanes.company_id = ${companyId} and lanes.company_id = lane.company_id and lanes.lane_id = lane.lane_id
    and q.lane_id = lane.lane_id`

export type PostponedLane = { laneId: number; until: Date }

/** Takes over an expired lease if its lane is open and no other worker has taken it. */
export function takeOverLease(sql: Sql, lease: { companyId: number; leaseId: number }, worker: string) {
  return sql<Lease[]>`
    with lane as (
      select l.company_id, l.lane_id, e.worker is not null as was_held from lanes l
      join leases e on e.company_id = l.company_id and e.lane_id = l.lane_id
      where e.company_id = ${lease.companyId} and e.lease_id = ${lease.leaseId} and l.open
      for update of l skip locked),
    served as (
      update lanes set served_at = statement_timestamp() from lane
      where lanes.company_id = lane.company_id and lanes.lane_id = lane.lane_id)
    update leases set worker = ${worker}, token = ${randomUUID()},
      claimed_until = statement_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from lane
    where leases.company_id = ${lease.companyId} and lease_id = ${lease.leaseId} and claimed_until < statement_timestamp()
    returning leases.company_id, lease_id, leases.lane_id,
      first_seq, next_seq, token, attempts, lane.was_held`
}

/**
 * Renews the leases of a company that this worker still has, and returns their tokens. The rows are locked in their
 * order, as in `finishLeases`: otherwise the two statements could wait for each other.
 */
export function renewLeases(sql: Sql, companyId: number, leases: Pick<Lease, 'leaseId' | 'token'>[], worker: string) {
  return sql<{ token: string }[]>`
    with ours as (
      select lease_id from leases
      where company_id = ${companyId} and lease_id = any(${leases.map(({ leaseId }) => leaseId)}::bigint[])
        and worker = ${worker} and token = any(${leases.map(({ token }) => token)}::uuid[])
      order by lease_id for update)
    update leases set claimed_until = statement_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from ours
    where leases.company_id = ${companyId} and leases.lease_id = ours.lease_id
    returning token`
}

/** The lanes with these ids that may no longer send: stopped, sender suspended or ended, company disabled. */
export function blockedLanes(sql: Sql, companyIds: number[], laneIds: number[]) {
  return sql<{ companyId: number; laneId: number }[]>`
    select l.company_id, l.lane_id
    from lanes l
    join companies c on c.company_id = l.company_id
    left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
    where l.company_id = any(${companyIds}::bigint[]) and c.company_id = any(${companyIds}::bigint[])
      and l.lane_id = any(${laneIds}::bigint[])
      and (not l.open or c.status <> 'ACTIVE' or s.suspended or s.status <> 'APPROVED')`
}

/** Ends the leases of finished chunks of a company with deadlines (the function `finish_leases` of the schema). */
export function finishLeases(sql: Sql, companyId: number, leases: Lease[], dueAt: Date) {
  return sql`
    select from finish_leases(
      ${companyId}, ${leases.map(({ leaseId }) => leaseId)}::bigint[], ${leases.map(({ token }) => token)}::uuid[], ${dueAt})`
}

export function deleteLease(sql: Sql, lease: Lease) {
  return sql`
    delete from leases
    where company_id = ${lease.companyId} and lease_id = ${lease.leaseId} and token = ${lease.token}`
}

/** Inserts ranges that are left to send, as leases without a worker. */
export function insertReturned(sql: Sql, lease: Lease, runs: Run[]) {
  return sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, claimed_until, attempts, due_at, gateway_id)
    select ${lease.companyId}, ${lease.laneId}, q.first_seq, q.next_seq, '-infinity', q.attempts, q.due_at, q.gateway_id
    from unnest(
      ${runs.map(({ firstSeq }) => firstSeq)}::bigint[], ${runs.map(({ nextSeq }) => nextSeq)}::bigint[],
      ${runs.map(({ attempts }) => attempts)}::int[], ${runs.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[],
      ${runs.map(({ gatewayId }) => gatewayId ?? null)}::bigint[]
    ) q (first_seq, next_seq, attempts, due_at, gateway_id)`
}

/** A row if a deadline after this moment covers the whole range of a lease. */
export function selectDeadline(sql: Sql, lease: Lease, after: Date) {
  return sql`
    select from deadlines
    where company_id = ${lease.companyId} and lane_id = ${lease.laneId} and first_seq <= ${lease.firstSeq}
      and next_seq >= ${lease.nextSeq} and due_at > ${after}
    limit 1`
}

/** Expired leases in closed lanes. No worker takes these over, so the caller returns them. */
export function expiredLeasesOfClosedLanes(sql: Sql, limit: number) {
  return sql<(Lease & { gatewayId: number | null })[]>`
    select e.company_id, lease_id, e.lane_id, first_seq,
      next_seq, token, attempts, true as was_held, gateway_id
    from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
    where e.worker is not null and e.claimed_until < statement_timestamp() and not l.open
      ${reachable(sql, 'e.company_id')} ${reachable(sql, 'l.company_id')}
    limit ${limit}`
}

/** Lanes of sender names without registration that sent nothing for two days. */
const isIdle = (sql: Sql) => sql`
  i.dispatch_id is null and i.sender_id is null and i.cursor = i.tail and i.served_at < now() - interval '2 days'
  and not exists (select from leases e where e.company_id = i.company_id and e.lane_id = i.lane_id)
  and not exists (select from deadlines t where t.company_id = i.company_id and t.lane_id = i.lane_id)`

export const selectIdleLanes = (sql: Sql, limit: number) => sql<{ companyId: number; laneId: number }[]>`
  select i.company_id, i.lane_id from lanes i where ${isIdle(sql)} limit ${limit}`

/**
 * Deletes lanes of a company that are still idle. A concurrent transaction that adds messages either locks the lane first,
 * or creates it again.
 */
export function deleteIdleLanes(sql: Sql, companyId: number, laneIds: number[]) {
  return sql<{ laneId: number }[]>`
    with idle as (
      select i.lane_id from lanes i
      where i.company_id = ${companyId} and i.lane_id = any(${laneIds}::bigint[]) and ${isIdle(sql)}
      for update of i skip locked)
    delete from lanes l using idle where l.company_id = ${companyId} and l.lane_id = idle.lane_id
    returning l.lane_id`
}

/** The leased ranges of a dispatch. */
export function leasedRanges(sql: Sql, companyId: number, dispatchId: number) {
  return sql<{ laneId: number; firstSeq: number; nextSeq: number }[]>`
    select e.lane_id, e.first_seq, e.next_seq
    from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
    where e.company_id = ${companyId} and l.dispatch_id = ${dispatchId} and e.worker is not null`
}

/** Open lanes of a dispatch with messages left to send, also blocked lanes. The cabinet shows why they wait. */
export function waitingLanes(sql: Sql, companyId: number, dispatchId: number) {
  return sql<WaitingLane[]>`
    select ${waitingColumns(sql)}
    from lanes l
    join companies c on c.company_id = ${companyId}
    ${withSender(sql, companyId)}
    where l.company_id = ${companyId} and l.dispatch_id = ${dispatchId} and l.open
      and (l.cursor < l.tail
        or exists (select from leases e where e.company_id = ${companyId} and e.lane_id = l.lane_id))
    order by l.lane_id`
}

/** One lane with messages left to send, of a dispatch or of single messages. Empty if the lane was closed meanwhile. */
export function waitingLane(sql: Sql, companyId: number, laneId: number) {
  return sql<WaitingLane[]>`
    select ${waitingColumns(sql)}
    from lanes l
    join companies c on c.company_id = ${companyId}
    ${withSender(sql, companyId)}
    where l.company_id = ${companyId} and l.lane_id = ${laneId} and l.open`
}

const waitingColumns = (sql: Sql) => sql`
  ${columns(sql)}, l.tail - l.cursor as waiting, c.status = 'ACTIVE' as is_company_active,
  coalesce(s.suspended, false) as is_suspended`

/** The number of messages that wait in open lanes and in returned leases, by channel and brand. */
export const waitingByRoute = (sql: Sql) => sql<{ channelType: ChannelType; brandId: number; messages: number }[]>`
  select channel_type, brand_id, sum(messages)::bigint as messages
  from (
    select channel_type, brand_id, tail - cursor as messages from lanes where open and cursor < tail
    union all
    select l.channel_type, l.brand_id, e.next_seq - e.first_seq
    from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
    where e.worker is null and l.open
  ) waiting
  group by channel_type, brand_id`
