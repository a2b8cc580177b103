import type { Pool } from '../../db/sql.ts'
import * as store from './store.ts'

export type Difference = store.Difference

/**
 * Recomputes every sum that is kept, from the messages (of detached months, what they were closed into) and the
 * entries, and tells what differs. Everything is seen as it was at one moment, so it may run beside a working service.
 * The messages are read once, into sums per block of a dispatch; nothing is brought here but the differences.
 */
export async function verifyLedger(pool: Pool, { companyId }: { companyId?: number } = {}): Promise<Difference[]> {
  return pool.begin('isolation level repeatable read', async sql => {
    await store.holdMonths(sql)
    await store.sumMessages(sql, companyId)
    const differences: Difference[] = []
    for (const check of store.checks) differences.push(...(await check(sql, companyId)))
    return differences
  })
}
