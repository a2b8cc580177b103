import { comparableNumber } from '../../base/phone/same-number.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import { byCompany } from '../../db/by-company.ts'
import { ignoreNodeAway } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import { type ProviderReceipt, type SubmittedMessage, submissionTo } from './receipt.ts'
import { cleanReceipts, type StatusReport } from './status-report.ts'
import * as store from './store.ts'

export { claimReceiptInbox, deleteFromReceiptInbox, makeUnreadReceiptsDue } from './store.ts'

export type MatchedReceipt = { companyId: number; statusReport: StatusReport }
type MatchedFrom<R> = MatchedReceipt & { receipt: R }

/**
 * Finds the messages of receipts. A message with several parts is DELIVERED when all parts are delivered, and FAILED when
 * one part failed. A receipt for one of several parts is stored. Receipts that match no submission are returned as
 * `unmatched`: their submission may not be committed yet.
 */
export async function matchReceipts<R extends ProviderReceipt>(sql: Sql, gatewayId: number, given: R[]) {
  const receipts = cleanReceipts(given)
  const byNumber = await submissionsByNumber(sql, gatewayId, receipts.filter(hasNumber))
  const named = receipts.filter(receipt => !hasNumber(receipt))
  const byId = await submissionsOf(sql, gatewayId, new Set(named.map(({ providerId }) => providerId)))
  const byOwnId = await unansweredOf(
    sql,
    gatewayId,
    named.filter(({ providerId }) => !byId.has(providerId)),
  )
  const matched: MatchedFrom<R>[] = []
  const parts: PartReceipt<R>[] = []
  const unmatched: R[] = []
  for (const receipt of receipts) {
    const submission = hasNumber(receipt)
      ? byNumber.get(receipt)
      : (byId.get(receipt.providerId) ?? byOwnId.get(receipt.ownId ?? ''))
    if (!submission) unmatched.push(withoutDelay(receipt))
    else if (receipt.unsure && receipt.unsure.unless !== submission.uuid) unmatched.push(receipt)
    else if (submission.parts === 1) matched.push(matchOf(gatewayId, submission, receipt))
    else parts.push({ receipt, ...submission, status: receipt.status === 'FAILED' ? 'FAILED' : 'DELIVERED' })
  }
  if (parts.length > 0) matched.push(...(await endOfParts(sql, gatewayId, parts)))
  return { matched, unmatched }
}

/** The receipt matches no message yet. It waits only for the submission to be recorded, so it is matched again soon. */
function withoutDelay<R extends ProviderReceipt>(receipt: R): R {
  if (!receipt.unsure) return receipt
  const { unsure: _, ...rest } = receipt
  return rest as R
}

const hasNumber = ({ subscriber }: ProviderReceipt) => comparableNumber(subscriber ?? undefined) !== undefined

/** The submissions of receipts that name a destination. */
async function submissionsByNumber(sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) {
  const chosen = new Map<ProviderReceipt, store.Submission>()
  const ids = [...new Set(receipts.map(({ providerId }) => providerId))]
  const found = ids.length > 0 ? await store.selectSubmissions(sql, gatewayId, ids) : []
  if (found.length === 0) return chosen
  const messages = await addresseesOf(sql, found)
  const byId = Map.groupBy(found, ({ providerId }) => providerId)
  for (const receipt of receipts) {
    const submission = submissionTo(receipt, byId.get(receipt.providerId) ?? [], messages)
    if (submission) chosen.set(receipt, submission)
  }
  return chosen
}

/** The longest time until an operator responds to a submission, and the largest difference of our clocks. */
const MOST_ANSWER_MS = 310_000
const MOST_CLOCK_ERROR_MS = 10_000

/** A message is submitted after its acceptance, and at most `MOST_ANSWER_MS` before its time of sending. */
async function addresseesOf(sql: Sql, submissions: store.Submission[]): Promise<Map<string, SubmittedMessage>> {
  const rows = await ofCompanies(submissions, (companyId, uuids) =>
    store.selectSubmittedMessages(sql, companyId, uuids),
  )
  return new Map(
    rows.map(({ uuid, destination, isOpen, sentAt }) => {
      const accepted = timeOfUuid7(uuid).getTime() - MOST_CLOCK_ERROR_MS
      const answered = sentAt ? sentAt.getTime() - MOST_ANSWER_MS : accepted
      return [uuid, { destination, isOpen, since: new Date(Math.max(accepted, answered)) }]
    }),
  )
}

/** Rows of the messages, without messages of a company whose node is away: their receipts match nothing now, and wait. */
const ofCompanies = <Row>(
  submissions: store.Submission[],
  read: (companyId: number, uuids: string[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> =>
  byCompany(submissions, async (companyId, own) => {
    const uuids = [...new Set(own.map(({ uuid }) => uuid))]
    return Promise.resolve(read(companyId, uuids)).catch(error => ignoreNodeAway(error) ?? [])
  })

/** Operators use ids again. Of several submissions with one id, the newest whose message is not final counts. */
async function submissionsOf(sql: Sql, gatewayId: number, providerIds: Set<string>) {
  const found = await store.selectSubmissions(sql, gatewayId, [...providerIds])
  const byId = new Map(found.map(submission => [submission.providerId, submission]))
  if (byId.size === found.length) return byId
  const rows = await ofCompanies(found, (companyId, uuids) => store.selectOpen(sql, companyId, uuids))
  const open = new Set(rows.map(({ uuid }) => uuid))
  for (const submission of found) if (open.has(submission.uuid)) byId.set(submission.providerId, submission)
  return byId
}

/** A receipt with an unknown id may belong to a submission without a response, which is stored under our own id. */
async function unansweredOf(sql: Sql, gatewayId: number, unknown: ProviderReceipt[]) {
  const ownIds = new Set(unknown.flatMap(({ ownId }) => ownId ?? []))
  return ownIds.size === 0 ? new Map<string, store.Submission>() : submissionsOf(sql, gatewayId, ownIds)
}

const matchOf = <R extends ReceiptFields>(
  gatewayId: number,
  { companyId, uuid }: { companyId: number; uuid: string },
  receipt: R,
): MatchedFrom<R> => ({ companyId, statusReport: statusReportOf(gatewayId, uuid, receipt), receipt })

type ReceiptFields = Pick<ProviderReceipt, 'status' | 'happenedAt'> & {
  errorCode?: number | null | undefined
  operatorError?: string | null | undefined
}

/** The status report that a receipt of a gateway makes about a message. */
export function statusReportOf(gatewayId: number, uuid: string, receipt: ReceiptFields): StatusReport {
  const { status, happenedAt: at, errorCode, operatorError } = receipt
  if (status === 'READ') return { uuid, final: { status: 'DELIVERED', at, gatewayId }, read: { at } }
  const final: StatusReport['final'] = { status, at, gatewayId }
  if (errorCode) final.errorCode = errorCode
  if (operatorError) final.operatorError = operatorError
  return { uuid, final }
}

/** A receipt for one of several parts. */
type PartReceipt<R> = store.Submission & { status: 'DELIVERED' | 'FAILED'; receipt: R }

async function endOfParts<R extends ProviderReceipt>(sql: Sql, gatewayId: number, parts: PartReceipt<R>[]) {
  await store.setPartStatuses(sql, gatewayId, parts)
  const ends = await store.selectEnds(sql, parts)
  return ends.flatMap(end => {
    // No part: an earlier receipt made the message final, and this receipt is about another part.
    const source = parts.find(part => part.uuid === end.uuid && part.status === end.status)
    if (!source) return []
    const { receipt, status } = source
    return { ...matchOf(gatewayId, end, { ...receipt, status }), receipt }
  })
}

/** The parts that an operator accepted in earlier attempts: the operator's ids by message and part. */
export async function acceptedParts(
  sql: Sql,
  of: { companyId: number; gatewayId: number; uuids: string[] },
): Promise<Map<string, Record<number, string>>> {
  const taken = new Map<string, Record<number, string>>()
  for (const { uuid, part, providerId } of await store.selectAcceptedParts(sql, of)) {
    taken.set(uuid, { ...taken.get(uuid), [part]: providerId })
  }
  return taken
}

/** The destinations of messages, by the operator's ids. */
export async function destinationsByProviderId(
  sql: Sql,
  gatewayId: number,
  providerIds: string[],
): Promise<Map<string, string[]>> {
  const found = providerIds.length > 0 ? await store.selectSubmissions(sql, gatewayId, providerIds) : []
  if (found.length === 0) return new Map()
  const messages = await addresseesOf(sql, found)
  const byId = Map.groupBy(found, ({ providerId }) => providerId)
  return new Map(
    [...byId].map(([id, submissions]) => [
      id,
      submissions.flatMap(({ uuid }) => messages.get(uuid)?.destination ?? []),
    ]),
  )
}

/** The newest receipts with ambiguous ids that arrived before a time. The newest is last. */
export async function unreadReceipts(sql: Sql, gatewayId: number, before: Date, limit: number) {
  return (await store.selectUnread(sql, gatewayId, before, limit)).reverse()
}

/** Stores receipts that match no submission yet in the receipt inbox. */
export const addToReceiptInbox = (sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) =>
  store.insertInbox(sql, gatewayId, cleanReceipts(receipts))

const OLD_AT_ONCE = 1000
const MOST_OLD_BATCHES = 1000

/** Deletes in batches, so that no statement takes long. The next call deletes the rest. */
export async function forgetOldReceipts(sql: Sql): Promise<void> {
  let batches = 0
  while ((await store.deleteOldInbox(sql, OLD_AT_ONCE)).count === OLD_AT_ONCE && ++batches < MOST_OLD_BATCHES);
}

/** Submissions are partitioned by day. Creates the next days and drops days that are older than every lifetime. */
export async function rotateSubmissionDays(sql: Sql): Promise<void> {
  await store.ensureDays(sql)
  await store.dropOldDays(sql)
}
