import { inPieces } from '../../db/in-pieces.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { StatusReport } from './status-report.ts'
import * as store from './submission-store.ts'

const KEPT_DAYS = 3
const TIMEOUT_MS = 1500
const QUERY_CANCELED = '57014'

/**
 * The operator's ids of the parts of a message. They are stored for three days; `gone` means that they are deleted. There is
 * no index for messages with one part, so the statement may read a whole day. `unread` means that this took too long.
 */
export async function submittedParts(
  pool: Pool,
  companyId: number,
  { uuid, sentAt, parts }: { uuid: string; sentAt: Date; parts: number },
  now: Date,
): Promise<store.PartOfMessage[] | 'gone' | 'unread'> {
  const oldest = new Date(now.getTime() - KEPT_DAYS * 24 * 3600_000)
  if (sentAt < oldest) return 'gone'
  try {
    return await pool.begin('read only', async sql => {
      await store.limitTime(sql, TIMEOUT_MS)
      return parts > 1 ? store.selectParts(sql, companyId, uuid) : store.selectOnlyPart(sql, companyId, uuid, sentAt)
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === QUERY_CANCELED) return 'unread'
    throw error
  }
}

/** Stores the operator's ids of submitted parts, so that receipts find their messages. */
export async function storeOperatorIds(sql: Sql, companyId: number, reports: StatusReport[], now: Date): Promise<void> {
  await inPieces(reports.flatMap(partsOf), some => store.insertSubmissions(sql, companyId, some, now))
}

function partsOf({ uuid, ids }: StatusReport): store.SubmittedPart[] {
  if (!ids) return []
  const { gatewayId, providerIds } = ids
  return providerIds.flatMap((providerId, part) =>
    providerId === undefined ? [] : { gatewayId, providerId, uuid, part, parts: providerIds.length },
  )
}
