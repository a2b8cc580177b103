import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

export { STOP_WORDS } from '../../base/stop-words.ts'

export async function addToBlacklist(sql: Sql, companyId: number, msisdn: string, comment: string | undefined) {
  await store.upsertEntry(sql, companyId, msisdn, comment ?? null)
}

/** Says whether the number was on it. */
export async function removeFromBlacklist(sql: Sql, companyId: number, msisdn: string): Promise<boolean> {
  const { count } = await store.deleteEntry(sql, companyId, msisdn)
  return count > 0
}

export type BlacklistEntry = { msisdn: string; comment: string | null; createdAt: Date }

/** The newest entries of a company's blacklist, and how many there are in all. */
export async function listBlacklist(
  sql: Sql,
  companyId: number,
  limit: number,
): Promise<{ total: number; items: BlacklistEntry[] }> {
  const [[count], items] = await Promise.all([
    store.countEntries(sql, companyId),
    store.selectNewest(sql, companyId, limit),
  ])
  return { total: count!.total, items }
}

/** Which of these numbers are on the company's blacklist. Most companies have none: that costs one small question. */
export async function blacklistedAmong(sql: Sql, companyId: number, numbers: string[]): Promise<Set<string>> {
  const [any] = await store.selectAnyEntry(sql, companyId)
  if (!any) return new Set()
  const rows = await store.selectEntries(sql, companyId, numbers)
  return new Set(rows.map(row => row.msisdn))
}

/** Whether a text is nothing but a wish to get no more. Words are given in capitals. */
export const isStopWord = (text: string, stopWords: readonly string[]) => stopWords.includes(text.trim().toUpperCase())

/** Who wants nothing more, by number (in digits, country code first), by the chat it was written from, or by both; from which
 * name, and whether that is one of the gateway's own, which only its owners send under. */
export type Stop = { from?: string | undefined; chat?: string | undefined; to: string; isOwned: boolean }

/**
 * A subscriber wants nothing more from whoever writes under this name in the gateway's channel. A name that several
 * companies have stands for all of them: the subscriber cannot tell them apart. So do the companies that the gateway
 * lists for a name of its own; a company that may not use that name is none of them. A chat stands, for each company, for
 * the numbers that it uploaded for it. Returns those companies.
 */
export async function addStop(sql: Sql, gatewayId: number, { from, chat, to, isOwned }: Stop): Promise<number[]> {
  const stopped = [
    ...(from === undefined ? [] : await store.insertStop(sql, gatewayId, { to, isOwned }, from)),
    ...(chat === undefined ? [] : await store.insertStopOfChat(sql, gatewayId, { to, isOwned }, chat)),
  ]
  return [...new Set(stopped.map(({ companyId }) => companyId))]
}
