import type { Money } from '../../base/money.ts'
import { insertPieces } from '../../db/insert-pieces.ts'
import { acrossCompanies, reachable } from '../../db/reachable.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
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

/** Companies that spent money in the month and have nothing left, of their budget and of their balance. */
export const countExhausted = (sql: Sql, month: string) =>
  acrossCompanies(
    sql,
    () => sql<{ budget: number; balance: number }[]>`
      select count(*) filter (where c.budget - m.spent - a.reserved <= 0)::int as budget,
        count(*) filter (where c.billing = 'PREPAID' and a.balance - a.reserved <= 0)::int as balance
      from account_months m
      join accounts a on a.company_id = m.company_id
      join companies c on c.company_id = m.company_id
      where m.month = ${month} and m.spent > 0
        ${reachable(sql, 'm.company_id')} ${reachable(sql, 'a.company_id')} ${reachable(sql, 'c.company_id')}`,
  )

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
export type EntryPlace = { day: string; at: Date; balance: () => Money | Promise<Money> }

/** Writes entries, and adds them to the lines of the day that have the same cause. */
export async function insertEntries(sql: Transaction, companyId: number, entries: Entry[], place: EntryPlace) {
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
  const added = await insertPieces(
    sql,
    rows,
    (sql, piece) => sql<{ entryId: number }[]>`insert into ledger_entries ${sql(piece)} returning entry_id`,
  )
  await addToLines(
    sql,
    companyId,
    place,
    entries,
    added.map(({ entryId }) => entryId),
  )
}

async function addToLines(
  sql: Transaction,
  companyId: number,
  place: EntryPlace,
  entries: Entry[],
  entryIds: number[],
) {
  const { day, at } = place
  const balance = await place.balance()
  const numbered = entries.map((entry, i) => ({ ...entry, entryId: entryIds[i]! }))
  const lines = [...Map.groupBy(numbered, causeOf).values()].map(same => ({
    company_id: companyId,
    day,
    month: same[0]!.month,
    kind: same[0]!.kind,
    dispatch_id: same[0]!.dispatchId ?? null,
    sender_id: same[0]!.senderId ?? null,
    tariff_id: same[0]!.tariffId ?? null,
    amount: sql.typed.money(same.reduce((sum, { amount }) => sum + amount, 0n)) as never,
    messages: same.reduce((sum, { messages }) => sum + (messages ?? 0), 0),
    entries: same.length,
    first_entry_id: same[0]!.entryId,
    last_entry_id: same.at(-1)!.entryId,
    first_at: at,
    last_at: at,
    balance: sql.typed.money(balance) as never,
    note: same.find(({ note }) => note)?.note ?? null,
  }))
  return insertPieces(
    sql,
    lines,
    (sql, piece) => sql`
      insert into ledger_lines ${sql(piece)}
      on conflict (company_id, day, month, kind, dispatch_id, sender_id, tariff_id) where kind not in ('TOPUP', 'CORRECTION')
      do update set
        amount = ledger_lines.amount + excluded.amount, messages = ledger_lines.messages + excluded.messages,
        entries = ledger_lines.entries + excluded.entries, last_entry_id = excluded.last_entry_id, last_at = excluded.last_at,
        balance = excluded.balance`,
  )
}

const causeOf = ({ month, kind, dispatchId, senderId, tariffId }: Entry) =>
  JSON.stringify([month, kind, dispatchId ?? null, senderId ?? null, tariffId ?? null])

export function addShares(sql: Transaction, companyId: number, day: string, shares: ChargeShare[]) {
  const rows = shares.map(share => ({
    company_id: companyId,
    day,
    month: share.month,
    kind: share.kind,
    channel_type: share.channelType,
    brand_id: share.brandId,
    tariff_id: share.tariffId,
    messages: share.messages,
    parts: share.parts,
    amount: sql.typed.money(share.amount) as never,
  }))
  return insertPieces(
    sql,
    rows,
    (sql, piece) => sql`
      insert into charge_days ${sql(piece)}
      on conflict (company_id, day, month, kind, channel_type, brand_id, tariff_id) do update set
        messages = charge_days.messages + excluded.messages, parts = charge_days.parts + excluded.parts, amount = charge_days.amount + excluded.amount`,
  )
}
