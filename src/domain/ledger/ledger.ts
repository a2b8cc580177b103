import { invalid, invalidField, notFound, UsageError } from '../../base/errors.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as accounts from '../accounts/accounts.ts'
import type { CompanyScope } from '../companies/company.ts'
import { lockCompanyRow } from '../companies/lock.ts'
import { type BillingMode, replaceTerms, type Terms, updateBilling } from '../companies/terms.ts'
import {
  type Account,
  type Billing,
  type ChargeShare,
  dayOf,
  type Entry,
  monthOf,
  refusalOfCorrection,
  refusalOfTopUp,
} from './account.ts'
import * as store from './store.ts'

export { accountsOf, listAccounts } from './store.ts'

/**
 * Locks the statuses of a company's messages for the rest of the transaction. Each transaction that changes the status of
 * messages, or that depends on the statuses, takes this lock first. The row of the company stands for them, because each
 * company has one. Foreign keys do not wait for this lock.
 *
 * An older program locks the account `for update` instead, so this waits for it, too.
 */
export async function lockStatuses(sql: Transaction, companyId: number): Promise<{ currency: string }> {
  const [[company]] = await Promise.all([
    lockCompanyRow(sql, companyId).execute(),
    accounts.shareAccountRow(sql, companyId).execute(),
  ])
  if (!company) throw notFound('Company')
  return company
}

/** For transactions that depend on the statuses and change money or lanes. */
export async function lockStatusesAndAccount(sql: Transaction, companyId: number, month: string): Promise<Account> {
  const [, account] = await Promise.all([lockStatuses(sql, companyId), lockAccount(sql, companyId, month)])
  return account
}

/**
 * Locks the company's account for the rest of the transaction. Each transaction that changes money takes this lock, before
 * it changes lanes. No other transaction changes the money of the company meanwhile, so sums are exact.
 *
 * A transaction that also locks the statuses does so before. Results change the statuses of their messages first and
 * lock the account only then, because accepting messages waits for this lock.
 *
 * One statement locks and the next one reads; both are sent together, and before any statement that the caller sends
 * without waiting for this function. A statement that waits for a lock sees other tables as they were before the wait, and
 * would miss the charges of that time.
 */
export async function lockAccount(sql: Transaction, companyId: number, month: string): Promise<Account> {
  const [, [account]] = await Promise.all([
    accounts.lockAccountRow(sql, companyId).execute(),
    store.selectAccount(sql, companyId, month).execute(),
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
  if (amount !== 0n) await accounts.addToAccount(sql, companyId, { reserved: amount })
}

type WithBalance = Pick<Account, 'balance'>

/** `shares` are the same amounts by channel, operator and tariff; `reserved` is the change of the reservation, if any. */
export type Charge = { entries: Entry[]; shares: ChargeShare[]; reserved?: Money }

/**
 * Charges the account: writes ledger entries and lines, reduces the balance, changes the reservation and raises the
 * spending of the month. The caller has asked for the lock of the account, and need not wait for it.
 */
export async function charge(
  sql: Transaction,
  companyId: number,
  account: WithBalance | Promise<WithBalance>,
  { entries, shares, reserved = 0n }: Charge,
  billing: Billing,
): Promise<void> {
  const charged = entries.filter(isCharged)
  if (charged.length === 0) return changeReserved(sql, companyId, reserved)
  const sum = charged.reduce((total, { amount }) => total + amount, 0n)
  const balanceAfter = async () => (await account).balance - sum
  await Promise.all([
    store.insertEntries(sql, companyId, charged, placeOf(billing, balanceAfter)),
    store.addShares(sql, companyId, dayOf(billing.now, billing.billingZone), shares.filter(isCharged)),
    accounts.addToAccount(sql, companyId, { balance: -sum, reserved }),
    accounts.addSpent(sql, companyId, charged[0]!.month, sum),
  ])
}

const isCharged = ({ amount }: { amount: Money }) => amount > 0n

const placeOf = ({ billingZone, now }: Billing, balance: store.EntryPlace['balance']): store.EntryPlace => ({
  day: dayOf(now, billingZone),
  at: now,
  balance,
})

type TopUp = { amount: Money; note?: string }

/** Money that came in, by staff. Returns the balance after it. */
export function topUp(pool: Pool, companyId: number, given: TopUp, billing: Billing): Promise<Money> {
  const refusal = refusalOfTopUp(given.amount)
  if (refusal) throw new UsageError(`The amount of a top-up ${refusal}.`)
  return pool.begin(sql => topUpWithin(sql, companyId, given, billing))
}

/** The same within a transaction of the caller's. */
export async function topUpWithin(
  sql: Transaction,
  companyId: number,
  { amount, note }: TopUp,
  billing: Billing,
): Promise<Money> {
  const month = monthOf(billing.now, billing.billingZone)
  const { balance, currency } = await lockAccount(sql, companyId, month)
  const entry: Entry = { kind: 'TOPUP', amount, currency, month, note: note ?? null }
  await store.insertEntries(
    sql,
    companyId,
    [entry],
    placeOf(billing, () => balance + amount),
  )
  await accounts.addToAccount(sql, companyId, { balance: amount })
  await accounts.addToppedUp(sql, companyId, month, amount)
  return balance + amount
}

/** A negative amount takes money off the balance. */
type Correction = { amount: Money; reason: string }

/**
 * Mends a balance that staff got wrong, such as by a top-up with a zero too many. The wrong entry stays in the books.
 * A prepaid company keeps at least what its messages hold. Returns the balance after it.
 */
export async function correctBalance(
  sql: Transaction,
  companyId: number,
  { amount, reason }: Correction,
  billing: Billing,
): Promise<Money> {
  const refusal = refusalOfCorrection(amount)
  if (refusal) throw invalidField('amount', refusal)
  const month = monthOf(billing.now, billing.billingZone)
  const account = await lockAccount(sql, companyId, month)
  const { balance, currency } = account
  refuseOverdraft(account, amount)
  const entry: Entry = { kind: 'CORRECTION', amount, currency, month, note: reason }
  await store.insertEntries(
    sql,
    companyId,
    [entry],
    placeOf(billing, () => balance + amount),
  )
  await accounts.addToAccount(sql, companyId, { balance: amount })
  await accounts.addCorrected(sql, companyId, month, amount)
  return balance + amount
}

function refuseOverdraft({ billing, balance, reserved, currency }: Account, amount: Money) {
  if (billing !== 'PREPAID' || amount > 0n || balance - reserved + amount >= 0n) return
  const free = balance > reserved ? balance - reserved : 0n
  throw invalid(`A correction of a prepaid balance can take at most the free amount: ${formatMoney(free)} ${currency}`)
}

/** The account as it stands now, without a lock: to be shown. */
export async function accountOf(sql: Sql, companyId: number, month: string): Promise<Account> {
  const [account] = await store.selectAccount(sql, companyId, month)
  if (!account) throw notFound('Company')
  return account
}

/** Changes the billing mode of a company. It applies to new reservations; existing ones stay. */
export async function setBilling(sql: Sql, companyId: number, billing: BillingMode): Promise<void> {
  await lockCompanyRow(sql, companyId)
  const { count } = await updateBilling(sql, companyId, billing)
  if (count === 0) throw notFound('Company')
}

/** Accounts of the companies that a person may look at, with what each spent in the month. */
export async function pageOfAccounts(
  sql: Sql,
  scope: CompanyScope,
  { search, month, page, perPage }: { search: string; month: string; page: number; perPage: number },
): Promise<{ total: number; items: store.CompanyAccount[] }> {
  const [[count], items] = await Promise.all([
    store.countAccountsWithin(sql, scope, search),
    store.selectAccountsWithin(sql, scope, { search, month, offset: (page - 1) * perPage, limit: perPage }),
  ])
  return { total: count!.total, items }
}

/** Refused when somebody else has changed the terms since `before` was read. */
export async function changeTerms(sql: Sql, companyId: number, before: Terms, after: Terms): Promise<void> {
  await lockCompanyRow(sql, companyId)
  const { count } = await replaceTerms(sql, companyId, before, after)
  if (count === 0) throw invalid('The budget or the way of paying was changed by somebody else meanwhile')
}
