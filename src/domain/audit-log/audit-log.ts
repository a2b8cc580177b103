import { invalid } from '../../base/errors.ts'
import { asPool } from '../../db/nested.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { type Actor, type Change, differenceOf } from './entry.ts'
import * as store from './store.ts'

export type { Filter, Place } from './store.ts'

export type Entry = store.StoredEntry & { companyName: string | null }

const MOST_AGENT = 300

/**
 * Writes the actor and the change, in the transaction of the change. If `before` and `after` are equal, nothing changed
 * and nothing is written.
 */
export async function recordChange(sql: Transaction, actor: Actor, change: Change): Promise<void> {
  const difference = differenceOf(change)
  if (difference.isEmpty) return
  const short = actor.kind === 'OPERATOR' ? actor : { ...actor, agent: actor.agent.slice(0, MOST_AGENT) }
  await store.ensureMonth(sql)
  await store.insertEntry(sql, short, { ...change, partnerId: await partnerOf(sql, change) }, difference)
}

/** The partner of the company of the subject, unless the change names a partner. */
async function partnerOf(sql: Transaction, { companyId, partnerId }: Change): Promise<number | null> {
  if (partnerId != null || companyId == null) return partnerId ?? null
  const [company] = await store.selectPartnerOf(sql, companyId)
  return company?.partnerId ?? null
}

/** Runs verbs that begin their own transactions, and writes the entries of their changes, in one transaction. */
export const changeTogether = <T>(pool: Pool, work: (tx: Transaction, within: Pool) => Promise<T>): Promise<T> =>
  pool.begin(tx => work(tx, asPool(tx)))

/** The newest first. `next`: the start of the next page. */
export async function listEntries(
  sql: Sql,
  filter: store.Filter,
  limit: number,
): Promise<{ entries: Entry[]; next: store.Place | undefined }> {
  const found = await store.selectEntries(sql, filter, limit + 1)
  const entries = await withCompanyNames(sql, found.slice(0, limit))
  return { entries, next: found.length > limit ? entries.at(-1) : undefined }
}

async function withCompanyNames(sql: Sql, entries: store.StoredEntry[]): Promise<Entry[]> {
  const companyIds = [...new Set(entries.flatMap(({ companyId }) => companyId ?? []))]
  const companies = companyIds.length > 0 ? await store.selectCompanyNames(sql, companyIds) : []
  const names = new Map<number | null, string>(companies.map(({ companyId, name }) => [companyId, name]))
  return entries.map(entry => ({ ...entry, companyName: names.get(entry.companyId) ?? null }))
}

const LEAST_KEPT_MONTHS = 12

/** Drops whole months before a day that is at least a year ago. Returns the months with their numbers of entries. */
export async function dropOldMonths(sql: Transaction, before: Date, now: Date) {
  const newest = new Date(now)
  newest.setUTCMonth(newest.getUTCMonth() - LEAST_KEPT_MONTHS)
  if (before > newest) throw invalid('entries of the last twelve months are kept')
  const end = before.toISOString().slice(0, 7)
  const months = (await store.selectMonths(sql)).map(({ month }) => month).filter(month => month < end)
  let entries = 0
  for (const month of months) entries += await store.dropMonth(sql, month)
  return { months, entries }
}
