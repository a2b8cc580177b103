import { byCompany, sweep } from '../../db/by-company.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './late-receipt-store.ts'
import type { StatusReport } from './status-report.ts'

export { lateReceiptsOf } from './late-receipt-store.ts'

/** Stores receipts of messages that were already final. They change neither the message nor its price. */
export async function storeLateReceipts(
  sql: Sql,
  companyId: number,
  reports: StatusReport[],
  ended: { uuid: string }[],
  now: Date,
): Promise<void> {
  if (ended.length === reports.length) return // each report has changed its message
  const endedNow = new Set(ended.map(({ uuid }) => uuid))
  const late = reports.flatMap(({ uuid, final }) => {
    if (!final || endedNow.has(uuid)) return []
    const { status, errorCode = null, operatorError = null, gatewayId = null } = final
    return { uuid, status, errorCode, operatorError, gatewayId }
  })
  if (late.length > 0) await store.insertLateReceipts(sql, companyId, late, now)
}

const MOST_COUNTED = 1000
const MOST_SHOWN = 10

/** The late receipts of a gateway within a day: their count, and the newest. `isMore`: the real count is higher. */
export async function lateReceiptsOfGateway(sql: Sql, gatewayId: number) {
  const [[row], newest] = await Promise.all([
    store.countOfGateway(sql, gatewayId, MOST_COUNTED + 1),
    store.selectNewestOfGateway(sql, gatewayId, MOST_SHOWN),
  ])
  const count = row?.count ?? 0
  return {
    count: Math.min(count, MOST_COUNTED),
    isMore: count > MOST_COUNTED,
    newest: await withDestinations(sql, newest),
  }
}

type Shown = Awaited<ReturnType<typeof store.selectNewestOfGateway>>[number]

/** The destination is null if the message is detached. */
async function withDestinations(sql: Sql, newest: readonly Shown[]) {
  const found = await byCompany<Shown, { uuid: string; destination: string }>(newest, (companyId, own) =>
    store.selectDestinations(
      sql,
      companyId,
      own.map(({ uuid }) => uuid),
    ),
  )
  const destinations = new Map(found.map(({ uuid, destination }) => [uuid, destination]))
  return newest.map(({ companyId: _, ...receipt }) => ({
    ...receipt,
    destination: destinations.get(receipt.uuid) ?? null,
  }))
}

const OLD_AT_ONCE = 1000
const MOST_OLD_BATCHES = 1000

/** Deletes in batches, so that no statement takes long. The next call deletes the rest. */
export async function forgetOldLateReceipts(sql: Sql): Promise<void> {
  await sweep(
    limit => store.selectOldLateReceipts(sql, limit),
    (companyId, old) => store.deleteLateReceipts(sql, companyId, old),
    { batch: OLD_AT_ONCE, mostBatches: MOST_OLD_BATCHES },
  )
}
