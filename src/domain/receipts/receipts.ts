import { comparableNumber } from '../../base/phone/same-number.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import { type Addressee, type ProviderReceipt, submissionTo } from './receipt.ts'
import { cleanReceipts, type StatusReport } from './status-report.ts'
import * as store from './store.ts'

export type MatchedReceipt = { companyId: number; statusReport: StatusReport }

/**
 * Finds the messages that receipts speak of. A message of several parts is DELIVERED when all of them are and FAILED
 * when one is; a receipt for one part of several is noted and ends nothing yet. What matches no submission is given
 * back: its submission may not be committed yet.
 */
export async function matchReceipts(sql: Sql, gatewayId: number, told: ProviderReceipt[]) {
  const receipts = cleanReceipts(told)
  const byNumber = await submissionsByNumber(sql, gatewayId, receipts.filter(hasNumber))
  const named = receipts.filter(receipt => !hasNumber(receipt))
  const byId = await submissionsOf(sql, gatewayId, new Set(named.map(({ providerId }) => providerId)))
  const byOwnId = await unansweredOf(
    sql,
    gatewayId,
    named.filter(({ providerId }) => !byId.has(providerId)),
  )
  const matched: MatchedReceipt[] = []
  const parts: (ProviderReceipt & store.Submission)[] = []
  const unmatched: ProviderReceipt[] = []
  for (const receipt of receipts) {
    const submission = hasNumber(receipt)
      ? byNumber.get(receipt)
      : (byId.get(receipt.providerId) ?? byOwnId.get(receipt.ownId ?? ''))
    if (!submission) unmatched.push(withoutDelay(receipt))
    else if (receipt.unsure && receipt.unsure.unless !== submission.uuid) unmatched.push(receipt)
    else if (submission.parts === 1) matched.push(matchOf(gatewayId, submission, receipt))
    else parts.push({ ...receipt, ...submission, status: receipt.status === 'FAILED' ? 'FAILED' : 'DELIVERED' })
  }
  if (parts.length > 0) matched.push(...(await endOfParts(sql, gatewayId, parts)))
  return { matched, unmatched }
}

/** It names no message yet: it waits for the answer alone, and is looked up often. */
function withoutDelay(receipt: ProviderReceipt): ProviderReceipt {
  if (!receipt.unsure) return receipt
  const { unsure: _, ...rest } = receipt
  return rest
}

const hasNumber = ({ subscriber }: ProviderReceipt) => comparableNumber(subscriber ?? undefined) !== undefined

/** What receipts speak of that name a number as well. */
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

/** The longest that an operator may take to answer a submission, and more than clocks of ours differ. */
const MOST_ANSWER_MS = 310_000
const MOST_CLOCK_ERROR_MS = 10_000

/** A message was submitted after it was accepted, and not long before it was noted as sent. */
async function addresseesOf(sql: Sql, submissions: store.Submission[]): Promise<Map<string, Addressee>> {
  const rows = await store.selectAddressees(sql, submissions)
  return new Map(
    rows.map(({ uuid, destination, isOpen, sentAt }) => {
      const accepted = timeOfUuid7(uuid).getTime() - MOST_CLOCK_ERROR_MS
      const answered = sentAt ? sentAt.getTime() - MOST_ANSWER_MS : accepted
      return [uuid, { destination, isOpen, since: new Date(Math.max(accepted, answered)) }]
    }),
  )
}

/** Operators use their ids again: of several submissions under one id the newest counts that has no end yet. */
async function submissionsOf(sql: Sql, gatewayId: number, providerIds: Set<string>) {
  const found = await store.selectSubmissions(sql, gatewayId, [...providerIds])
  const byId = new Map(found.map(submission => [submission.providerId, submission]))
  if (byId.size === found.length) return byId
  const open = new Set((await store.selectOpen(sql, found)).map(({ uuid }) => uuid))
  for (const submission of found) if (open.has(submission.uuid)) byId.set(submission.providerId, submission)
  return byId
}

/** What nobody knows by the operator's id may have been submitted without an answer: then it was kept under our own. */
async function unansweredOf(sql: Sql, gatewayId: number, unknown: ProviderReceipt[]) {
  const ownIds = new Set(unknown.flatMap(({ ownId }) => ownId ?? []))
  return ownIds.size === 0 ? new Map<string, store.Submission>() : submissionsOf(sql, gatewayId, ownIds)
}

const matchOf = (
  gatewayId: number,
  { companyId, uuid }: { companyId: number; uuid: string },
  receipt: ReceiptWords,
): MatchedReceipt => ({ companyId, statusReport: statusReportOf(gatewayId, uuid, receipt) })

type ReceiptWords = Pick<ProviderReceipt, 'status' | 'happenedAt'> & {
  errorCode?: number | null | undefined
  operatorError?: string | null | undefined
}

/** What a receipt that came through a gateway says of a message. */
export function statusReportOf(gatewayId: number, uuid: string, receipt: ReceiptWords): StatusReport {
  const { status, happenedAt: at, errorCode, operatorError } = receipt
  const why = { ...(errorCode ? { errorCode } : {}), ...(operatorError ? { operatorError } : {}) }
  if (status === 'READ') return { uuid, final: { status: 'DELIVERED', at, gatewayId }, read: { at } }
  return { uuid, final: { status, at, gatewayId, ...why } }
}

async function endOfParts(sql: Sql, gatewayId: number, parts: (ProviderReceipt & store.Submission)[]) {
  await store.setPartStatuses(sql, gatewayId, parts)
  const ends = await store.selectEnds(sql, parts)
  return ends.flatMap(end => {
    // None: the end was told by an earlier receipt, and this is a late word about another part.
    const told = parts.find(part => part.uuid === end.uuid && part.status === end.status)
    return told ? matchOf(gatewayId, end, told) : []
  })
}

/** The parts of messages that an operator took at an earlier attempt, by message: its id of each by its place. */
export async function takenParts(
  sql: Sql,
  of: { companyId: number; gatewayId: number; uuids: string[] },
): Promise<Map<string, Record<number, string>>> {
  const taken = new Map<string, Record<number, string>>()
  for (const { uuid, part, providerId } of await store.selectTaken(sql, of)) {
    taken.set(uuid, { ...taken.get(uuid), [part]: providerId })
  }
  return taken
}

/** The numbers of messages by the ids under which an operator took them. */
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

/** The newest receipts whose ids could not be read when they came, of those that came before a time; the newest last. */
export async function unreadReceipts(sql: Sql, gatewayId: number, before: Date, limit: number) {
  return (await store.selectUnread(sql, gatewayId, before, limit)).reverse()
}

/** It is known now how to read them. */
export const wakeUnreadReceipts = (sql: Sql, gatewayId: number) => store.wakeUnread(sql, gatewayId)

/** Keeps receipts that match nothing yet, to be looked up again. */
export const keepReceipts = (sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) =>
  store.insertInbox(sql, gatewayId, cleanReceipts(receipts))

export const takeKeptReceipts = (sql: Sql, limit: number) => store.claimInbox(sql, limit)

export const dropKeptReceipts = (sql: Sql, receiptIds: number[]) => store.deleteInbox(sql, receiptIds)

const OLD_AT_ONCE = 1000
const MOST_OLD_BATCHES = 1000

/** In batches, so that no statement is long; what is left is for the next time. */
export async function forgetOldReceipts(sql: Sql): Promise<void> {
  let batches = 0
  while ((await store.deleteOldInbox(sql, OLD_AT_ONCE)).count === OLD_AT_ONCE && ++batches < MOST_OLD_BATCHES);
}

/** The operator's ids are kept by day: days to come are made, those past every lifetime are dropped. */
export async function turnSubmissionDays(sql: Sql): Promise<void> {
  await store.ensureDays(sql)
  await store.dropOldDays(sql)
}
