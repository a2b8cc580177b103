import { comparableNumber } from '../../base/same-number.ts'
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
import { answersOf, learntReceiptIds } from '../../domain/gateways/receipt-ids.ts'
import type { ProviderReceipt } from '../../domain/receipts/receipt.ts'
import { destinationsByProviderId, unreadReceipts } from '../../domain/receipts/receipts.ts'

/** How a gateway's operator writes ids in its receipts, where an engine has found out. */
export async function recallReceiptIds(sql: Sql, gatewayId: number): Promise<LearntIds | undefined> {
  const learnt = await learntReceiptIds(sql, gatewayId)
  const relation = learnt && asCandidate(learnt.relation)
  return relation && { relation, byAddress: learnt.byAddress }
}

/**
 * Looks at the receipts of a gateway that could not be read, all together, beside what all engines submitted. Only those
 * count for which the answers are in. Gives nothing as long as they do not tell.
 */
export async function findOutReceiptIds(sql: Sql, gatewayId: number): Promise<LearntIds | undefined> {
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

/** A kept receipt as it can be looked up; nothing as long as its id could be read in two ways. */
export function readable<R extends ProviderReceipt>(receipt: R, learnt: LearntIds | undefined): R | undefined {
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
