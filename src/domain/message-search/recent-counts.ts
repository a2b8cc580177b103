import type { Pool } from '../../db/sql.ts'
import { recentOf, within } from './box-search.ts'
import * as boxStore from './box-store.ts'

/** How many messages of the last day there are. `isLeast`: there are more than were read. */
export type RecentCounts = { all: number; failed: number; waiting: number; isLeast: boolean }

/** Reading so many takes some 10 ms, whatever a company sends. */
const MOST_READ = 5000
const TIMEOUT_MS = 1000

/** Undefined when counting takes too long: the page does not wait for figures beside a tab. */
export async function countRecent(
  pool: Pool,
  companyIds: number[],
  now: Date,
  most = MOST_READ,
): Promise<RecentCounts | undefined> {
  const question = { companyIds, bounds: recentOf(now), most: most + 1 }
  const rows = await within(pool, 'narrow', companyIds, TIMEOUT_MS, sql => boxStore.countStatuses(sql, question))
  if (!rows) return undefined
  const { all, failed, waiting } = rows[0]!
  return { all: Math.min(all, most), failed, waiting, isLeast: all > most }
}
