import type { Sql } from '../../../db/sql.ts'
import type { LearntReceiptIds, OwnAnswers } from '../gateway.ts'
import * as store from './bind-store.ts'
import { BIND_LEASE_SECONDS } from './binds.ts'

export { forgetReceiptIds, saveReceiptIds } from './bind-store.ts'

/** The formats of ids in the receipts of gateways, as any engine learnt them. */
export async function allLearntReceiptIds(sql: Sql, gatewayIds: number[]): Promise<Map<number, LearntReceiptIds>> {
  const rows = gatewayIds.length === 0 ? [] : await store.selectReceiptIds(sql, gatewayIds)
  return new Map(rows.map(({ gatewayId, relation, byAddress }) => [gatewayId, { relation, byAddress }]))
}

export async function learntReceiptIds(sql: Sql, gatewayId: number): Promise<LearntReceiptIds | undefined> {
  return (await allLearntReceiptIds(sql, [gatewayId])).get(gatewayId)
}

export async function saveAnswers(sql: Sql, gatewayId: number, worker: string, answers: OwnAnswers): Promise<void> {
  await store.upsertAnswers(sql, gatewayId, worker, answers)
  await store.deleteOldAnswers(sql, gatewayId)
}

/**
 * The time until which all submissions of a gateway are answered, and the number of submissions that never get an answer.
 * Undefined if no engine has reported them.
 */
export async function answersOf(sql: Sql, gatewayId: number): Promise<{ until: Date; unanswered: number } | undefined> {
  const [row] = await store.selectAnswers(sql, gatewayId, BIND_LEASE_SECONDS)
  return row?.answeredUntil ? { until: row.answeredUntil, unanswered: row.unanswered } : undefined
}
