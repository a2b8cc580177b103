import type { Logger } from 'pino'
import type { Feed, Inbound, Receipt } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import { addStop, isStopWord, STOP_WORDS } from '../domain/blacklist/blacklist.ts'
import type { ProviderReceipt } from '../domain/sending/receipt.ts'
import { dropKeptReceipts, keepReceipts, matchReceipts, takeKeptReceipts } from '../domain/sending/receipts.ts'
import type { Recorder } from './recorder.ts'

export type FeedContext = {
  sql: Pool
  log: Logger
  recorder: Recorder
  /** Words by which a subscriber asks for nothing more; unless told, `STOP_WORDS`. */
  stopWords?: readonly string[]
}

const KEPT_AT_ONCE = 1000

/** Takes what a gateway reports. It may be acknowledged when the promise resolves: then it is committed. */
export function feedOf(context: FeedContext, gatewayId: number): Feed {
  return {
    async receipts(batch) {
      const ends = batch.filter(({ status }) => status !== 'READ')
      const own = ends.filter(receipt => 'uuid' in receipt.of)
      const theirs = ends.filter(receipt => 'providerId' in receipt.of).map(byProviderId)
      const noted = new Set(own.map(receipt => noteOwn(context.recorder, receipt)))
      if (theirs.length > 0) noted.add(takeTheirs(context, gatewayId, theirs))
      await Promise.all(noted)
    },
    inbound: message => takeInbound(context, gatewayId, message),
    gone: async () => {},
  }
}

/** Of what subscribers write, only the wish for nothing more is heard so far. */
async function takeInbound({ sql, log, stopWords = STOP_WORDS }: FeedContext, gatewayId: number, message: Inbound) {
  const from = message.from.slice(-4)
  if (!isStopWord(message.text, stopWords)) return log.info({ gatewayId, to: message.to, from }, 'inbound.ignored')
  const companyIds = await addStop(sql, gatewayId, message)
  log.info({ gatewayId, to: message.to, from, companyIds }, 'inbound.stopped')
}

function noteOwn(recorder: Recorder, { of, status, happenedAt, errorCode }: Receipt) {
  const { companyId, uuid } = of as { companyId: number; uuid: string }
  const final = {
    status: status as 'DELIVERED' | 'FAILED',
    at: happenedAt,
    ...(errorCode === undefined ? {} : { errorCode }),
  }
  return recorder.note(companyId, { uuid, final })
}

const byProviderId = ({ of, status, happenedAt, errorCode }: Receipt): ProviderReceipt => ({
  providerId: (of as { providerId: string }).providerId,
  status: status as 'DELIVERED' | 'FAILED',
  errorCode: errorCode ?? null,
  happenedAt,
})

async function takeTheirs({ sql, recorder }: FeedContext, gatewayId: number, receipts: ProviderReceipt[]) {
  const { matched, unmatched } = await matchReceipts(sql, gatewayId, receipts)
  if (unmatched.length > 0) await keepReceipts(sql, gatewayId, unmatched)
  await Promise.all(new Set(matched.map(({ companyId, uuid, final }) => recorder.note(companyId, { uuid, final }))))
}

/**
 * Looks again at receipts that matched nothing when they came: their submission was not committed yet, or they came
 * in through a process that does not send.
 */
export async function lookAtKeptReceipts(context: Pick<FeedContext, 'sql' | 'recorder'>): Promise<void> {
  let looked = 0
  do looked = await lookAtSome(context)
  while (looked === KEPT_AT_ONCE)
}

async function lookAtSome({ sql, recorder }: Pick<FeedContext, 'sql' | 'recorder'>): Promise<number> {
  const kept = await takeKeptReceipts(sql, KEPT_AT_ONCE)
  for (const [gatewayId, receipts] of Map.groupBy(kept, ({ gatewayId }) => gatewayId)) {
    const { matched, unmatched } = await matchReceipts(sql, gatewayId, receipts)
    await Promise.all(new Set(matched.map(({ companyId, uuid, final }) => recorder.note(companyId, { uuid, final }))))
    const waiting = new Set<ProviderReceipt>(unmatched)
    const done = receipts.filter(receipt => !waiting.has(receipt)).map(({ receiptId }) => receiptId)
    if (done.length > 0) await dropKeptReceipts(sql, done)
  }
  return kept.length
}
