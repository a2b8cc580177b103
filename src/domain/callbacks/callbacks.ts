import { notFound } from '../../base/errors.ts'
import { piecesOf } from '../../base/pieces.ts'
import { byCompany, sweep } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import {
  type BatchResult,
  type CallbackApi,
  type CallbackBatch,
  LIFETIME_MS,
  MOST_EVENTS,
  type ReceiverKey,
  receiverOf,
  type StatusEvent,
  withoutPassword,
} from './callback.ts'
import { type MessagingEvent, storedEvent } from './messaging-event.ts'
import * as store from './store.ts'

export type { StatusEvent } from './callback.ts'
export type { MessagingEvent } from './messaging-event.ts'
export { listCallbackAttempts, releaseReceiver } from './store.ts'

const KEPT_MS = 30 * 24 * 3_600_000
const SWEEP_SIZE = 1000
const MOST_SWEEPS = 1000

export type EventForUrl<Event> = { url: string; event: Event }

/** Stores events of the partner API in the transaction of the status change. */
export function enqueueCallbacks(
  sql: Transaction,
  companyId: number,
  events: EventForUrl<StatusEvent>[],
  now: Date,
): Promise<void> {
  return enqueue(sql, companyId, 'partner', events, now)
}

/** Stores events of the messaging API. The events of each message are sent in the given order. */
export function enqueueMessagingCallbacks(
  sql: Transaction,
  companyId: number,
  events: EventForUrl<MessagingEvent>[],
  now: Date,
): Promise<void> {
  const stored = events.map(({ url, event }) => ({ url, event: storedEvent(event) }))
  return enqueue(sql, companyId, 'messaging', stored, now)
}

/** Stores one or more batches for each address. */
async function enqueue(
  sql: Transaction,
  companyId: number,
  api: CallbackApi,
  given: EventForUrl<unknown>[],
  now: Date,
): Promise<void> {
  const byUrl = Map.groupBy(given, ({ url }) => url)
  const rows = [...byUrl].flatMap(([url, ofUrl]) => [...piecesOf(ofUrl, MOST_EVENTS)].map(some => rowOf(url, some)))
  if (rows.length === 0) return
  await store.insertCallbacks(sql, companyId, api, rows, now, new Date(now.getTime() + LIFETIME_MS))
}

const rowOf = (url: string, events: EventForUrl<unknown>[]): store.NewCallback => ({
  receiver: receiverOf(url),
  url,
  events: JSON.stringify(events.map(({ event }) => event)),
  eventCount: events.length,
})

/** The batches to send next. For a probe it is the oldest batch, even if it is not due yet. */
export async function nextBatches(
  sql: Sql,
  key: ReceiverKey,
  now: Date,
  options: { mostEvents: number; probe: boolean },
): Promise<CallbackBatch[]> {
  const rows = await store.selectBatches(sql, key, now, options.mostEvents, options.probe)
  return rows.map(({ progress, held, ...row }) => ({
    ...row,
    companyId: key.companyId,
    done: row.events.map((_, i) => progress[i] === '1'),
    held: new Set(held),
  }))
}

/**
 * Messages of these batches whose earlier event, in another batch, was refused. The value is the id of that batch. Later
 * batches must wait with the events of such a message. Such messages are rare, so a quick query first checks for any.
 */
export async function blockedMessages(
  sql: Sql,
  key: ReceiverKey,
  batches: CallbackBatch[],
): Promise<Map<string, number>> {
  const [holder] = await store.existsBlockedMessage(sql, key)
  if (!holder!.found || batches.length === 0) return new Map()
  const ownIds = batches.map(batch => batch.callbackId)
  const messages = batches.flatMap(batch => batch.events.map(event => event.messageUuid))
  const rows = await store.selectBlockedMessages(sql, key, ownIds, messages)
  return new Map(rows.map(row => [row.messageUuid, row.callbackId]))
}

/** Stores during a round which events were accepted, so that few events are repeated after a crash. */
export async function saveProgress(sql: Sql, worker: string, batches: (CallbackBatch & ReceiverKey)[]): Promise<void> {
  if (batches.length === 0) return
  const rows = batches.map(batch => ({
    companyId: batch.companyId,
    receiver: batch.receiver,
    callbackId: batch.callbackId,
    ...progressOf(batch),
  }))
  await byCompany(rows, async (companyId, own) => {
    await store.updateProgress(sql, companyId, worker, own)
    return []
  })
}

/** Ends a round: stores accepted events, held messages, the time of the next try, and the attempts. */
export async function saveResults(sql: Sql, worker: string, key: ReceiverKey, results: BatchResult[]): Promise<void> {
  await store.updateResults(sql, worker, key, results.map(resultRowOf))
}

function resultRowOf({ batch, retryAt, attempt }: BatchResult): store.ResultRow {
  const held = heldMessages(batch)
  return {
    callbackId: batch.callbackId,
    ...progressOf(batch),
    status: batch.done.every(Boolean) ? 'DELIVERED' : 'WAITING',
    held: held.length > 0 ? held : null,
    retryAt,
    attempted: attempt !== undefined,
    ...attempt,
  }
}

const progressOf = ({ done }: CallbackBatch) => ({
  progress: done.map(Number).join(''),
  done: done.filter(Boolean).length,
})

/** A message is held until all its events in the batch are accepted. */
function heldMessages({ events, done, held }: CallbackBatch): string[] {
  if (held.size === 0) return []
  const left = new Set(events.filter((_, i) => !done[i]).map(event => event.messageUuid))
  return [...held].filter(message => left.has(message))
}

const idOf = ({ callbackId }: store.CallbackKey) => callbackId

/** Expires batches whose lifetime is over, at most SWEEP_SIZE in one call. Returns how many it expired. */
export async function expireCallbacks(sql: Sql, now: Date): Promise<number> {
  const ended = await acrossCompanies(sql, () => store.selectEndedCallbacks(sql, now, SWEEP_SIZE))
  const expired = await byCompany(ended, (companyId, own) => store.expireCallbacks(sql, companyId, own.map(idOf), now))
  return expired.length
}

/** Lists batches, the newest first, without passwords. `before` is the last id of the previous page. */
export async function listCallbacks(sql: Sql, companyId: number, options: { before?: number; limit: number }) {
  const rows = await store.selectCallbacks(sql, companyId, options.before ?? Number.MAX_SAFE_INTEGER, options.limit)
  return rows.map(row => ({ ...row, url: withoutPassword(row.url) }))
}

/** Sends a finished batch again, and gives it another day. A waiting batch is tried at once. */
export async function replayCallback(sql: Sql, companyId: number, callbackId: number, now: Date): Promise<void> {
  const [key] = await store.updateForReplay(sql, companyId, callbackId, new Date(now.getTime() + LIFETIME_MS))
  if (!key) throw notFound('Callback')
  await store.updateProbeDue(sql, key)
}

/** Housekeeping: deletes finished batches and their attempts after 30 days. */
export async function forgetOldCallbacks(sql: Sql, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await sweep(
    limit => store.selectFinished(sql, before, limit),
    (companyId, finished) => store.deleteFinished(sql, companyId, finished.map(idOf)),
    { batch: SWEEP_SIZE, mostBatches: MOST_SWEEPS },
  )
  await store.deleteIdleReceivers(sql, before)
  await store.deleteTests(sql, before)
}

/** Removes the texts of inbound messages from callbacks that were written between these keys. */
export const removeInboundTextsOfEvents = store.deleteInboundTexts
