import type { Logger } from 'pino'
import { isNodeAway } from '../../base/database-losses.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Feed, Inbound, LateAnswer, Receipt } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import { receiveInbound } from '../../domain/inbound/inbound.ts'
import type { Numbering } from '../../domain/numbering/numbering.ts'
import type { ProviderReceipt } from '../../domain/receipts/receipt.ts'
import {
  addToReceiptInbox,
  claimReceiptInbox,
  deleteFromReceiptInbox,
  type MatchedReceipt,
  matchReceipts,
  statusReportOf,
} from '../../domain/receipts/receipts.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import { removeAddress } from '../../domain/subscribers/subscribers.ts'
import { PendingReports } from '../recording/pending-reports.ts'
import type { Recorder } from '../recording/recorder.ts'
import { ignoreSetAside } from '../recording/set-aside.ts'
import { knownReceiptIds, withReadId } from './receipt-ids.ts'

export type FeedContext = {
  sql: Pool
  log: Logger
  recorder: Pick<Recorder, 'note' | 'noteSoonFor'>
  clock?: () => Date
  /** Texts by which a subscriber asks not to be written to again. The default is `STOP_WORDS`. */
  stopWords?: readonly string[]
  /** Finds the operator of a subscriber who wrote. Without it callbacks do not contain the operator. */
  numbering?: () => Numbering
  tracer?: Tracer | undefined
  submitCodes?: (() => void) | undefined
}

const KEPT_AT_ONCE = 1000

/**
 * Records the receipts and inbound messages of a gateway. When the promise resolves they are committed, and the channel may
 * acknowledge them to the operator.
 */
export function feedOf(context: FeedContext, gatewayId: number): Feed {
  return {
    async receipts(batch, refuse = refuseAll) {
      const byOurIds: Matched<Numbered>[] = []
      const byTheirIds: (ProviderReceipt & Numbered)[] = []
      for (const [index, receipt] of batch.entries()) {
        const { of } = receipt
        if ('uuid' in of) byOurIds.push(byOwnId(gatewayId, of, receipt, index))
        else byTheirIds.push(byProviderId({ ...receipt, index }))
      }
      const recording = [recordAll(context, byOurIds)]
      if (byTheirIds.length > 0) recording.push(matchAndRecord(context, gatewayId, byTheirIds))
      for (const left of await Promise.all(recording)) for (const { receipt } of left) refuse(receipt.index)
    },
    inbound: message => takeAndLog(context, gatewayId, message),
    late: answer => noteLate(context, gatewayId, answer),
    gone: address => removeAddress(context.sql, gatewayId, address),
    ...(context.clock ? { now: context.clock } : {}),
    ...(context.submitCodes ? { submitCodes: context.submitCodes } : {}),
  }
}

/** The message is already recorded as sent; only its id is new. A stored receipt with this id now finds its message. */
async function noteLate({ recorder }: FeedContext, gatewayId: number, answer: LateAnswer) {
  const { companyId, uuid, part, parts, providerId } = answer
  const providerIds = Array.from({ length: parts }, (_, place) => (place === part ? providerId : undefined))
  await recorder.note(companyId, { uuid, ids: { gatewayId, providerIds } }).catch(ignoreSetAside)
}

async function takeAndLog({ sql, log, stopWords, numbering }: FeedContext, gatewayId: number, message: Inbound) {
  const { kind, ...more } = await receiveInbound(sql, gatewayId, message, stopWords, numbering?.())
  log.info({ gatewayId, to: message.to, from: message.from.slice(-4), outcome: kind, ...more }, 'inbound.taken')
}

function refuseAll() {
  throw new Error('the node of a company is away, and its receipts cannot be stored')
}

type Numbered = { index: number }
type Matched<R> = MatchedReceipt & { receipt: R }

type OwnId = Extract<Receipt['of'], { uuid: string }>

const byOwnId = (gatewayId: number, of: OwnId, receipt: Receipt, index: number): Matched<Numbered> => ({
  companyId: of.companyId,
  statusReport: statusReportOf(gatewayId, of.uuid, receipt),
  receipt: { index },
})

type Recording = Pick<FeedContext, 'recorder' | 'tracer' | 'clock'>

/**
 * Returns the receipts that are not written, because the node of their company is away. They come again. A status report
 * that can never be written is ignored. Otherwise the operator would repeat it for ever.
 */
async function recordAll<R>({ recorder, tracer, clock = newDate }: Recording, matched: Matched<R>[]) {
  const startedAt = clock()
  const pending = new PendingReports()
  for (const { companyId, statusReport } of matched) recorder.noteSoonFor(pending, companyId, statusReport)
  await pending.ended()
  const { left = [], written = [] } = Object.groupBy(matched, one => (isLeft(pending, one) ? 'left' : 'written'))
  if (tracer) for (const { statusReport } of written) traceReceipt(tracer, statusReport, startedAt, clock())
  return left
}

function isLeft({ failures }: PendingReports, { statusReport: { uuid } }: MatchedReceipt): boolean {
  if (!failures.has(uuid)) return false
  const error = failures.get(uuid)
  if (isNodeAway(error)) return true
  ignoreSetAside(error)
  return false
}

const newDate = () => new Date()

/** From the arrival of the receipt until it is written. */
function traceReceipt(tracer: Tracer, { uuid, final }: StatusReport, startedAt: Date, endedAt: Date) {
  const attributes = { 'tidings.gateway_id': final?.gatewayId, 'tidings.status': final?.status }
  tracer.step(uuid, 'receipt', { startedAt, endedAt, attributes })
}

export function byProviderId<R extends Receipt>(receipt: R): ProviderReceipt & Omit<R, keyof Receipt> {
  const { of, subscriber, unsure, status, happenedAt, errorCode, operatorError, ...more } = receipt
  if (!('providerId' in of)) throw new Error(`The receipt names our own id ${of.uuid}, not the operator's`)
  return {
    ...more,
    ...of,
    subscriber: subscriber ?? null,
    ...(unsure ? { unsure } : {}),
    status,
    errorCode: errorCode ?? null,
    operatorError: operatorError ?? null,
    happenedAt,
  }
}

/** Receipts that match no message yet are stored, and matched again later. Returns the receipts that are not written. */
async function matchAndRecord(context: FeedContext, gatewayId: number, receipts: (ProviderReceipt & Numbered)[]) {
  const { sql } = context
  const { unread = [], read = [] } = Object.groupBy(receipts, ({ isUnread }) => (isUnread ? 'unread' : 'read'))
  const { matched, unmatched } = await matchReceipts(sql, gatewayId, read)
  const kept = [...unread, ...unmatched]
  if (kept.length > 0) await addToReceiptInbox(sql, gatewayId, kept)
  return recordAll(context, matched)
}

/**
 * Matches stored receipts again. They matched no message when they came, because the submission was not committed yet or
 * because a process without an engine took them.
 */
export async function matchReceiptInbox(context: KeptContext): Promise<void> {
  let taken = 0
  do taken = await matchSome(context)
  while (taken === KEPT_AT_ONCE)
}

type KeptContext = Recording & {
  sql: Pool
  /** Called with the receipts that matched a message. */
  onMatched?: (gatewayId: number, receipts: Pick<Receipt, 'of' | 'status'>[]) => void
}

async function matchSome(context: KeptContext): Promise<number> {
  const { sql, onMatched } = context
  const kept = await claimReceiptInbox(sql, KEPT_AT_ONCE)
  for (const [gatewayId, receipts] of Map.groupBy(kept, ({ gatewayId }) => gatewayId)) {
    const read = await readableOf(sql, gatewayId, receipts)
    const { matched, unmatched } = await matchReceipts(sql, gatewayId, read)
    const left = await recordAll(context, matched)
    const waiting = new Set([...unmatched, ...left.map(({ receipt }) => receipt)].map(({ receiptId }) => receiptId))
    const done = read.filter(({ receiptId }) => !waiting.has(receiptId))
    const ids = done.map(({ receiptId }) => receiptId)
    if (ids.length > 0) await deleteFromReceiptInbox(sql, ids)
    onMatched?.(
      gatewayId,
      done.map(({ providerId, status }) => ({ of: { providerId }, status })),
    )
  }
  return kept.length
}

/** The receipts whose ids can be read by now. */
async function readableOf<R extends ProviderReceipt>(sql: Pool, gatewayId: number, receipts: R[]): Promise<R[]> {
  const learnt = receipts.some(({ isUnread }) => isUnread) ? await knownReceiptIds(sql, gatewayId) : undefined
  return receipts.flatMap(receipt => withReadId(receipt, learnt) ?? [])
}
