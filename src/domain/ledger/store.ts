import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import type { Account, ChargeShare, Entry } from './account.ts'

export function selectAccount(sql: Sql, companyId: number, month: string) {
  return sql<Account[]>`
    select a.balance, a.reserved, c.budget, c.billing, c.currency, coalesce(m.spent, 0)::numeric(18, 4) as spent
    from accounts a join companies c on c.company_id = a.company_id
    left join account_months m on m.company_id = a.company_id and m.month = ${month}
    where a.company_id = ${companyId}`
}

/** For staff: every company's account, with what it spent in the month. */
export function listAccounts(sql: Sql, month: string) {
  return sql<(Account & { companyId: number })[]>`
    select a.company_id, a.balance, a.reserved, c.budget, c.billing, c.currency,
      coalesce(m.spent, 0)::numeric(18, 4) as spent
    from accounts a join companies c on c.company_id = a.company_id
    left join account_months m on m.company_id = a.company_id and m.month = ${month}
    order by a.company_id`
}

/** The accounts of several companies, with what each spent in the month. */
export function accountsOf(sql: Sql, companyIds: number[], month: string) {
  return sql<(Account & { companyId: number })[]>`
    select a.company_id, a.balance, a.reserved, c.budget, c.billing, c.currency,
      coalesce(m.spent, 0)::numeric(18, 4) as spent
    from accounts a join companies c on c.company_id = a.company_id
    left join account_months m on m.company_id = a.company_id and m.month = ${month}
    where a.company_id = any(${companyIds}::bigint[])`
}

export type CompanyAccount = Account & { companyId: number; name: string }

const isFound = (sql: Sql, scope: CompanyScope, search: string) => sql`
  ${scope.kind === 'STAFF' ? sql`true` : scope.kind === 'PARTNER' ? sql`c.partner_id = ${scope.partnerId}` : sql`c.company_id = ${scope.companyId}`}
  and (position(lower(${search}::text) in lower(c.name)) > 0 or c.company_id::text = ${search})`

/** Ordered by the spending of the month, highest first. */
export const selectAccountsWithin = (
  sql: Sql,
  scope: CompanyScope,
  { search, month, offset, limit }: { search: string; month: string; offset: number; limit: number },
) => sql<CompanyAccount[]>`
  select a.company_id, c.name, a.balance, a.reserved, c.budget, c.billing, c.currency,
    coalesce(m.spent, 0)::numeric(18, 4) as spent
  from companies c join accounts a on a.company_id = c.company_id
  left join account_months m on m.company_id = a.company_id and m.month = ${month}
  where ${isFound(sql, scope, search)}
  order by coalesce(m.spent, 0) desc, a.company_id offset ${offset} limit ${limit}`

export const countAccountsWithin = (sql: Sql, scope: CompanyScope, search: string) =>
  sql<{ total: number }[]>`select count(*) as total from companies c where ${isFound(sql, scope, search)}`

const BOOKS: Record<Entry['kind'], { debit: string; credit: string }> = {
  TOPUP: { debit: 'cash', credit: 'balance' },
  CORRECTION: { debit: 'corrections', credit: 'balance' }, // the other way round where the amount is negative
  MESSAGES: { debit: 'balance', credit: 'messages' },
  MAU_PACKAGE: { debit: 'balance', credit: 'packages' },
  SENDER_FEE: { debit: 'balance', credit: 'fees' },
}

/** On which day entries are written, when, and the balance after them. */
export type EntryPlace = { day: string; at: Date; balance: Money }

/** Writes entries, and adds them to the lines of the day that have the same cause. */
export function insertEntries(sql: Sql, companyId: number, entries: Entry[], { day, at, balance }: EntryPlace) {
  const rows = entries.map(entry => ({
    company_id: companyId,
    kind: entry.kind,
    ...BOOKS[entry.kind],
    amount: sql.typed.money(entry.amount) as never,
    currency: entry.currency,
    month: entry.month,
    dispatch_id: entry.dispatchId ?? null,
    sender_id: entry.senderId ?? null,
    tariff_id: entry.tariffId ?? null,
    note: entry.note ?? null,
    messages: entry.messages ?? null,
  }))
  return sql`
    with added as (insert into ledger_entries ${sql(rows)} returning *)
    insert into ledger_lines as l (
      company_id, day, month, kind, dispatch_id, sender_id, tariff_id, amount, messages, entries, first_entry_id,
      last_entry_id, first_at, last_at, balance, note)
    select company_id, ${day}::date, month, kind, dispatch_id, sender_id, tariff_id, sum(amount),
      coalesce(sum(messages), 0)::bigint, count(*), min(entry_id), max(entry_id), ${at}::timestamptz, ${at}::timestamptz,
      ${sql.typed.money(balance)}, max(note)
    from added group by company_id, month, kind, dispatch_id, sender_id, tariff_id
    order by min(entry_id)
    on conflict (company_id, day, month, kind, dispatch_id, sender_id, tariff_id) where kind not in ('TOPUP', 'CORRECTION')
    do update set
      amount = l.amount + excluded.amount, messages = l.messages + excluded.messages,
      entries = l.entries + excluded.entries, last_entry_id = excluded.last_entry_id, last_at = excluded.last_at,
      balance = excluded.balance`
}

export function addShares(sql: Sql, companyId: number, day: string, shares: ChargeShare[]) {
  if (shares.length === 0) return undefined
  return sql`
    insert into charge_days as c (
      company_id, day, month, kind, channel_type, brand_id, tariff_id, messages, parts, amount)
    select ${companyId}, ${day}::date, * from unnest(
      ${shares.map(({ month }) => month)}::text[]::date[], ${shares.map(({ kind }) => kind)}::text[],
      ${shares.map(({ channelType }) => channelType)}::text[], ${shares.map(({ brandId }) => brandId)}::smallint[],
      ${shares.map(({ tariffId }) => tariffId)}::bigint[], ${shares.map(({ messages }) => messages)}::bigint[],
      ${shares.map(({ parts }) => parts)}::bigint[],
      ${shares.map(({ amount }) => formatMoney(amount))}::text[]::numeric[])
    on conflict (company_id, day, month, kind, channel_type, brand_id, tariff_id) do update set
      messages = c.messages + excluded.messages, parts = c.parts + excluded.parts, amount = c.amount + excluded.amount`
}
