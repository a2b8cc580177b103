import type { Sql } from '../../db/sql.ts'
import { messageSums, reachedRecipients } from '../messages/months.ts'

/** A stored sum that is wrong. `expected` is computed from the messages and entries, `found` is the stored value. */
export type Difference = {
  companyId: number
  what: string
  /** The dispatch, month or tariff of the sum. Null for a sum of the whole company. */
  of: string | null
  expected: string
  found: string
}

type Scope = number | undefined

const ofCompany = (sql: Sql, table: string, companyId: Scope) =>
  companyId === undefined ? sql`true` : sql`${sql(table)}.company_id = ${companyId}`

/**
 * Prevents the detaching of months during the check. This must be the first statement: the snapshot is then taken
 * after the wait for the lock. An earlier snapshot could see a detached month neither in the messages nor in the closed
 * months.
 */
export const preventDetaching = (sql: Sql) => sql`lock table messages in access share mode`

/** Reads the messages once. The result has a few rows for each block of a dispatch, for any number of messages. */
export async function sumMessages(sql: Sql, companyId: Scope) {
  await sql`
    create temporary table message_sums on commit drop as ${messageSums(sql, ofCompany(sql, 'm', companyId))}`
  await sql`analyze message_sums`
}

type Check = (sql: Sql, companyId: Scope) => Promise<Difference[]>

const nothing = (sql: Sql) => sql`select null::bigint, null::text, null::numeric where false`

type Relation = ReturnType<typeof nothing>

/** Compares two relations of (company_id, of, amount). A missing row counts as 0. */
const compare = (sql: Sql, what: string, expected: Relation, found: Relation): Promise<Difference[]> =>
  sql<Difference[]>`
    select company_id, ${what} as what, nullif(of, '') as of,
      coalesce(e.amount, 0)::text as expected, coalesce(f.amount, 0)::text as found
    from (${expected}) e (company_id, of, amount) full join (${found}) f (company_id, of, amount) using (company_id, of)
    where coalesce(e.amount, 0) <> coalesce(f.amount, 0)
    order by 1, 3`

const isCharge = (sql: Sql) => sql`kind not in ('TOPUP', 'CORRECTION')`

/** Balance = top-ups + corrections - messages - packages - fees. */
const balance: Check = (sql, companyId) =>
  compare(
    sql,
    'balance',
    sql`
      select company_id, '', sum(case when ${isCharge(sql)} then -amount else amount end) from ledger_entries e
      where ${ofCompany(sql, 'e', companyId)} group by company_id`,
    sql`select company_id, '', balance from accounts a where ${ofCompany(sql, 'a', companyId)}`,
  )

/** The entries of a dispatch charge exactly the final prices of its messages. */
const charged: Check = (sql, companyId) =>
  compare(
    sql,
    'charged for messages',
    sql`
      select company_id, coalesce('dispatch ' || dispatch_id, 'single messages'), sum(final_price) from message_sums
      where status = 'DELIVERED' group by company_id, dispatch_id`,
    sql`
      select company_id, coalesce('dispatch ' || dispatch_id, 'single messages'), sum(amount) from ledger_entries e
      where kind = 'MESSAGES' and ${ofCompany(sql, 'e', companyId)} group by company_id, dispatch_id`,
  )

const spent: Check = (sql, companyId) =>
  compare(
    sql,
    'spent',
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_entries e
      where ${isCharge(sql)} and ${ofCompany(sql, 'e', companyId)} group by company_id, month`,
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), spent from account_months m
      where ${ofCompany(sql, 'm', companyId)}`,
  )

/** The lines of the ledger are sums of its entries. */
const lines: Check = (sql, companyId) =>
  compare(
    sql,
    'lines of the ledger',
    sql`
      select company_id, kind || ', month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_entries e
      where ${ofCompany(sql, 'e', companyId)} group by company_id, kind, month`,
    sql`
      select company_id, kind || ', month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_lines l
      where ${ofCompany(sql, 'l', companyId)} group by company_id, kind, month`,
  )

/** The amounts by channel, operator and tariff, from which statements are made, add up to the entries of the month. */
const shares: Check = (sql, companyId) =>
  compare(
    sql,
    'charged by channel, operator and tariff',
    sql`
      select company_id, kind || ', month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_entries e
      where ${isCharge(sql)} and ${ofCompany(sql, 'e', companyId)} group by company_id, kind, month`,
    sql`
      select company_id, kind || ', month ' || to_char(month, 'YYYY-MM'), sum(amount) from charge_days c
      where ${ofCompany(sql, 'c', companyId)} group by company_id, kind, month`,
  )

const toppedUp: Check = (sql, companyId) =>
  compare(
    sql,
    'topped up',
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_entries e
      where kind = 'TOPUP' and ${ofCompany(sql, 'e', companyId)} group by company_id, month`,
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), topped_up from account_months m
      where ${ofCompany(sql, 'm', companyId)}`,
  )

const corrected: Check = (sql, companyId) =>
  compare(
    sql,
    'corrected',
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), sum(amount) from ledger_entries e
      where kind = 'CORRECTION' and ${ofCompany(sql, 'e', companyId)} group by company_id, month`,
    sql`
      select company_id, 'month ' || to_char(month, 'YYYY-MM'), corrected from account_months m
      where ${ofCompany(sql, 'm', companyId)}`,
  )

/**
 * These reserve money: SENT messages; CREATED messages of started dispatches; CREATED single messages; CREATED messages
 * of stopped dispatches that a worker has leased; packages.
 */
const reserved: Check = (sql, companyId) =>
  compare(
    sql,
    'reserved',
    sql`
      select company_id, '', sum(amount) from (
        select s.company_id, s.price as amount from message_sums s
        left join dispatches d on d.company_id = s.company_id and d.dispatch_id = s.dispatch_id
        where s.status = 'SENT' or s.status = 'CREATED' and (s.dispatch_id is null or d.status = 'STARTED')
        union all
        select m.company_id, m.price from dispatches d
        join lanes l on l.company_id = d.company_id and l.dispatch_id = d.dispatch_id
        join leases e on e.company_id = l.company_id and e.lane_id = l.lane_id and e.worker is not null
        join messages m on m.company_id = l.company_id and m.lane_id = l.lane_id
          and m.seq >= e.first_seq and m.seq < e.next_seq and m.message_uuid between d.first_uuid and d.last_uuid
        where d.status = 'STOPPED' and m.status = 'CREATED' and ${ofCompany(sql, 'd', companyId)}
        union all
        select company_id, amount from package_holds h where ${ofCompany(sql, 'h', companyId)}) holding
      group by company_id`,
    sql`select company_id, '', reserved from accounts a where ${ofCompany(sql, 'a', companyId)}`,
  )

const createdPrice: Check = (sql, companyId) =>
  compare(
    sql,
    'price of CREATED messages',
    sql`
      select company_id, 'dispatch ' || dispatch_id, sum(price) from message_sums
      where status = 'CREATED' and dispatch_id is not null group by company_id, dispatch_id`,
    sql`
      select company_id, 'dispatch ' || dispatch_id, created_price from dispatches d
      where ${ofCompany(sql, 'd', companyId)}`,
  )

const counters: Check = (sql, companyId) =>
  compare(
    sql,
    'counter',
    sql`
      select company_id, 'dispatch ' || dispatch_id || ', block ' || block || ', ' || counter.name, sum(counter.value)
      from message_sums, lateral (values
        (lower(status::text) || ' messages', messages), (lower(status::text) || ' parts', parts),
        ('unsent messages', unsent_messages), ('unsent parts', unsent_parts)) counter (name, value)
      where dispatch_id is not null group by company_id, dispatch_id, block, counter.name`,
    sql`
      select company_id, 'dispatch ' || dispatch_id || ', block ' || block || ', ' || counter.name, counter.value
      from dispatch_blocks b, lateral (values
        ('created messages', created_messages), ('created parts', created_parts),
        ('sent messages', sent_messages), ('sent parts', sent_parts),
        ('delivered messages', delivered_messages), ('delivered parts', delivered_parts),
        ('failed messages', failed_messages), ('failed parts', failed_parts),
        ('unsent messages', unsent_messages), ('unsent parts', unsent_parts)) counter (name, value)
      where ${ofCompany(sql, 'b', companyId)}`,
  )

/** Every final message, and no other, has a final price. It is 0 for a failed message and never above the reserved price. */
const finalPrices: Check = sql =>
  compare(
    sql,
    'messages without a right final price',
    nothing(sql),
    sql`
      select company_id, coalesce('dispatch ' || dispatch_id, 'single messages'), sum(badly_priced) from message_sums
      group by company_id, dispatch_id`,
  )

const completion: Check = (sql, companyId) =>
  compare(
    sql,
    'pending messages of a COMPLETED dispatch',
    nothing(sql),
    sql`
      select d.company_id, 'dispatch ' || d.dispatch_id, sum(s.messages) from dispatches d
      join message_sums s on s.company_id = d.company_id and s.dispatch_id = d.dispatch_id
      where d.status = 'COMPLETED' and s.status in ('CREATED', 'SENT') and ${ofCompany(sql, 'd', companyId)}
      group by d.company_id, d.dispatch_id`,
  )

const packageHolds: Check = (sql, companyId) =>
  compare(
    sql,
    'held for packages by a dispatch that is not STARTED',
    nothing(sql),
    sql`
      select h.company_id, 'dispatch ' || h.dispatch_id, sum(h.amount) from package_holds h
      left join dispatches d on d.company_id = h.company_id and d.dispatch_id = h.dispatch_id
      where d.status is distinct from 'STARTED' and ${ofCompany(sql, 'h', companyId)}
      group by h.company_id, h.dispatch_id`,
  )

/** Counted over all months: a message does not record the month in which it was settled. */
const deliveredOfTariffs: Check = (sql, companyId) =>
  compare(
    sql,
    'delivered of a tariff',
    sql`
      select s.company_id, 'tariff ' || s.tariff_id, sum(s.messages) from message_sums s
      join tariffs t on t.tariff_id = s.tariff_id and t.pricing_model = 'SCALED'
      where s.status = 'DELIVERED' group by s.company_id, s.tariff_id`,
    sql`
      select company_id, 'tariff ' || tariff_id, sum(delivered) from tariff_usage u
      where ${ofCompany(sql, 'u', companyId)} group by company_id, tariff_id`,
  )

const recipientsOfTariffs: Check = (sql, companyId) =>
  compare(
    sql,
    'unique recipients of a tariff',
    sql`
      select company_id, 'tariff ' || tariff_id || ', month ' || to_char(month, 'YYYY-MM'), count(*)
      from tariff_recipients r where ${ofCompany(sql, 'r', companyId)} group by company_id, tariff_id, month`,
    sql`
      select company_id, 'tariff ' || tariff_id || ', month ' || to_char(month, 'YYYY-MM'), recipients
      from tariff_usage u where ${ofCompany(sql, 'u', companyId)}`,
  )

/** Under a tariff by unique recipients, exactly the recipients of delivered messages are noted as reached. */
const recipientsOfMessages: Check = (sql, companyId) =>
  compare(
    sql,
    'recipients not noted, or noted and not reached',
    nothing(sql),
    sql`
      select company_id, 'tariff ' || tariff_id, count(*) from (
        ${reachedRecipients(sql, ofCompany(sql, 'm', companyId))}) reached
      full join (
        select distinct company_id, tariff_id, destination from tariff_recipients r
        where ${ofCompany(sql, 'r', companyId)}) noted using (company_id, tariff_id, destination)
      where reached is null or noted is null
      group by company_id, tariff_id`,
  )

/** A package is charged once for every step that the number of recipients of a month reached. */
const packages: Check = (sql, companyId) =>
  compare(
    sql,
    'charged for packages',
    sql`
      select u.company_id, 'tariff ' || u.tariff_id || ', month ' || to_char(u.month, 'YYYY-MM'), sum(s.price_mau_batch)
      from tariff_usage u join tariff_steps s on s.tariff_id = u.tariff_id and greatest(s.from_count, 1) <= u.recipients
      where ${ofCompany(sql, 'u', companyId)} group by u.company_id, u.tariff_id, u.month`,
    sql`
      select company_id, 'tariff ' || tariff_id || ', month ' || to_char(month, 'YYYY-MM'), sum(amount)
      from ledger_entries e where kind = 'MAU_PACKAGE' and ${ofCompany(sql, 'e', companyId)}
      group by company_id, tariff_id, month`,
  )

const fees: Check = (sql, companyId) =>
  compare(
    sql,
    'fees of a sender charged more than once',
    nothing(sql),
    sql`
      select company_id, 'sender ' || sender_id || ', month ' || to_char(month, 'YYYY-MM'), count(*)
      from ledger_entries e where kind = 'SENDER_FEE' and ${ofCompany(sql, 'e', companyId)}
      group by company_id, sender_id, month having count(*) > 1`,
  )

export const checks: Check[] = [
  balance,
  charged,
  spent,
  lines,
  shares,
  toppedUp,
  corrected,
  reserved,
  createdPrice,
  counters,
  finalPrices,
  completion,
  packageHolds,
  deliveredOfTariffs,
  recipientsOfTariffs,
  recipientsOfMessages,
  packages,
  fees,
]
