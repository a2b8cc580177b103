import type { ChannelType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { ChargeKind } from './account.ts'

export type MonthSums = { month: string; toppedUp: Money; corrected: Money; spent: Money; closing: Money }

/** Every month from the first movement on, the newest first; one without a movement has nothing but its balance. */
export const selectMonths = (sql: Sql, companyId: number, until: string) => sql<MonthSums[]>`
  select every.month::date::text as month, coalesce(topped_up, 0)::numeric(18, 4) as topped_up,
    coalesce(corrected, 0)::numeric(18, 4) as corrected, coalesce(spent, 0)::numeric(18, 4) as spent,
    (sum(coalesce(topped_up + corrected - spent, 0)) over (order by every.month))::numeric(18, 4) as closing
  from (select min(month) as first, max(month) as last from account_months where company_id = ${companyId}) ends,
    generate_series(first::timestamp, greatest(last, ${until}::date), interval '1 month') every (month)
  left join account_months m on m.company_id = ${companyId} and m.month = every.month::date
  order by every.month desc`

export type ShareSums = {
  kind: ChargeKind
  channelType: ChannelType | null
  brandId: number | null
  tariffId: number | null
  messages: number
  parts: number
  amount: Money
}

/** A fee may be charged a day after its month has ended; nothing is written into a month later. */
const daysOf = (sql: Sql, month: string) => sql`
  day >= ${month}::date and day < (${month}::date + interval '1 month 2 days')::date and month = ${month}::date`

export const selectShares = (sql: Sql, companyId: number, month: string) => sql<ShareSums[]>`
  select kind, channel_type, brand_id, tariff_id,
    sum(messages)::bigint as messages, sum(parts)::bigint as parts, sum(amount)::numeric(18, 4) as amount
  from charge_days where company_id = ${companyId} and ${daysOf(sql, month)}
  group by kind, channel_type, brand_id, tariff_id order by sum(amount) desc`

/** A top-up or a correction. */
export type EntryLine = { day: string; amount: Money; note: string | null }

export const selectEntriesOfKind = (
  sql: Sql,
  companyId: number,
  kind: 'TOPUP' | 'CORRECTION',
  month: string,
  limit: number,
) => sql<EntryLine[]>`
  select day::text as day, amount, note from ledger_lines
  where company_id = ${companyId} and kind = ${kind} and ${daysOf(sql, month)}
  order by ledger_lines.day, line_id limit ${limit}`

export type FeeLine = { day: string; amount: Money; senderName: string | null; brand: string | null }

export const selectFees = (sql: Sql, companyId: number, month: string, limit: number) => sql<FeeLine[]>`
  select l.day::text as day, l.amount, s.sender_name, s.brand from (
    select * from ledger_lines where company_id = ${companyId} and kind = 'SENDER_FEE' and ${daysOf(sql, month)}
    order by day, line_id limit ${limit}
  ) l
  left join senders s on s.company_id = l.company_id and s.sender_id = l.sender_id
  order by l.day, l.line_id`

export type DaySums = ShareSums & { day: string; month: string }

/** The charges since a day, by day, channel and operator. */
export const selectDays = (sql: Sql, companyId: number, from: string) => sql<DaySums[]>`
  select day::text as day, month::text as month, kind, channel_type, brand_id,
    null as tariff_id, sum(messages)::bigint as messages, sum(parts)::bigint as parts,
    sum(amount)::numeric(18, 4) as amount
  from charge_days where company_id = ${companyId} and day >= ${from}::date
  group by day, month, kind, channel_type, brand_id order by charge_days.day`
