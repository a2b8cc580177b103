import type { Sql, Transaction } from '../../db/sql.ts'
import { closedTraffic, trafficOfMonth } from '../messages/months.ts'
import type { TrafficCounts, TrafficKind } from './traffic.ts'

/** The company and the hours that are compared, from `from` up to, but not including, `to`. */
export type Scope = { companyId?: number; from?: Date; to?: Date }

/** The first statement of the transaction, so that no month is detached between the snapshot and its use. */
export const preventDetaching = (sql: Transaction) => sql`lock table messages in access share mode`

const ofCompany = (sql: Sql, { companyId }: Scope) =>
  companyId === undefined ? sql`true` : sql`m.company_id = ${companyId}`

const within = (sql: Sql, { from, to }: Scope) =>
  sql`(${from ?? null}::timestamptz is null or hour >= ${from ?? null})
    and (${to ?? null}::timestamptz is null or hour < ${to ?? null})`

/** Begins the counts with the traffic of detached months. */
export const beginCounts = (sql: Transaction, scope: Scope) => sql`
  create temporary table counted_traffic on commit drop as
  select * from (${closedTraffic(sql, ofCompany(sql, scope))}) c where ${within(sql, scope)}`

/** Reads the messages of a month once, and adds a few rows for each hour. */
export const countMonth = (sql: Transaction, month: string, scope: Scope) => sql`
  insert into counted_traffic
  select * from (${trafficOfMonth(sql, month, ofCompany(sql, scope))}) c where ${within(sql, scope)}`

export type Difference = TrafficKind & {
  companyId: number
  hour: Date
  brandId: number
  what: keyof TrafficCounts
  rolledUp: string
  counted: string
}

/** The stored and the counted numbers where they differ. A missing row counts as 0. */
export const selectDifferences = (sql: Transaction, scope: Scope) => sql<Difference[]>`
  select company_id, hour, channel_type, brand_id,
    traffic_type, v.what, v.rolled_up::text as rolled_up, v.counted::text as counted
  from (
    select company_id, hour, channel_type, brand_id, traffic_type, sum(accepted) as accepted,
      sum(accepted_parts) as accepted_parts, sum(sent) as sent, sum(sent_parts) as sent_parts,
      sum(delivered) as delivered, sum(delivered_parts) as delivered_parts, sum(failed) as failed,
      sum(failed_parts) as failed_parts, sum(spent) as spent
    from counted_traffic group by 1, 2, 3, 4, 5) c
  full join (select * from traffic_hours m where ${ofCompany(sql, scope)} and ${within(sql, scope)}) t
    using (company_id, hour, channel_type, brand_id, traffic_type)
  cross join lateral (values
    (1, 'accepted', coalesce(t.accepted, 0), coalesce(c.accepted, 0)),
    (2, 'acceptedParts', coalesce(t.accepted_parts, 0), coalesce(c.accepted_parts, 0)),
    (3, 'sent', coalesce(t.sent, 0), coalesce(c.sent, 0)),
    (4, 'sentParts', coalesce(t.sent_parts, 0), coalesce(c.sent_parts, 0)),
    (5, 'delivered', coalesce(t.delivered, 0), coalesce(c.delivered, 0)),
    (6, 'deliveredParts', coalesce(t.delivered_parts, 0), coalesce(c.delivered_parts, 0)),
    (7, 'failed', coalesce(t.failed, 0), coalesce(c.failed, 0)),
    (8, 'failedParts', coalesce(t.failed_parts, 0), coalesce(c.failed_parts, 0)),
    (9, 'spent', coalesce(t.spent, 0), coalesce(c.spent, 0))
  ) v (place, what, rolled_up, counted)
  where v.rolled_up <> v.counted
  order by company_id, hour, channel_type, brand_id, traffic_type, v.place`

export const selectCompanies = (sql: Sql) => sql<{ companyId: number }[]>`
  select company_id from companies order by company_id`

/** Only one rebuild may run, because two would both add the missing counts. */
export const lockRebuild = (sql: Transaction) =>
  sql`select pg_advisory_xact_lock(hashtextextended('rebuild of statistics', 0))`
