import { sweep } from '../../db/by-company.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

const LIMITS = { batch: 5000, mostBatches: 100 }

/** Forgets sessions a day after their end, used captchas when they expired, and errors after a month. */
export async function forgetOldSessions(sql: Sql): Promise<void> {
  await sweep(
    limit => store.selectOldSessions(sql, limit),
    (companyId, old) =>
      store.deleteSessions(
        sql,
        companyId,
        old.map(({ keyHash }) => keyHash),
      ),
    LIMITS,
  )
  await sweep(
    limit => store.selectOldUses(sql, limit),
    (companyId, old) =>
      store.deleteUses(
        sql,
        companyId,
        old.map(({ useHash }) => useHash),
      ),
    LIMITS,
  )
  await sweep(
    limit => store.selectOldErrors(sql, limit),
    (companyId, old) =>
      store.deleteErrors(
        sql,
        companyId,
        old.map(({ errorId }) => errorId),
      ),
    LIMITS,
  )
}
