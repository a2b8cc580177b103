import { notFound, UsageError } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { type Account, type BillingMode, type Entry, monthOf } from './account.ts'
import * as store from './store.ts'

/**
 * Locks the company's account for the rest of the transaction. Whoever changes money, or the status of messages that
 * hold some, takes this lock first: then nothing else of the company moves meanwhile, and sums can be trusted.
 *
 * Locked in one statement and read in the next, sent together: the one that waits for the lock sees other tables as
 * they were before it waited, and what was spent meanwhile would be missing.
 */
export async function lockAccount(sql: Transaction, companyId: number, month: string): Promise<Account> {
  const [, [account]] = await Promise.all([
    store.lockAccount(sql, companyId),
    store.selectAccount(sql, companyId, month),
  ])
  if (!account) throw notFound('Company')
  return account
}

/** Why an amount cannot be reserved; undefined when it can. */
export function refusalOf(account: Account, amount: Money): string | undefined {
  if (account.budget !== null && account.spent + account.reserved + amount > account.budget) {
    return 'The monthly budget of the company would be exceeded'
  }
  if (account.billing === 'PREPAID' && account.balance - account.reserved < amount) {
    return 'The balance of the company is too small'
  }
}

/** Holds an amount, or with a negative one lets it go. The caller holds the account's lock. */
export async function changeReserved(sql: Sql, companyId: number, amount: Money): Promise<void> {
  if (amount !== 0n) await store.addReserved(sql, companyId, amount)
}

/** What was spent: entries in the books, less on the balance, more in the month. The caller holds the lock. */
export async function charge(sql: Sql, companyId: number, entries: Entry[]): Promise<void> {
  const charged = entries.filter(({ amount }) => amount > 0n)
  if (charged.length === 0) return
  const sum = charged.reduce((total, { amount }) => total + amount, 0n)
  await Promise.all([
    store.insertEntries(sql, companyId, charged),
    store.addBalance(sql, companyId, -sum),
    store.addSpent(sql, companyId, charged[0]!.month, sum),
  ])
}

/** Money that came in, by staff. Returns the balance after it. */
export function topUp(
  pool: Pool,
  companyId: number,
  { amount, note }: { amount: Money; note?: string },
  { billingZone, now }: { billingZone: string; now: Date },
): Promise<Money> {
  if (amount <= 0n) throw new UsageError('The amount of a top-up must be more than nothing.')
  const month = monthOf(now, billingZone)
  return pool.begin(async sql => {
    const { balance, currency } = await lockAccount(sql, companyId, month)
    await store.insertEntries(sql, companyId, [{ kind: 'TOPUP', amount, currency, month, note: note ?? null }])
    await store.addBalance(sql, companyId, amount)
    return balance + amount
  }) as Promise<Money>
}

/** The account as it stands now, without a lock: to be shown. */
export async function accountOf(sql: Sql, companyId: number, month: string): Promise<Account> {
  const [account] = await store.selectAccount(sql, companyId, month)
  if (!account) throw notFound('Company')
  return account
}

/** For staff: every company's account, with what it spent in the month. */
export const listAccounts = (sql: Sql, month: string): Promise<(Account & { companyId: number })[]> =>
  store.selectAccounts(sql, month)

/** The accounts of several companies, with what each spent in the month. */
export const accountsOf = (
  sql: Sql,
  companyIds: number[],
  month: string,
): Promise<(Account & { companyId: number })[]> => store.selectAccountsOf(sql, companyIds, month)

/** Changes how a company pays. What is reserved stays: only new reservations are measured by it. */
export async function setBilling(sql: Sql, companyId: number, billing: BillingMode): Promise<void> {
  const { count } = await store.updateBilling(sql, companyId, billing)
  if (count === 0) throw notFound('Company')
}
