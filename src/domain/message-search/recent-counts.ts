import type { Pool } from '../../db/sql.ts'
import { recentKeys, runWithinLimits } from './box-search.ts'
import * as boxStore from './box-store.ts'

/** The numbers of messages of the last day. `isLeast`: there are more messages than were read. */
export type RecentCounts = { all: number; failed: number; waiting: number; isLeast: boolean }

/** Reading this many messages takes about 10 ms, for companies of any size. */
const MOST_READ = 5000
const TIMEOUT_MS = 1000

/** Undefined if counting takes too long: the page must not wait for the numbers on its tabs. */
export async function countRecent(
  pool: Pool,
  companyIds: number[],
  now: Date,
  most = MOST_READ,
): Promise<RecentCounts | undefined> {
  const question = { companyIds, bounds: recentKeys(now), most: most + 1 }
  const rows = await runWithinLimits(pool, 'narrow', companyIds, TIMEOUT_MS, sql =>
    boxStore.countStatuses(sql, question),
  )
  if (!rows) return undefined
  const { all, failed, waiting } = rows[0]!
  return { all: Math.min(all, most), failed, waiting, isLeast: all > most }
}
