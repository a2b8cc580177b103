import type { Logger } from 'pino'
import type { Feed, Inbound, LateAnswer, Receipt } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import { takeInbound } from '../../domain/inbound/inbound.ts'
import type { Numbering } from '../../domain/numbering/numbering.ts'
import type { ProviderReceipt } from '../../domain/receipts/receipt.ts'
import {
  dropKeptReceipts,
  keepReceipts,
  type MatchedReceipt,
  matchReceipts,
  statusReportOf,
  takeKeptReceipts,
} from '../../domain/receipts/receipts.ts'
import { removeAddress } from '../../domain/subscribers/subscribers.ts'
import type { Recorder } from '../recording/recorder.ts'
import { unlessSetAside } from '../recording/set-aside.ts'
import { readable, recallReceiptIds } from './receipt-ids.ts'

export type FeedContext = {
  sql: Pool
  log: Logger
  recorder: Pick<Recorder, 'note'>
  clock?: () => Date
  /** Words by which a subscriber asks for nothing more; unless told, `STOP_WORDS`. */
  stopWords?: readonly string[]
  /** Whose numbers those are who write; unless told, callbacks do not say it. */
  numbering?: () => Numbering
}

const KEPT_AT_ONCE = 1000

/** Takes what a gateway reports. It may be acknowledged when the promise resolves: then it is committed. */
export function feedOf(context: FeedContext, gatewayId: number): Feed {
  return {
    async receipts(batch) {
      const own = batch.filter(receipt => 'uuid' in receipt.of)
      const theirs = batch.filter(receipt => 'providerId' in receipt.of).map(byProviderId)
      const noted = [
        noteAll(
          context.recorder,
          own.map(receipt => byOwnId(gatewayId, receipt)),
        ),
      ]
      if (theirs.length > 0) noted.push(takeTheirs(context, gatewayId, theirs))
      await Promise.all(noted)
    },
    inbound: message => takeAndTell(context, gatewayId, message),
    late: answer => noteLate(context, gatewayId, answer),
    gone: address => removeAddress(context.sql, gatewayId, address),
    ...(context.clock ? { now: context.clock } : {}),
  }
}

/** The message counts as sent already: only its id is new. The receipt that names it may be kept already, and finds it. */
async function noteLate({ recorder }: FeedContext, gatewayId: number, answer: LateAnswer) {
  const { companyId, uuid, part, parts, providerId } = answer
  const providerIds = Array.from({ length: parts }, (_, place) => (place === part ? providerId : undefined))
  await recorder.note(companyId, { uuid, ids: { gatewayId, providerIds } }).catch(unlessSetAside)
}

async function takeAndTell({ sql, log, stopWords, numbering }: FeedContext, gatewayId: number, message: Inbound) {
  const { kind, ...more } = await takeInbound(sql, gatewayId, message, stopWords, numbering?.())
  log.info({ gatewayId, to: message.to, from: message.from.slice(-4), outcome: kind, ...more }, 'inbound.taken')
}

function byOwnId(gatewayId: number, receipt: Receipt): MatchedReceipt {
  const { companyId, uuid } = receipt.of as { companyId: number; uuid: string }
  return { companyId, statusReport: statusReportOf(gatewayId, uuid, receipt) }
}

/** One that can never be written must not bring its neighbours back again and again. */
async function noteAll(recorder: Pick<Recorder, 'note'>, matched: MatchedReceipt[]) {
  await Promise.all(
    matched.map(({ companyId, statusReport }) => recorder.note(companyId, statusReport).catch(unlessSetAside)),
  )
}

export const byProviderId = ({
  of,
  subscriber,
  unsure,
  status,
  happenedAt,
  errorCode,
  operatorError,
}: Receipt): ProviderReceipt => ({
  ...(of as { providerId: string; isUnread?: boolean }),
  subscriber: subscriber ?? null,
  ...(unsure ? { unsure } : {}),
  status,
  errorCode: errorCode ?? null,
  operatorError: operatorError ?? null,
  happenedAt,
})

async function takeTheirs({ sql, recorder }: FeedContext, gatewayId: number, receipts: ProviderReceipt[]) {
  const { unread = [], read = [] } = Object.groupBy(receipts, ({ isUnread }) => (isUnread ? 'unread' : 'read'))
  const { matched, unmatched } = await matchReceipts(sql, gatewayId, read)
  const kept = [...unread, ...unmatched]
  if (kept.length > 0) await keepReceipts(sql, gatewayId, kept)
  await noteAll(recorder, matched)
}

/**
 * Looks again at receipts that matched nothing when they came: their submission was not committed yet, or they came
 * in through a process that does not send.
 */
export async function lookAtKeptReceipts(context: KeptContext): Promise<void> {
  let looked = 0
  do looked = await lookAtSome(context)
  while (looked === KEPT_AT_ONCE)
}

type KeptContext = Pick<FeedContext, 'sql' | 'recorder'> & {
  /** Told of receipts that found their messages. */
  onMatched?: (gatewayId: number, receipts: Pick<Receipt, 'of' | 'status'>[]) => void
}

async function lookAtSome({ sql, recorder, onMatched }: KeptContext): Promise<number> {
  const kept = await takeKeptReceipts(sql, KEPT_AT_ONCE)
  for (const [gatewayId, receipts] of Map.groupBy(kept, ({ gatewayId }) => gatewayId)) {
    const read = await readAll(sql, gatewayId, receipts)
    const { matched, unmatched } = await matchReceipts(sql, gatewayId, read)
    await noteAll(recorder, matched)
    const waiting = new Set<ProviderReceipt>(unmatched)
    const done = read.filter(receipt => !waiting.has(receipt))
    const ids = done.map(({ receiptId }) => receiptId)
    if (ids.length > 0) await dropKeptReceipts(sql, ids)
    onMatched?.(
      gatewayId,
      done.map(({ providerId, status }) => ({ of: { providerId }, status })),
    )
  }
  return kept.length
}

/** Those whose ids can be read by now. */
async function readAll<R extends ProviderReceipt>(sql: Pool, gatewayId: number, receipts: R[]): Promise<R[]> {
  const learnt = receipts.some(({ isUnread }) => isUnread) ? await recallReceiptIds(sql, gatewayId) : undefined
  return receipts.flatMap(receipt => readable(receipt, learnt) ?? [])
}
