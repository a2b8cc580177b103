import type { ChannelType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { FAILURES_UNTIL_PROBE } from '../callbacks/callback.ts'
import type { CompanyScope } from '../companies/company.ts'

/**
 * Everything here is read company by company through an index that begins with the company: a lateral subquery that
 * groups or limits cannot become a join over whole tables, however old the statistics of the database are.
 */

/** What somebody may look at, or companies that were found to be within that. */
export type Scope = CompanyScope | { kind: 'COMPANIES'; companyIds: number[] }

const isInScope = (sql: Sql, scope: Scope) => {
  if (scope.kind === 'COMPANIES') return sql`c.company_id = any(${scope.companyIds}::bigint[])`
  if (scope.kind === 'COMPANY') return sql`c.company_id = ${scope.companyId}`
  if (scope.kind === 'PARTNER') return sql`c.partner_id = ${scope.partnerId}`
  return sql`true`
}

export const countCompanies = (sql: Sql, scope: CompanyScope) => sql<{ companies: number }[]>`
  select count(*)::int as companies from companies c where ${isInScope(sql, scope)}`

export type HourSums = { hour: Date; sent: number; delivered: number; failed: number }

export const selectHours = (sql: Sql, scope: CompanyScope, from: Date) => sql<HourSums[]>`
  select t.hour, sum(t.sent)::bigint as sent, sum(t.delivered)::bigint as delivered, sum(t.failed)::bigint as failed
  from companies c
  cross join lateral (
    select hour, sum(sent) as sent, sum(delivered) as delivered, sum(failed) as failed from traffic_hours
    where company_id = c.company_id and hour >= ${from} group by hour
  ) t
  where ${isInScope(sql, scope)}
  group by t.hour order by t.hour`

export type CompanyHour = HourSums & { companyId: number }

export const selectHoursOf = (sql: Sql, companyIds: number[], from: Date) => sql<CompanyHour[]>`
  select c.company_id, t.hour, t.sent, t.delivered, t.failed
  from companies c
  cross join lateral (
    select hour, sum(sent)::bigint as sent, sum(delivered)::bigint as delivered, sum(failed)::bigint as failed
    from traffic_hours where company_id = c.company_id and hour >= ${from} group by hour
  ) t
  where c.company_id = any(${companyIds}::bigint[])`

/** Counted until 100. */
export const countRunningOf = (sql: Sql, companyIds: number[]) => sql<{ companyId: number; running: number }[]>`
  select c.company_id, d.running
  from companies c
  cross join lateral (
    select count(*)::int as running from (
      select company_id from dispatches where company_id = c.company_id and status = 'STARTED' limit 100
    ) started
  ) d
  where c.company_id = any(${companyIds}::bigint[])`

export type PartnerSums = { partnerId: number; companies: number; sent: number; delivered: number; failed: number }

/** The companies of each partner, and what they sent from an hour on. */
export const selectSumsOfPartners = (sql: Sql, partnerIds: number[], from: Date) => sql<PartnerSums[]>`
  select c.partner_id, count(*)::int as companies, coalesce(sum(t.sent), 0)::bigint as sent,
    coalesce(sum(t.delivered), 0)::bigint as delivered, coalesce(sum(t.failed), 0)::bigint as failed
  from companies c
  cross join lateral (
    select sum(sent) as sent, sum(delivered) as delivered, sum(failed) as failed from traffic_hours
    where company_id = c.company_id and hour >= ${from}
  ) t
  where c.partner_id = any(${partnerIds}::bigint[])
  group by c.partner_id`

export type ChannelSums = {
  channelType: ChannelType
  brandId: number
  accepted: number
  sent: number
  delivered: number
  failed: number
}

/** By channel and operator, from an hour until before another. */
export const selectChannelSums = (sql: Sql, scope: CompanyScope, from: Date, until: Date) => sql<ChannelSums[]>`
  select t.channel_type, t.brand_id, sum(t.accepted)::bigint as accepted, sum(t.sent)::bigint as sent,
    sum(t.delivered)::bigint as delivered, sum(t.failed)::bigint as failed
  from companies c
  cross join lateral (
    select channel_type, brand_id, sum(accepted) as accepted, sum(sent) as sent, sum(delivered) as delivered,
      sum(failed) as failed
    from traffic_hours
    where company_id = c.company_id and hour >= ${from} and hour < ${until} group by channel_type, brand_id
  ) t
  where ${isInScope(sql, scope)}
  group by t.channel_type, t.brand_id`

export type Funds = {
  currency: string
  spent: Money
  reserved: Money
  /** The sum of the budgets; null when a company has none. */
  budget: Money | null
}

export const selectFunds = (sql: Sql, scope: CompanyScope, month: string) => sql<Funds[]>`
  select c.currency, sum(coalesce(m.spent, 0))::numeric(18, 4) as spent, sum(a.reserved)::numeric(18, 4) as reserved,
    case when bool_and(c.budget is not null) then sum(c.budget)::numeric(18, 4) end as budget
  from companies c
  join accounts a on a.company_id = c.company_id
  left join account_months m on m.company_id = c.company_id and m.month = ${month}
  where ${isInScope(sql, scope)}
  group by c.currency order by 2 desc`

/** A company whose budget or balance may not last. */
export type LowBudget = {
  companyId: number
  companyName: string
  currency: string
  billing: 'POSTPAID' | 'PREPAID'
  budget: Money | null
  balance: Money
  reserved: Money
  spent: Money
  spentBefore: Money
}

/** Companies with 80 % of the budget used, and prepaid companies with less money left than they spent this month. */
export const selectLowBudgets = (
  sql: Sql,
  scope: Scope,
  { month, monthBefore }: { month: string; monthBefore: string },
  limit: number,
) => sql<LowBudget[]>`
  select c.company_id, c.name as company_name, c.currency, c.billing, c.budget, a.balance, a.reserved,
    coalesce(m.spent, 0)::numeric(18, 4) as spent, coalesce(b.spent, 0)::numeric(18, 4) as spent_before
  from companies c
  join accounts a on a.company_id = c.company_id
  left join account_months m on m.company_id = c.company_id and m.month = ${month}
  left join account_months b on b.company_id = c.company_id and b.month = ${monthBefore}
  where ${isInScope(sql, scope)} and c.status = 'ACTIVE' and (
    (c.budget > 0 and (coalesce(m.spent, 0) + a.reserved) >= 0.8 * c.budget)
    or (c.billing = 'PREPAID' and a.balance - a.reserved <= coalesce(m.spent, 0) + coalesce(b.spent, 0)))
  order by (coalesce(m.spent, 0) + a.reserved) / nullif(c.budget, 0) desc nulls last, c.company_id
  limit ${limit}`

/** A lane with messages that no worker has taken. Of a dispatch they wait since it started or was to start. */
export type WaitingPlace = {
  companyId: number
  companyName: string
  laneId: number
  dispatchId: number | null
  dispatchName: string | null
  channelType: ChannelType
  brandId: number
  waiting: number
  /** Of a dispatch. */
  since: Date | null
  /** Of single messages: the key of the first, which holds its time. */
  firstUuid: string | null
}

/** At most `limit` lanes of each company; the first message of a lane of singles is found by its place in the lane. */
export const selectWaiting = (sql: Sql, scope: CompanyScope, earliestUuid: string, limit: number) => sql<
  WaitingPlace[]
>`
  select c.company_id, c.name as company_name, l.lane_id, l.dispatch_id,
    d.name as dispatch_name, l.channel_type, l.brand_id, l.tail - l.cursor as waiting,
    greatest(d.started_at, d.start_at, l.start_at) as since, m.message_uuid as first_uuid
  from companies c
  cross join lateral (
    select * from lanes where company_id = c.company_id and open and cursor < tail limit ${limit}
  ) l
  left join lateral (
    select name, started_at, start_at from dispatches where company_id = l.company_id and dispatch_id = l.dispatch_id
    limit 1
  ) d on true
  left join lateral (
    select message_uuid from messages
    where l.dispatch_id is null and company_id = l.company_id and lane_id = l.lane_id and seq = l.cursor
      and message_uuid >= ${earliestUuid}::uuid
    limit 1
  ) m on true
  where ${isInScope(sql, scope)}`

export type DispatchSums = {
  companyId: number
  companyName: string
  dispatchId: number
  name: string
  status: 'STARTED' | 'COMPLETED'
  channelType: ChannelType
  /** Of a cascade: the channels of its steps. */
  channels: ChannelType[]
  startedAt: Date | null
  startAt: Date | null
  messageCount: number
  firstUuid: string | null
  lastUuid: string | null
  waiting: number
  sent: number
  delivered: number
  failed: number
}

const dispatchColumns = (sql: Sql) => sql`
  c.company_id, c.name as company_name, d.dispatch_id, d.name, d.status,
  d.channel_type,
  case when d.cascade is null then array[d.channel_type]
    else array(select step ->> 'channelType' from jsonb_array_elements(d.cascade) step) end as channels,
  d.started_at, d.start_at, d.message_count,
  d.first_uuid, d.last_uuid, sums.*`

const withSums = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(created_messages), 0)::bigint as waiting, coalesce(sum(sent_messages), 0)::bigint as sent,
      coalesce(sum(delivered_messages), 0)::bigint as delivered, coalesce(sum(failed_messages), 0)::bigint as failed
    from dispatch_blocks b where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
  ) sums`

export const countRunning = (sql: Sql, scope: CompanyScope) => sql<{ total: number }[]>`
  select coalesce(sum(d.total), 0)::bigint as total from companies c
  cross join lateral (
    select count(*) as total from dispatches where company_id = c.company_id and status = 'STARTED'
  ) d
  where ${isInScope(sql, scope)}`

/** The newest that run. */
export const selectRunning = (sql: Sql, scope: CompanyScope, limit: number) => sql<DispatchSums[]>`
  select ${dispatchColumns(sql)} from (
    select s.company_id, s.dispatch_id from companies c
    cross join lateral (
      select company_id, dispatch_id from dispatches where company_id = c.company_id and status = 'STARTED'
      order by dispatch_id desc limit ${limit}
    ) s
    where ${isInScope(sql, scope)}
    order by s.dispatch_id desc limit ${limit}
  ) newest
  join dispatches d using (company_id, dispatch_id)
  join companies c using (company_id)
  ${withSums(sql)}
  order by d.dispatch_id desc`

/** The newest dispatches that run or were completed since a moment, at most `each` of a status and company. */
export const selectRecent = (sql: Sql, scope: CompanyScope, since: Date, each: number, limit: number) => sql<
  DispatchSums[]
>`
  select ${dispatchColumns(sql)} from (
    select s.company_id, s.dispatch_id from companies c
    cross join lateral (
      (select company_id, dispatch_id, completed_at from dispatches
      where company_id = c.company_id and status = 'STARTED' order by dispatch_id desc limit ${each})
      union all
      (select company_id, dispatch_id, completed_at from dispatches
      where company_id = c.company_id and status = 'COMPLETED' order by dispatch_id desc limit ${each})
    ) s
    where ${isInScope(sql, scope)} and (s.completed_at is null or s.completed_at >= ${since})
    order by s.dispatch_id desc limit ${limit}
  ) newest
  join dispatches d using (company_id, dispatch_id)
  join companies c using (company_id)
  ${withSums(sql)}
  order by d.dispatch_id desc`

/** The error code that most failed messages have among those at these positions of a dispatch. */
export const selectCommonError = (sql: Sql, dispatch: DispatchSums, positions: number[]) => sql<
  { errorCode: number }[]
>`
  select m.error_code
  from unnest(${positions}::bigint[]) p (dispatch_position)
  cross join lateral (
    select error_code from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId} and dispatch_position = p.dispatch_position
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid} and status = 'FAILED'
    limit 1
  ) m
  where m.error_code is not null
  group by m.error_code order by count(*) desc, m.error_code limit 1`

export type PausedReceiver = {
  companyId: number
  companyName: string
  receiver: string
  failures: number
  waitingEvents: number
}

/** Receivers that failed so often that they are only probed; their events are counted in at most 1000 batches. */
export const selectPausedReceivers = (sql: Sql, scope: Scope, limit: number) => sql<PausedReceiver[]>`
  select c.company_id, c.name as company_name, r.receiver, r.failures, w.events as waiting_events
  from companies c
  cross join lateral (
    select company_id, receiver, failures from receivers
    where company_id = c.company_id and failures >= ${FAILURES_UNTIL_PROBE} limit ${limit}
  ) r
  cross join lateral (
    select coalesce(sum(event_count - done_events), 0)::bigint as events from (
      select event_count, done_events from callbacks
      where company_id = r.company_id and receiver = r.receiver and status = 'WAITING'
      order by callback_id limit 1000
    ) batches
  ) w
  where ${isInScope(sql, scope)} and w.events > 0
  order by w.events desc limit ${limit}`

export type RefusedName = {
  companyId: number
  companyName: string
  /** Of one of its operators. */
  senderId: number
  senderName: string
  status: 'REJECTED' | 'DENIED'
  comment: string | null
}

/** Names that staff refused since a moment and that are still refused; several operators of a name are one. */
export const selectRefusedNames = (sql: Sql, scope: Scope, since: Date, limit: number) => sql<RefusedName[]>`
  select c.company_id, c.name as company_name, s.sender_id, s.sender_name,
    s.status, s.comment
  from companies c
  cross join lateral (
    select min(n.sender_id) as sender_id, n.sender_name, n.status, max(n.manager_comment) as comment, max(moved.at) as at
    from senders n
    cross join lateral (
      select max(v.moved_at) as at from sender_moves v where v.company_id = n.company_id and v.sender_id = n.sender_id
    ) moved
    where n.company_id = c.company_id and n.status in ('REJECTED', 'DENIED') and moved.at >= ${since}
    group by n.sender_name, n.status
    limit ${limit}
  ) s
  where ${isInScope(sql, scope)}
  order by s.at desc limit ${limit}`

/** What staff have to review: read from the index of reviews, which holds nothing else. */
export const countInReview = (sql: Sql) => sql<{ senders: number; templates: number }[]>`
  select
    (select count(*)::int from senders
     where status in ('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW')) as senders,
    (select count(*)::int from templates
     where status in ('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW')) as templates`

export type FirstSteps = { hasSender: boolean; hasKey: boolean; hasTraffic: boolean }

export const selectFirstSteps = (sql: Sql, companyId: number) => sql<FirstSteps[]>`
  select
    exists (select from senders where company_id = ${companyId} and status = 'APPROVED') as has_sender,
    exists (select from api_keys where company_id = ${companyId}) as has_key,
    exists (select from traffic_hours where company_id = ${companyId})
      or exists (select from dispatches where company_id = ${companyId}) as has_traffic`
