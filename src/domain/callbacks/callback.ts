/** A change of a message's status that its sender asked to be told. */
export type StatusEvent = {
  event: 'sent' | 'delivered' | 'failed'
  messageUuid: string
  destination: string
  at: Date
  errorCode?: number
}

/** How a batch goes out: the partner API sends an object per event, the messaging API arrays. */
export type CallbackFormat = 'partner' | 'messaging'

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
  format: CallbackFormat
  events: StoredEvent[]
  /** By the place of the event: whether the receiver has taken it. */
  done: boolean[]
  /** Messages with a refused event in here. */
  held: Set<string>
  expiresAt: Date
}

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
    tookMs: number
  }
}

/** Small enough to keep in memory by the dozen, large enough to write rarely. */
export const MOST_EVENTS = 250

/** A day after it happened an event is no longer news. */
export const LIFETIME_MS = 24 * 3_600_000

/** So many refusals in a row, and a receiver is only probed. */
export const FAILURES_UNTIL_PROBE = 20

/** Scheme, host and port. An address that is none has a receiver too: there its refusals can be seen. */
export function receiverOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : 'invalid'
}

/** The same for every try, so that a receiver knows what it has seen. */
export const eventIdOf = ({ companyId, callbackId }: CallbackBatch, index: number) =>
  `evt_${companyId}_${callbackId}_${index}`

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
  if (parsed.password) parsed.password = '***'
  return parsed.href
}
