import type { Pool, Sql } from '../../db/sql.ts'
import { type CallbackStatus, receiverOf, type StoredEvent, withoutPassword } from './callback.ts'
import { listCallbackAttempts } from './callbacks.ts'
import { nameOfEvent } from './event-name.ts'
import type { StoredMessagingEvent } from './messaging-event.ts'
import * as store from './store.ts'

/** A batch with events of a message, and the attempts to send the whole batch. */
export type MessageCallback = {
  callbackId: number
  url: string
  status: CallbackStatus
  happenedAt: Date
  expiresAt: Date
  /** The number of events of all messages in the batch. */
  eventCount: number
  /** The events of this message. */
  events: { name: string; at: string; isReceived: boolean }[]
  attempts: store.ListedAttempt[]
}

/** A delivery receipt may arrive some minutes after the time that it states. */
const AFTER_MS = 10 * 60_000
const BEFORE_MS = 10_000
const MOST_BATCHES = 5000
const TIMEOUT_MS = 1500
const MOST_ATTEMPTS = 20
const QUERY_CANCELED = '57014'

type CallbackTimes = { companyId: number; messageUuid: string; url: string; moments: Date[] }

/** Finds the callbacks about a message. `moments` are its status changes. Undefined if the search takes too long. */
export async function callbacksOfMessage(
  pool: Pool,
  { companyId, messageUuid, url, moments }: CallbackTimes,
): Promise<MessageCallback[] | undefined> {
  const spans = moments.map(moment => ({
    from: new Date(moment.getTime() - BEFORE_MS),
    to: new Date(moment.getTime() + AFTER_MS),
  }))
  const batches = await withinTime(pool, sql =>
    store.selectNaming(sql, { companyId, receiver: receiverOf(url) }, messageUuid, spans, MOST_BATCHES),
  )
  if (!batches) return undefined
  return Promise.all(batches.map(batch => seenOf(pool, companyId, messageUuid, batch)))
}

async function withinTime<T>(pool: Pool, work: (sql: Sql) => PromiseLike<T>): Promise<T | undefined> {
  try {
    return await pool.begin('read only', async sql => {
      await store.limitTime(sql, TIMEOUT_MS)
      return work(sql)
    })
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return undefined
    throw error
  }
}

async function seenOf(
  sql: Pool,
  companyId: number,
  messageUuid: string,
  batch: store.BatchWithEvents,
): Promise<MessageCallback> {
  const { callbackId, status, happenedAt, expiresAt, eventCount, progress } = batch
  const events = (batch.events as (StoredEvent | StoredMessagingEvent)[]).flatMap((event, place) =>
    event.messageUuid === messageUuid
      ? { name: nameOfEvent(event), at: event.at, isReceived: status === 'DELIVERED' || progress[place] === '1' }
      : [],
  )
  const attempts = await listCallbackAttempts(sql, companyId, callbackId, MOST_ATTEMPTS)
  return {
    callbackId,
    url: withoutPassword(batch.url),
    status,
    happenedAt,
    expiresAt,
    eventCount,
    events,
    attempts: attempts.reverse(),
  }
}
