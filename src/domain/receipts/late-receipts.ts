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
    const { status, errorCode = null, operatorError = null, gatewayId = null } = final
    return { uuid, status, errorCode, operatorError, gatewayId }
  })
  if (late.length > 0) await store.insertLateReceipts(sql, companyId, late, now)
}

export const lateReceiptsOf = (sql: Sql, companyId: number, uuid: string) =>
  store.selectLateReceipts(sql, companyId, uuid)

const MOST_COUNTED = 1000
const MOST_SHOWN = 10

/** Late receipts that came through a gateway within a day: how many (with `isMore`, more than so many), and the newest. */
export async function lateReceiptsOfGateway(sql: Sql, gatewayId: number) {
  const [[row], newest] = await Promise.all([
    store.countOfGateway(sql, gatewayId, MOST_COUNTED + 1),
    store.selectNewestOfGateway(sql, gatewayId, MOST_SHOWN),
  ])
  return { count: Math.min(row!.count, MOST_COUNTED), isMore: row!.count > MOST_COUNTED, newest: [...newest] }
}

const OLD_AT_ONCE = 1000
const MOST_OLD_BATCHES = 1000

/** In batches, so that no statement is long; what is left is for the next time. */
export async function forgetOldLateReceipts(sql: Sql): Promise<void> {
  let batches = 0
  while ((await store.deleteOldLateReceipts(sql, OLD_AT_ONCE)).count === OLD_AT_ONCE && ++batches < MOST_OLD_BATCHES);
}
