import type { Sql } from '../../db/sql.ts'
import { LEASE_SECONDS, type Lease, type Run, type RunnableLane, type WaitingLane } from './lane.ts'

export type Page = { limit: number; offset: number }

/** What a lane needs to be brought out. */
const columns = (sql: Sql) => sql`
  l.company_id as "companyId", l.lane_id as "laneId", l.dispatch_id as "dispatchId",
  l.channel_type as "channelType", l.brand_id as "brandId", l.priority,
  extract(epoch from l.served_at)::double precision as "servedAt",
  l.sender_id as "senderId", coalesce(s.sender_name, l.sender_name, '') as "senderName",
  coalesce(s.status, 'APPROVED') as "senderStatus",
  s.parts_per_second as "senderRate", c.parts_per_second as "companyRate", d.parts_per_second as "dispatchRate",
  coalesce(l.start_at, d.start_at, case when l.zone is not null then 'epoch'::timestamptz end) as "startAt",
  l.end_at as "endAt", case when d.offset_minutes is null then l.zone end as zone, d.offset_minutes as "offsetMinutes",
  d.hours, d.days, d.cascade -> 0 -> 'content' as content, d.cascade -> 0 -> 'ttl' as "ttlSeconds",
  d.first_uuid as "firstUuid", d.last_uuid as "lastUuid"`

/** What decides about a lane; those of a disabled company are left out. A name without registration has no sender. */
const whoMaySend = (sql: Sql) => sql`
  join companies c on c.company_id = l.company_id and c.status = 'ACTIVE'
  left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
  left join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id`

/** Neither suspended nor past its end, and not stepped aside. */
const mayGo = (sql: Sql, now: Date) => sql`
  l.not_before <= ${now} and s.suspended is not true and (l.end_at is null or l.end_at > ${now})`

const ofPriority = (sql: Sql, priority: number | undefined) =>
  priority === undefined ? sql`` : sql`and l.priority = ${priority}`

/**
 * Open lanes with places that nobody has taken yet, and that have not stepped aside. Of one priority, those served
 * longest ago come first.
 */
export function selectRunnable(sql: Sql, now: Date, { limit, offset }: Page, priority?: number) {
  return sql<RunnableLane[]>`
    select ${columns(sql)}, l.tail - l.cursor as waiting
    from lanes l ${whoMaySend(sql)}
    where l.open and l.cursor < l.tail and ${mayGo(sql, now)} ${ofPriority(sql, priority)}
    order by l.priority, l.served_at
    limit ${limit} offset ${offset}`
}

/**
 * Takes the next chunk of a lane for one worker: moves the lane's cursor and writes the lease, in one statement, so
 * that two workers asking at once get different chunks. Returns nothing when the lane is empty or was closed, and
 * when somebody else has the row: a writer whose commit is slow holds up its own lane and not the one who asks.
 */
export function insertLease(sql: Sql, lane: { companyId: number; laneId: number }, size: number, worker: string) {
  return sql<Lease[]>`
    with lane as (
      select company_id, lane_id, cursor as first, least(cursor + ${size}, tail) as next from lanes
      where company_id = ${lane.companyId} and lane_id = ${lane.laneId} and open and cursor < tail
      for update skip locked),
    moved as (
      update lanes set cursor = lane.next, served_at = clock_timestamp() from lane
      where lanes.company_id = ${lane.companyId} and lanes.lane_id = ${lane.laneId})
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, until)
    select company_id, lane_id, first, next, ${worker}, gen_random_uuid(),
      clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}) from lane
    returning company_id as "companyId", lease_id as "leaseId", lane_id as "laneId", first_seq as "firstSeq",
      next_seq as "nextSeq", token, attempts`
}

/** Lets a lane step aside until it can go. Starting its dispatch calls it back. Nobody waits for a row in use. */
export const postponeLane = (sql: Sql, lane: { companyId: number; laneId: number }, until: Date) => sql`
  with lane as (
    select company_id, lane_id from lanes
    where company_id = ${lane.companyId} and lane_id = ${lane.laneId} and open
    for update skip locked)
  update lanes set not_before = ${until} from lane
  where lanes.company_id = lane.company_id and lanes.lane_id = lane.lane_id`

/**
 * The gateway that may have taken something of a lease, if it is there and serves the lane. One that has not come up
 * for an hour is not waited for any longer.
 */
const itsGateway = (sql: Sql, now: Date) => sql`
  left join gateways g on g.gateway_id = e.gateway_id and not g.paused and g.channel_type = l.channel_type
    and (g.brands = '{}' or l.brand_id = any(g.brands)) and e.due_at > ${now}::timestamptz - interval '1 hour'`

/** Leases that ran out or were given back, in lanes that are open, with what their lane needs to go on. */
export function selectAbandoned(sql: Sql, now: Date, { limit, offset }: Page, priority?: number) {
  return sql<(RunnableLane & { leaseId: number })[]>`
    select e.lease_id as "leaseId", g.gateway_id as "gatewayId", ${columns(sql)}, e.next_seq - e.first_seq as waiting
    from leases e
    join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id and l.open ${whoMaySend(sql)}
    ${itsGateway(sql, now)}
    where e.until < clock_timestamp() and e.due_at <= ${now} and ${mayGo(sql, now)} ${ofPriority(sql, priority)}
    order by l.priority, l.served_at, e.due_at
    limit ${limit} offset ${offset}`
}

/** Takes an abandoned lease over, if its lane is still open and nobody else was quicker. */
export function takeOverLease(sql: Sql, lease: { companyId: number; leaseId: number }, worker: string) {
  return sql<Lease[]>`
    with lane as (
      select l.company_id, l.lane_id, e.worker is not null as was_held from lanes l
      join leases e on e.company_id = l.company_id and e.lane_id = l.lane_id
      where e.company_id = ${lease.companyId} and e.lease_id = ${lease.leaseId} and l.open
      for update of l skip locked),
    served as (
      update lanes set served_at = clock_timestamp() from lane
      where lanes.company_id = lane.company_id and lanes.lane_id = lane.lane_id)
    update leases set worker = ${worker}, token = gen_random_uuid(),
      until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from lane
    where leases.company_id = ${lease.companyId} and lease_id = ${lease.leaseId} and until < clock_timestamp()
    returning leases.company_id as "companyId", lease_id as "leaseId", leases.lane_id as "laneId",
      first_seq as "firstSeq", next_seq as "nextSeq", token, attempts, lane.was_held as "wasHeld"`
}

/** Renews what this worker still holds, and says which of it is still so. */
export function renewLeases(sql: Sql, worker: string, tokens: string[]) {
  return sql<{ token: string }[]>`
    update leases set until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where worker = ${worker} and token = any(${tokens}::uuid[])
    returning token`
}

/** Which of these lanes may no longer send: stopped, sender suspended or ended, company disabled. */
export function selectHeldLanes(sql: Sql, lanes: { companyId: number; laneId: number }[]) {
  return sql<{ companyId: number; laneId: number }[]>`
    select l.company_id as "companyId", l.lane_id as "laneId"
    from unnest(${lanes.map(lane => lane.companyId)}::bigint[], ${lanes.map(lane => lane.laneId)}::bigint[]) q (company_id, lane_id)
    join lanes l on l.company_id = q.company_id and l.lane_id = q.lane_id
    join companies c on c.company_id = l.company_id
    left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
    where not l.open or c.status <> 'ACTIVE' or s.suspended or s.status <> 'APPROVED'`
}

/** Ends a lease; what was sent from it without a receipt will be looked at when its lifetime is over. */
export function finishLease(sql: Sql, lease: Lease, dueAt: Date) {
  return sql`
    with finished as (
      delete from leases
      where company_id = ${lease.companyId} and lease_id = ${lease.leaseId} and token = ${lease.token}
      returning company_id, lane_id, first_seq, next_seq)
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    select company_id, lane_id, first_seq, next_seq, ${dueAt} from finished`
}

export function deleteLease(sql: Sql, lease: Lease) {
  return sql`
    delete from leases
    where company_id = ${lease.companyId} and lease_id = ${lease.leaseId} and token = ${lease.token}`
}

/** Places left to be sent, as leases in nobody's hands. */
export function insertReturned(sql: Sql, lease: Lease, runs: Run[]) {
  return sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, until, attempts, due_at, gateway_id)
    select ${lease.companyId}, ${lease.laneId}, q.first_seq, q.next_seq, '-infinity', q.attempts, q.due_at, q.gateway_id
    from unnest(
      ${runs.map(({ firstSeq }) => firstSeq)}::bigint[], ${runs.map(({ nextSeq }) => nextSeq)}::bigint[],
      ${runs.map(({ attempts }) => attempts)}::int[], ${runs.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[],
      ${runs.map(({ gatewayId }) => gatewayId ?? null)}::bigint[]
    ) q (first_seq, next_seq, attempts, due_at, gateway_id)`
}

/** Whether a deadline after this moment stands for the whole range of a lease. */
export function selectDeadline(sql: Sql, lease: Lease, after: Date) {
  return sql`
    select from deadlines
    where company_id = ${lease.companyId} and lane_id = ${lease.laneId} and first_seq <= ${lease.firstSeq}
      and next_seq >= ${lease.nextSeq} and due_at > ${after}
    limit 1`
}

/** Leases whose holder is gone, in lanes that are closed: nobody will take them over, so they are given back. */
export function selectStranded(sql: Sql, limit: number) {
  return sql<(Lease & { gatewayId: number | null })[]>`
    select e.company_id as "companyId", lease_id as "leaseId", e.lane_id as "laneId", first_seq as "firstSeq",
      next_seq as "nextSeq", token, attempts, true as "wasHeld", gateway_id as "gatewayId"
    from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
    where e.worker is not null and e.until < clock_timestamp() and not l.open
    limit ${limit}`
}

/**
 * Lanes of names that anybody may invent, from which nothing has gone for two days and in which nothing is left to be
 * looked at. Whoever has something for one meanwhile either finds it changed under the lock, or makes it anew.
 */
export function deleteIdleLanes(sql: Sql, limit: number) {
  return sql`
    delete from lanes l using (
      select i.company_id, i.lane_id from lanes i
      where i.dispatch_id is null and i.sender_id is null and i.cursor = i.tail
        and i.served_at < now() - interval '2 days'
        and not exists (select from leases e where e.company_id = i.company_id and e.lane_id = i.lane_id)
        and not exists (select from deadlines t where t.company_id = i.company_id and t.lane_id = i.lane_id)
      limit ${limit} for update of i skip locked) idle
    where l.company_id = idle.company_id and l.lane_id = idle.lane_id`
}

/** The ranges of a dispatch that are in somebody's hands. */
export function selectHeldRanges(sql: Sql, companyId: number, dispatchId: number) {
  return sql<{ laneId: number; firstSeq: number; nextSeq: number }[]>`
    select e.lane_id as "laneId", e.first_seq as "firstSeq", e.next_seq as "nextSeq"
    from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id
    where e.company_id = ${companyId} and l.dispatch_id = ${dispatchId} and e.worker is not null`
}

/** Open lanes of a dispatch with messages left to send, whatever may be in their way. */
export function selectWaiting(sql: Sql, companyId: number, dispatchId: number) {
  return sql<WaitingLane[]>`
    select ${columns(sql)}, l.tail - l.cursor as waiting, c.status = 'ACTIVE' as "isCompanyActive",
      coalesce(s.suspended, false) as "isSuspended"
    from lanes l
    join companies c on c.company_id = l.company_id
    left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
    left join dispatches d on d.company_id = l.company_id and d.dispatch_id = l.dispatch_id
    where l.company_id = ${companyId} and l.dispatch_id = ${dispatchId} and l.open
      and (l.cursor < l.tail
        or exists (select from leases e where e.company_id = l.company_id and e.lane_id = l.lane_id))
    order by l.lane_id`
}
