import type { Pool } from '../../db/sql.ts'
import * as store from './store.ts'

export type Difference = store.Difference

/**
 * Computes every stored sum again, from the messages (for detached months: from their closing sums) and the entries,
 * and returns the differences. All statements read one snapshot, so the check may run while the service works. The
 * database reads the messages once and sums them by block of a dispatch; only the differences leave the database.
 */
export async function verifyLedger(pool: Pool, { companyId }: { companyId?: number } = {}): Promise<Difference[]> {
  return pool.begin('isolation level repeatable read', async sql => {
    await store.preventDetaching(sql)
    await store.sumMessages(sql, companyId)
    const differences: Difference[] = []
    for (const check of store.checks) differences.push(...(await check(sql, companyId)))
    return differences
  })
}
