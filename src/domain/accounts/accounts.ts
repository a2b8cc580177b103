import type { Money } from '../../base/money.ts'
import type { Fragment, Sql } from '../../db/sql.ts'

/** Opens an account for each company that the query returns. The statement that inserts companies contains it. */
export const openAccounts = (sql: Sql, companyIds: Fragment) => sql`
  insert into accounts (company_id) ${companyIds}`

/**
 * Locks the account until the transaction ends. Every change of money takes this lock.
 *
 * The table of messages is locked before the row, as by any reader. Otherwise a transaction could hold the account and then
 * wait behind the detachment of a month, which waits for results, which wait for the account.
 */
export const lockAccountRow = (sql: Sql, companyId: number) => sql`
  select from accounts
  where company_id = ${companyId} and not exists (select from messages where company_id = ${companyId} and false)
  for no key update`

/** Waits for programs that lock the account `for update`, and lets others lock it as `lockAccountRow` does. */
export const shareAccountRow = (sql: Sql, companyId: number) =>
  sql`select from accounts where company_id = ${companyId} for key share`

/** Adds amounts to the balance and to the reservation; negative ones reduce them. */
export function addToAccount(sql: Sql, companyId: number, { balance = 0n, reserved = 0n }: Amounts) {
  return sql`
    update accounts set balance = balance + ${sql.typed.money(balance)}, reserved = reserved + ${sql.typed.money(reserved)}
    where company_id = ${companyId}`
}

export type Amounts = { balance?: Money; reserved?: Money }

export function addSpent(sql: Sql, companyId: number, month: string, amount: Money) {
  return sql`
    insert into account_months (company_id, month, spent) values (${companyId}, ${month}, ${sql.typed.money(amount)})
    on conflict (company_id, month) do update set spent = account_months.spent + excluded.spent`
}

export function addToppedUp(sql: Sql, companyId: number, month: string, amount: Money) {
  return sql`
    insert into account_months (company_id, month, topped_up) values (${companyId}, ${month}, ${sql.typed.money(amount)})
    on conflict (company_id, month) do update set topped_up = account_months.topped_up + excluded.topped_up`
}

export function addCorrected(sql: Sql, companyId: number, month: string, amount: Money) {
  return sql`
    insert into account_months (company_id, month, corrected) values (${companyId}, ${month}, ${sql.typed.money(amount)})
    on conflict (company_id, month) do update set corrected = account_months.corrected + excluded.corrected`
}
