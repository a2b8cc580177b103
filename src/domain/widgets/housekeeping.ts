import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

const BATCH = 5000
const MOST_BATCHES = 100

/** Forgets sessions a day after their end, used captchas when they expired, and errors after a month. */
export async function forgetOldSessions(sql: Sql): Promise<void> {
  for (const deleteOld of [store.deleteOldSessions, store.deleteOldUses, store.deleteOldErrors]) {
    let batches = 0
    while ((await deleteOld(sql, BATCH)).count === BATCH && ++batches < MOST_BATCHES);
  }
}
