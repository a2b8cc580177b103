import type { Sql } from '../../db/sql.ts'
import * as store from './late-receipt-store.ts'
import type { StatusReport } from './status-report.ts'

/** Keeps the receipts of messages that had ended before. They change neither the message nor its price. */
export async function keepLateReceipts(
  sql: Sql,
  companyId: number,
  reports: StatusReport[],
  ended: { uuid: string }[],
  now: Date,
): Promise<void> {
  const endedNow = new Set(ended.map(({ uuid }) => uuid))
  const late = reports.flatMap(({ uuid, final }) => {
    if (!final || endedNow.has(uuid)) return []
    const { status, errorCode = null, operatorError = null } = final
    return { uuid, status, errorCode, operatorError }
  })
  if (late.length > 0) await store.insertLateReceipts(sql, companyId, late, now)
}

export const lateReceiptsOf = (sql: Sql, companyId: number, uuid: string) =>
  store.selectLateReceipts(sql, companyId, uuid)

const OLD_AT_ONCE = 1000
const MOST_OLD_BATCHES = 1000

/** In batches, so that no statement is long; what is left is for the next time. */
export async function forgetOldLateReceipts(sql: Sql): Promise<void> {
  let batches = 0
  while ((await store.deleteOldLateReceipts(sql, OLD_AT_ONCE)).count === OLD_AT_ONCE && ++batches < MOST_OLD_BATCHES);
}
