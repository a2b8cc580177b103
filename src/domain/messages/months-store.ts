import type { Sql, Transaction } from '../../db/sql.ts'
import { BLOCK_SIZE } from './message.ts'

/** The table of a month: `messages_2026_05` for `2026-05`, as ensure_message_month() names it. */
export const tableOf = (month: string) => `messages_${month.replace('-', '_')}`

const firstOf = (sql: Sql, month: string) => sql`uuid7_floor(${`${month}-01`}::timestamp at time zone 'UTC')`
const endOf = (sql: Sql, month: string) =>
  sql`uuid7_floor((${`${month}-01`}::timestamp + interval '1 month') at time zone 'UTC')`

/** The tables of the months, attached or detached. */
export const selectMonthTables = (sql: Sql) => sql<{ month: string; isAttached: boolean }[]>`
  select replace(substring(relname from 10), '_', '-') as month, relispartition as is_attached
  from pg_class
  where relnamespace = (select relnamespace from pg_class where oid = 'messages'::regclass) and relkind = 'r'
    and relname ~ '^messages_[0-9]{4}_[0-9]{2}$'`

/** The detached months, also if their tables were dropped. Their messages were counted when they were detached. */
export const selectClosedMonths = (sql: Sql) => sql<{ month: string; messages: number }[]>`
  select to_char(month, 'YYYY-MM') as month, sum(messages)::bigint as messages from closed_months group by 1`

/** The size with the indexes, and the number of messages as PostgreSQL estimates it: negative if it does not know. */
export const selectSize = (sql: Sql, month: string) => sql<{ bytes: number; estimate: number }[]>`
  select bytes, estimate from stored_size(${tableOf(month)})`

export const countMessages = (sql: Sql, month: string) => sql<{ messages: number }[]>`
  select count(*) as messages from messages m
  where m.message_uuid >= ${firstOf(sql, month)} and m.message_uuid < ${endOf(sql, month)}`

export const selectAttachedMonths = (sql: Sql) => sql<{ month: string }[]>`
  select replace(substring(c.relname from 10), '_', '-') as month
  from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'messages'::regclass
  order by c.relname`

export type Unfinished = {
  companyId: number
  /** Null: it is a single message. */
  dispatchId: number | null
  uuid: string | null
  status: string
  others: number
}

/**
 * A dispatch of the month that is not COMPLETED, or else a single message that is not final. The status of a dispatch shows
 * whether its messages are final, so the statement reads only single messages.
 */
export function selectUnfinished(sql: Sql, month: string) {
  const within = sql`m.message_uuid >= ${firstOf(sql, month)} and m.message_uuid < ${endOf(sql, month)}`
  return sql<Unfinished[]>`
    (select d.company_id, d.dispatch_id, null::uuid as uuid, d.status::text as status,
      count(*) over () - 1 as others
    from dispatches d
    where d.status <> 'COMPLETED' and d.last_uuid >= ${firstOf(sql, month)} and d.first_uuid < ${endOf(sql, month)}
      and exists (
        select from messages m where m.company_id = d.company_id and m.dispatch_id = d.dispatch_id and ${within})
    order by d.dispatch_id limit 1)
    union all
    (select m.company_id, null, m.message_uuid, m.status::text, 0
    from messages m where m.dispatch_id is null and m.status in ('CREATED', 'SENT') and ${within}
    limit 1)
    limit 1`
}

const everything = (sql: Sql) => sql`true`
type Condition = ReturnType<typeof everything>

/** Sums of messages: a few rows for each block of a dispatch, and for the single messages of each company. */
const sumsIn = (sql: Sql, table: string, which: Condition) => sql`
  select m.company_id, m.dispatch_id, (m.dispatch_position / ${BLOCK_SIZE})::int as block, m.status, m.tariff_id,
    count(*) as messages, sum(m.parts) as parts,
    count(*) filter (where m.status = 'FAILED' and m.sent_at is null) as unsent_messages,
    coalesce(sum(m.parts) filter (where m.status = 'FAILED' and m.sent_at is null), 0) as unsent_parts,
    sum(m.price) as price,
    coalesce(sum(m.final_price), 0) as final_price,
    count(*) filter (where (m.final_price is null) = (m.status in ('DELIVERED', 'FAILED'))
      or m.status = 'FAILED' and m.final_price <> 0 or m.final_price > m.price) as badly_priced
  from ${sql(table)} m where ${which}
  group by 1, 2, 3, 4, 5`

/**
 * The sums of all messages and their recipients, with detached months. The ledger is verified from them. `which` is a
 * condition on `m`.
 */
export const messageSums = (sql: Sql, which: Condition) => sql`
  ${sumsIn(sql, 'messages', which)}
  union all
  select m.company_id, m.dispatch_id, m.block, m.status, m.tariff_id, m.messages, m.parts, m.unsent_messages,
    m.unsent_parts, m.price, m.final_price, m.badly_priced
  from closed_months m where ${which}`

/**
 * Messages counted by the hours (of UTC) in which they were accepted, sent and final, as `traffic_hours` has them. They
 * are grouped by all three hours first: far fewer groups than messages are then counted for each hour.
 */
const trafficIn = (sql: Sql, table: string, which: Condition) => sql`
  select s.company_id, case e.change when 'accepted' then s.accepted_hour when 'sent' then s.sent_hour else s.final_hour end as hour,
    s.channel_type, s.brand_id, s.traffic_type,
    ${trafficOf(sql, sql`e.change = 'accepted'`, 'accepted')},
    ${trafficOf(sql, sql`e.change = 'sent'`, 'sent')},
    ${trafficOf(sql, sql`e.change = 'final' and s.status = 'DELIVERED'`, 'delivered')},
    ${trafficOf(sql, sql`e.change = 'final' and s.status = 'FAILED'`, 'failed')},
    coalesce(sum(s.spent) filter (where e.change = 'final' and s.status = 'DELIVERED'), 0)::numeric(18, 4) as spent
  from (
    select m.company_id, coalesce(d.channel_type, m.channel_type, 'SMS') as channel_type, m.brand_id,
      coalesce(d.traffic_type, m.traffic_type, 'PROMO') as traffic_type, m.status,
      date_bin('1 hour', uuid7_time(m.message_uuid), 'epoch') as accepted_hour,
      date_bin('1 hour', m.sent_at, 'epoch') as sent_hour, date_bin('1 hour', m.final_at, 'epoch') as final_hour,
      count(*) as messages, sum(m.parts) as parts, coalesce(sum(m.final_price), 0) as spent
    from ${sql(table)} m left join dispatches d on d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
    where ${which}
    group by 1, 2, 3, 4, 5, 6, 7, 8) s
  join (values ('accepted'), ('sent'), ('final')) e (change)
    on e.change = 'accepted' or e.change = 'sent' and s.sent_hour is not null or e.change = 'final' and s.final_hour is not null
  group by 1, 2, 3, 4, 5`

const trafficOf = (sql: Sql, counted: Condition, name: string) => sql`
  coalesce(sum(s.messages) filter (where ${counted}), 0)::bigint as ${sql(name)},
  coalesce(sum(s.parts) filter (where ${counted}), 0)::bigint as ${sql(`${name}_parts`)}`

/** The messages of one attached month, counted by hour. `which` is a condition on `m`. */
export const trafficOfMonth = (sql: Sql, month: string, which: Condition) => trafficIn(sql, tableOf(month), which)

/** The traffic of the detached months. */
export const closedTraffic = (sql: Sql, which: Condition) => sql`
  select m.company_id, m.hour, m.channel_type, m.brand_id, m.traffic_type, m.accepted, m.accepted_parts, m.sent,
    m.sent_parts, m.delivered, m.delivered_parts, m.failed, m.failed_parts, m.spent
  from closed_traffic_hours m where ${which}`

/** The recipients of delivered messages with a MAU tariff. */
const reachedIn = (sql: Sql, table: string, which: Condition) => sql`
  select distinct m.company_id, m.tariff_id, m.destination from ${sql(table)} m
  join tariffs t on t.tariff_id = m.tariff_id and t.pricing_model = 'MAU'
  where m.status = 'DELIVERED' and ${which}`

export const reachedRecipients = (sql: Sql, which: Condition) => sql`
  ${reachedIn(sql, 'messages', which)}
  union
  select m.company_id, m.tariff_id, m.destination from closed_recipients m where ${which}`

/**
 * Locks the list of months against other transactions that attach or detach months. Messages stay usable. These are the
 * first statements of the transaction, so its snapshot begins after the wait for the lock.
 */
export async function lockMonths(sql: Sql) {
  await sql`set local lock_timeout = '1s'`
  await sql`lock table only messages in share update exclusive mode`
}

/** Locks the messages until the end of the transaction. False if another transaction uses them. */
export const lockMessages = (sql: Sql, month: string) =>
  sql<{ locked: boolean }[]>`select lock_messages(${tableOf(month)}) as locked`

/** Whether the wait for a lock took too long. */
export const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03'

/** Reads all messages of the month and writes their sums into temporary tables. */
export async function sumMonth(sql: Transaction, month: string) {
  await sql`create temporary table month_sums on commit drop as ${sumsIn(sql, tableOf(month), everything(sql))}`
  await sql`create temporary table month_recipients on commit drop as ${reachedIn(sql, tableOf(month), everything(sql))}`
}

export const selectPendingSum = (sql: Sql) => sql<{ companyId: number; dispatchId: number | null; messages: number }[]>`
  select company_id, dispatch_id, sum(messages)::bigint as messages from month_sums
  where status in ('CREATED', 'SENT') group by company_id, dispatch_id order by 1, 2 limit 1`

export async function storeSums(sql: Sql, month: string) {
  await sql`
    insert into closed_months (
      company_id, month, dispatch_id, block, status, tariff_id, messages, parts, unsent_messages, unsent_parts, price,
      final_price, badly_priced)
    select company_id, ${`${month}-01`}::date, dispatch_id, block, status, tariff_id, messages, parts, unsent_messages,
      unsent_parts, price, final_price, badly_priced
    from month_sums`
  await sql`insert into closed_recipients select * from month_recipients on conflict do nothing`
  await keepTraffic(sql, month)
}

/** Rows of the first hours may exist already, from messages of the month before that ended in them. */
const keepTraffic = (sql: Sql, month: string) => sql`
  insert into closed_traffic_hours as c (
    company_id, hour, channel_type, brand_id, traffic_type, accepted, accepted_parts, sent, sent_parts, delivered,
    delivered_parts, failed, failed_parts, spent)
  ${trafficIn(sql, tableOf(month), everything(sql))}
  on conflict (company_id, hour, channel_type, brand_id, traffic_type) do update set
    accepted = c.accepted + excluded.accepted, accepted_parts = c.accepted_parts + excluded.accepted_parts,
    sent = c.sent + excluded.sent, sent_parts = c.sent_parts + excluded.sent_parts,
    delivered = c.delivered + excluded.delivered, delivered_parts = c.delivered_parts + excluded.delivered_parts,
    failed = c.failed + excluded.failed, failed_parts = c.failed_parts + excluded.failed_parts,
    spent = c.spent + excluded.spent`

export const detachPartition = (sql: Sql, month: string) =>
  sql`alter table messages detach partition ${sql(tableOf(month))}`

export const countSummed = (sql: Sql) =>
  sql<{ messages: number }[]>`select coalesce(sum(messages), 0)::bigint as messages from month_sums`
