import { uuidRange } from '../../base/uuid7.ts'
import { acrossCompanies, reachable } from '../../db/reachable.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import type { DueExpiry } from '../timers/timers.ts'

export type Expiring = { uuid: string; status: 'CREATED' | 'SENT'; isLeased: boolean }

/** The messages among these that are not final, and whether a worker has a lease on each. */
export function selectExpiring(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  const range = uuidRange(sorted)
  return sql<Expiring[]>`
    select m.message_uuid as uuid, m.status, ${isLeased(sql)} as is_leased
    from messages m
    where m.company_id = ${companyId} and m.message_uuid = any(${sorted}::uuid[])
      and m.message_uuid between ${range.first} and ${range.last} and m.status in ('CREATED', 'SENT')`
}

/** The messages of expiries that are not final, and whether a worker has a lease on each. */
export async function selectExpiringWithin(sql: Sql, companyId: number, expiries: DueExpiry[]) {
  try {
    return await selectWithin(sql, companyId, expiries, sql`offset 0`)
  } catch (error) {
    if (!isUnsupported(error)) throw error
    return selectWithin(sql, companyId, expiries, sql``)
  }
}

/** Citus supports no offset in a lateral subquery of a table function. */
const isUnsupported = (error: unknown) => (error as { code?: unknown }).code === '0A000'

/**
 * With `offset 0` each expiry reads its own range. Without it, PostgreSQL can read all messages between the first and the last
 * expiry.
 */
function selectWithin(sql: Sql, companyId: number, expiries: DueExpiry[], separately: Fragment) {
  const firsts = expiries.map(({ firstUuid }) => firstUuid)
  const lasts = expiries.map(({ lastUuid }) => lastUuid)
  const range = uuidRange([...firsts, ...lasts])
  return sql<Expiring[]>`
    select m.message_uuid as uuid, m.status, ${isLeased(sql)} as is_leased
    from unnest(
      ${firsts}::uuid[], ${lasts}::uuid[],
      ${expiries.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]) q (first_uuid, last_uuid, due_at)
    cross join lateral (
      select m.company_id, m.message_uuid, m.lane_id, m.seq, m.status from messages m
      where m.company_id = ${companyId} and m.message_uuid between q.first_uuid and q.last_uuid
        and m.message_uuid between ${range.first} and ${range.last}
        and m.status in ('CREATED', 'SENT') and m.expires_at = q.due_at
      ${separately}) m`
}

const isLeased = (sql: Sql) => sql`
  exists (
    select from leases e
    where e.company_id = m.company_id and e.lane_id = m.lane_id and m.seq >= e.first_seq and m.seq < e.next_seq
      and e.worker is not null and e.claimed_until > statement_timestamp())`

/**
 * Single messages without a timer whose lifetime ended while their lane could not send (its name is suspended, or its
 * gateway is down). They are in the part of a lane that no worker has taken, or in a lease that was returned. A worker
 * that takes one meanwhile checks the time, too.
 */
export function overdueWaiting(sql: Sql, now: Date, limit: number) {
  const read = () => sql<{ companyId: number; uuid: string }[]>`
    with standing as (
      select company_id, lane_id, cursor as first_seq, tail as next_seq from lanes
      where dispatch_id is null and open and cursor < tail ${reachable(sql)}
      union all
      select e.company_id, e.lane_id, e.first_seq, e.next_seq
      from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id and l.dispatch_id is null
      where (e.worker is null or e.claimed_until < statement_timestamp())
        ${reachable(sql, 'e.company_id')} ${reachable(sql, 'l.company_id')})
    select m.company_id, m.message_uuid as uuid from standing s
    join messages m on m.company_id = s.company_id and m.lane_id = s.lane_id and m.seq >= s.first_seq
      and m.seq < s.next_seq and m.message_uuid >= uuid7_floor(now() - interval '100 days')
    where m.status = 'CREATED' and coalesce(m.waits_until, m.expires_at) <= ${now} ${reachable(sql, 'm.company_id')}
    limit ${limit}`
  return acrossCompanies(sql, read)
}
