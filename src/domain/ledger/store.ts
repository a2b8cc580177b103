import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Account, BillingMode, Entry } from './account.ts'

export const lockAccount = (sql: Sql, companyId: number) =>
  sql`select from accounts where company_id = ${companyId} for update`

export function selectAccount(sql: Sql, companyId: number, month: string) {
  return sql<Account[]>`
    select a.balance, a.reserved, c.budget, c.billing, c.currency, coalesce(m.spent, 0)::numeric(18, 4) as spent
    from accounts a join companies c on c.company_id = a.company_id
    left join account_months m on m.company_id = a.company_id and m.month = ${month}
    where a.company_id = ${companyId}`
}

export function selectAccounts(sql: Sql, month: string) {
  return sql<(Account & { companyId: number })[]>`
    select a.company_id as "companyId", a.balance, a.reserved, c.budget, c.billing, c.currency,
      coalesce(m.spent, 0)::numeric(18, 4) as spent
    from accounts a join companies c on c.company_id = a.company_id
    left join account_months m on m.company_id = a.company_id and m.month = ${month}
    order by a.company_id`
}

export function selectAccountsOf(sql: Sql, companyIds: number[], month: string) {
  return sql<(Account & { companyId: number })[]>`
    select a.company_id as "companyId", a.balance, a.reserved, c.budget, c.billing, c.currency,
      coalesce(m.spent, 0)::numeric(18, 4) as spent
    from unnest(${companyIds}::bigint[]) wanted (company_id)
    join accounts a on a.company_id = wanted.company_id
    join companies c on c.company_id = wanted.company_id
    left join account_months m on m.company_id = wanted.company_id and m.month = ${month}`
}

export const updateBilling = (sql: Sql, companyId: number, billing: BillingMode) =>
  sql`update companies set billing = ${billing}, updated_at = clock_timestamp() where company_id = ${companyId}`

export const addReserved = (sql: Sql, companyId: number, amount: Money) =>
  sql`update accounts set reserved = reserved + ${sql.typed.money(amount)} where company_id = ${companyId}`

export const addBalance = (sql: Sql, companyId: number, amount: Money) =>
  sql`update accounts set balance = balance + ${sql.typed.money(amount)} where company_id = ${companyId}`

export function addSpent(sql: Sql, companyId: number, month: string, amount: Money) {
  return sql`
    insert into account_months (company_id, month, spent) values (${companyId}, ${month}, ${sql.typed.money(amount)})
    on conflict (company_id, month) do update set spent = account_months.spent + excluded.spent`
}

const BOOKS: Record<Entry['kind'], { debit: string; credit: string }> = {
  TOPUP: { debit: 'cash', credit: 'balance' },
  MESSAGES: { debit: 'balance', credit: 'messages' },
  MAU_PACKAGE: { debit: 'balance', credit: 'packages' },
  SENDER_FEE: { debit: 'balance', credit: 'fees' },
}

export function insertEntries(sql: Sql, companyId: number, entries: Entry[]) {
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
  }))
  return sql`insert into ledger_entries ${sql(rows)}`
}
