import type { Sql } from '../../db/sql.ts'
import type { ProviderReceipt } from './receipt.ts'
import * as store from './receipt-store.ts'

export type MatchedReceipt = {
  companyId: number
  uuid: string
  final: { status: 'DELIVERED' | 'FAILED'; at: Date; errorCode?: number }
}

/**
 * Finds the messages that receipts speak of. A message of several parts is DELIVERED when all of them are and FAILED
 * when one is; a receipt for one part of several is noted and ends nothing yet. What matches no submission is given
 * back: its submission may not be committed yet.
 */
export async function matchReceipts(sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) {
  const byId = await submissionsOf(sql, gatewayId, [...new Set(receipts.map(({ providerId }) => providerId))])
  const matched: MatchedReceipt[] = []
  const parts: (ProviderReceipt & store.Submission)[] = []
  const unmatched: ProviderReceipt[] = []
  for (const receipt of receipts) {
    const submission = byId.get(receipt.providerId)
    if (!submission) unmatched.push(receipt)
    else if (submission.parts === 1) matched.push(matchOf(submission, receipt))
    else parts.push({ ...receipt, ...submission })
  }
  if (parts.length > 0) matched.push(...(await endOfParts(sql, gatewayId, parts)))
  return { matched, unmatched }
}

/** Operators use their ids again: of several submissions under one id the newest counts that has no end yet. */
async function submissionsOf(sql: Sql, gatewayId: number, providerIds: string[]) {
  const found = await store.selectSubmissions(sql, gatewayId, providerIds)
  const byId = new Map(found.map(submission => [submission.providerId, submission]))
  if (byId.size === found.length) return byId
  const open = new Set((await store.selectOpen(sql, found)).map(({ uuid }) => uuid))
  for (const submission of found) if (open.has(submission.uuid)) byId.set(submission.providerId, submission)
  return byId
}

const matchOf = (
  { companyId, uuid }: { companyId: number; uuid: string },
  { status, happenedAt, errorCode }: Pick<ProviderReceipt, 'status' | 'happenedAt' | 'errorCode'>,
): MatchedReceipt => ({
  companyId,
  uuid,
  final: { status, at: happenedAt, ...(errorCode === null ? {} : { errorCode }) },
})

async function endOfParts(sql: Sql, gatewayId: number, parts: (ProviderReceipt & store.Submission)[]) {
  await store.setPartStatuses(sql, gatewayId, parts)
  const ends = await store.selectEnds(sql, parts)
  return ends.flatMap(end => {
    // None: the end was told by an earlier receipt, and this is a late word about another part.
    const told = parts.find(part => part.uuid === end.uuid && part.status === end.status)
    return told ? matchOf(end, told) : []
  })
}

/** Keeps receipts that match nothing yet, to be looked up again. */
export const keepReceipts = (sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) =>
  store.insertInbox(sql, gatewayId, receipts)

export const takeKeptReceipts = (sql: Sql, limit: number) => store.claimInbox(sql, limit)

export const dropKeptReceipts = (sql: Sql, receiptIds: number[]) => store.deleteInbox(sql, receiptIds)

export const forgetOldReceipts = (sql: Sql) => store.deleteOldInbox(sql)

/** The operator's ids are kept by day: days to come are made, those past every lifetime are dropped. */
export async function turnSubmissionDays(sql: Sql): Promise<void> {
  await store.ensureDays(sql)
  await store.dropOldDays(sql)
}
