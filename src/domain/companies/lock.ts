import type { Sql } from '../../db/sql.ts'

/**
 * Locks the row of a company until the transaction ends. Each change of a company begins with this lock. Results take it, too
 * (`lockStatuses`). On Citus, an UPDATE that waits for them has already locked all companies of the shard, and they could
 * wait for that lock.
 */
export const lockCompanyRow = (sql: Sql, companyId: number) =>
  sql<{ currency: string }[]>`select currency from companies where company_id = ${companyId} for no key update`
