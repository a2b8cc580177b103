import { createHash } from 'node:crypto'
import { messagingBody, type StoredMessagingEvent } from './messaging-event.ts'

/** A change of a message's status that the partner API tells; the messaging API's are in `messaging-event.ts`. */
export type StatusEvent = {
  event: 'sent' | 'delivered' | 'failed'
  messageUuid: string
  destination: string
  at: Date
  errorCode?: number
}

/** How a batch goes out: the partner API sends an object per event, the messaging API arrays. */
export type CallbackApi = EventsByApi['api']

/** The API says what the events are. */
export type EventsByApi =
  | { api: 'partner'; events: StoredEvent[] }
  | { api: 'messaging'; events: StoredMessagingEvent[] }

export type CallbackStatus = 'WAITING' | 'DELIVERED' | 'EXPIRED'

/** As it is stored, and goes out: the time is text already. */
export type StoredEvent = Omit<StatusEvent, 'at'> & { at: string }

/** A company's receiver; whoever serves it sends all its batches. */
export type ReceiverKey = { companyId: number; receiver: string }

export type Receiver = ReceiverKey & { failures: number }

/** A batch of events for one exact URL. */
export type CallbackBatch = {
  companyId: number
  callbackId: number
  url: string
  /** By the place of the event: whether the receiver has taken it. */
  done: boolean[]
  /** Messages with a refused event in here. */
  held: Set<string>
  expiresAt: Date
} & EventsByApi

/** An event of a batch, by its place. */
export type PlacedEvent = { batch: CallbackBatch; index: number }

/** What became of a batch in one pass. */
export type CallbackPass = {
  batch: CallbackBatch
  /** When to try the rest; undefined leaves it due. */
  retryAt?: Date
  attempt?: {
    attemptedAt: Date
    triedEvents: number
    deliveredEvents: number
    statusCode?: number
    error?: string
    /** The beginning of what the receiver answered. */
    answer?: string
    tookMs: number
  }
}

/** Small enough to keep in memory by the dozen, large enough to write rarely. */
export const MOST_EVENTS = 250

/** In one array of the messaging API. */
export const MOST_ARRAY_EVENTS = 100

/** A day after it happened an event is no longer news. */
export const LIFETIME_MS = 24 * 3_600_000

/** So many refusals in a row, and a receiver is only probed. */
export const FAILURES_UNTIL_PROBE = 20

/** Scheme, host and port. An address that is none has a receiver too: there its refusals can be seen. */
export function receiverOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : 'invalid'
}

/**
 * The id of a request: the same whenever the same events are tried, so that a receiver knows what it has seen, and
 * never the same for others.
 */
export function requestIdOf(events: PlacedEvent[]): string {
  const ids = events.map(eventIdOf)
  if (ids.length === 1) return ids[0]!
  return `evts_${events[0]!.batch.companyId}_${createHash('sha256').update(ids.join()).digest('base64url').slice(0, 22)}`
}

const eventIdOf = ({ batch, index }: PlacedEvent) => `evt_${batch.companyId}_${batch.callbackId}_${index}`

/** The body of a request: one event of the partner API, or any number of the messaging API. */
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

/** For screens and lists: an address may carry a password. */
export function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return 'invalid'
  if (!parsed.password) return url
  parsed.password = '***'
  return parsed.href
}
