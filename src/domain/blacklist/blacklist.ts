import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

export async function addToBlacklist(sql: Sql, companyId: number, msisdn: string, comment: string | undefined) {
  await store.upsertEntry(sql, companyId, msisdn, comment ?? null)
}

export async function removeFromBlacklist(sql: Sql, companyId: number, msisdn: string) {
  await store.deleteEntry(sql, companyId, msisdn)
}

/** Which of these numbers are on the company's blacklist. Most companies have none: that costs one small question. */
export async function blacklistedAmong(sql: Sql, companyId: number, numbers: string[]): Promise<Set<string>> {
  const [any] = await store.selectAnyEntry(sql, companyId)
  if (!any) return new Set()
  const rows = await store.selectEntries(sql, companyId, numbers)
  return new Set(rows.map(row => row.msisdn))
}
