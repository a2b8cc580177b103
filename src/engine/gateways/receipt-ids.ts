import { comparableNumber } from '../../base/phone/same-number.ts'
import { MOST_JUDGED, readingOf } from '../../channels/smpp/receipts/id-evidence.ts'
import {
  asCandidate,
  CANDIDATES,
  type LearntIds,
  namedBy,
  onlyReading,
  submittedId,
} from '../../channels/smpp/receipts/message-ids.ts'
import type { Sql } from '../../db/sql.ts'
import { answersOf, learntReceiptIds } from '../../domain/gateways/binds/receipt-ids.ts'
import type { ProviderReceipt } from '../../domain/receipts/receipt.ts'
import { destinationsByProviderId, unreadReceipts } from '../../domain/receipts/receipts.ts'

/** How the operator of a gateway writes ids in its receipts, if an engine has found out before. */
export async function knownReceiptIds(sql: Sql, gatewayId: number): Promise<LearntIds | undefined> {
  const learnt = await learntReceiptIds(sql, gatewayId)
  const relation = learnt && asCandidate(learnt.relation)
  return relation && { relation, byAddress: learnt.byAddress }
}

/**
 * Compares all unread receipts of a gateway with the submissions of all engines. It uses only receipts from the time for which
 * all answers are recorded. Returns undefined as long as the receipts allow several readings.
 */
export async function learnReceiptIds(sql: Sql, gatewayId: number): Promise<LearntIds | undefined> {
  const answers = await answersOf(sql, gatewayId)
  if (!answers) return undefined
  const receipts = await unreadReceipts(sql, gatewayId, answers.until, MOST_JUDGED)
  if (receipts.length === 0) return undefined
  const ids = new Set(receipts.flatMap(({ id }) => CANDIDATES.flatMap(relation => submittedId(id, relation) ?? [])))
  const destinations = await destinationsByProviderId(sql, gatewayId, [...ids])
  return readingOf({
    receipts: receipts.map(({ id, subscriber }) => ({ id, subscriber: subscriber ?? undefined })),
    destinationsOf: kept => destinations.get(kept) ?? [],
    unanswered: answers.unanswered,
  })
}

/** A stored receipt with an id that can be looked up. Returns undefined as long as the id has two possible readings. */
export function withReadId<R extends ProviderReceipt>(receipt: R, learnt: LearntIds | undefined): R | undefined {
  if (!receipt.isUnread) return receipt
  const { providerId: id, subscriber } = receipt
  if (learnt) {
    const named = namedBy(id, subscriber ?? undefined, learnt)
    return named && { ...receipt, isUnread: false, providerId: named.providerId, subscriber: named.subscriber ?? null }
  }
  const providerId = onlyReading(id)
  if (providerId === undefined || comparableNumber(subscriber ?? undefined) === undefined) return undefined
  return { ...receipt, isUnread: false, providerId }
}
