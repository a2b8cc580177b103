import { createHash } from 'node:crypto'
import { messagingBody, type StoredMessagingEvent } from './messaging-event.ts'

/** A status change that the partner API reports. The events of the messaging API are in `messaging-event.ts`. */
export type StatusEvent = {
  event: 'sent' | 'delivered' | 'failed'
  messageUuid: string
  destination: string
  at: Date
  errorCode?: number
}

/** The API whose format a batch has. The partner API sends one object per event, the messaging API sends arrays. */
export type CallbackApi = EventsByApi['api']

/** The API determines the type of the events. */
export type EventsByApi =
  | { api: 'partner'; events: StoredEvent[] }
  | { api: 'messaging'; events: StoredMessagingEvent[] }

export type CallbackStatus = 'WAITING' | 'DELIVERED' | 'EXPIRED'

/** An event as it is stored and sent: its time is a text. */
export type StoredEvent = Omit<StatusEvent, 'at'> & { at: string }

/** A receiver of a company. The engine that serves it sends all its batches. */
export type ReceiverKey = { companyId: number; receiver: string }

export type Receiver = ReceiverKey & { failures: number }

/** A batch of events for one exact URL. */
export type CallbackBatch = {
  companyId: number
  callbackId: number
  url: string
  /** Whether the receiver accepted each event, in the order of `events`. */
  done: boolean[]
  /** The uuids of messages that have a refused event in this batch. */
  held: Set<string>
  expiresAt: Date
} & EventsByApi

/** An event of a batch. `index` is its place in `events`. */
export type PlacedEvent = { batch: CallbackBatch; index: number }

/** The result of a batch in one round. */
export type BatchResult = {
  batch: CallbackBatch
  /** When to send the remaining events. If it is undefined, they stay due. */
  retryAt?: Date
  attempt?: {
    attemptedAt: Date
    triedEvents: number
    deliveredEvents: number
    statusCode?: number
    error?: string
    /** The beginning of the receiver's response. */
    answer?: string
    tookMs: number
  }
}

/** The most events of a batch. Dozens of such batches fit into memory, and writes are rare. */
export const MOST_EVENTS = 250

/** The most events in one array of the messaging API. */
export const MOST_ARRAY_EVENTS = 100

/** A batch expires after a day, because its events are then too old to be useful. */
export const LIFETIME_MS = 24 * 3_600_000

/** After this many failures in a row, a receiver gets only probes. */
export const FAILURES_UNTIL_PROBE = 20

/** Scheme, host and port of an address. An invalid address has the receiver `invalid`, so that its failures are visible. */
export function receiverOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : 'invalid'
}

/**
 * The id of a request. A repeated request with the same events has the same id, so that the receiver can recognise it.
 * Requests with other events have other ids.
 */
export function requestIdOf(events: PlacedEvent[]): string {
  const ids = events.map(eventIdOf)
  if (ids.length === 1) return ids[0]!
  return `evts_${events[0]!.batch.companyId}_${createHash('sha256').update(ids.join()).digest('base64url').slice(0, 22)}`
}

const eventIdOf = ({ batch, index }: PlacedEvent) => `evt_${batch.companyId}_${batch.callbackId}_${index}`

/** The body of a request: one event of the partner API, or an array of events of the messaging API. */
export function requestBodyOf(events: PlacedEvent[]): string {
  const objects = events.map(objectOf)
  return events[0]!.batch.api === 'partner' ? objects[0]! : `[${objects.join(',')}]`
}

const objectOf = ({ batch, index }: PlacedEvent): string =>
  batch.api === 'partner' ? partnerBody(batch.events[index]!) : messagingBody(batch.events[index]!)

/** The partner API's object for one event. */
export function partnerBody({ event, messageUuid, destination, at, errorCode }: StoredEvent): string {
  switch (event) {
    case 'delivered':
      return JSON.stringify({ event, messageUuid, destination, status: 'DELIVERED', deliveredAt: at })
    case 'sent':
      return JSON.stringify({ event, messageUuid, destination, status: 'SENT', sentAt: at })
    case 'failed':
      return JSON.stringify({ event, messageUuid, destination, status: 'FAILED', failedAt: at, errorCode })
  }
}

/** Hides the password of an address, so that pages and lists do not show it. */
export function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return 'invalid'
  if (!parsed.password) return url
  parsed.password = '***'
  return parsed.href
}
