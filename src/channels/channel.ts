import type { ChannelType } from '../base/channel-types.ts'
import type { Content } from '../base/content/content.ts'

/** One message to submit. */
export type Outgoing = {
  companyId: number
  uuid: string
  channelType: ChannelType
  senderName: string
  destination: string
  text: string
  parts: number
  /** How many attempts were made before. */
  attempts: number
  /** A verification code: it is submitted before the waiting messages of other batches. */
  isCode?: true
  /** Content beyond the plain text; absent for a plain text. */
  content?: Content
  /** The end of the lifetime of the message. Operators get it as the validity period. */
  expiresAt?: Date
  /** Addresses of the subscriber in channels without numbers: the chat with a bot, push subscriptions. */
  addresses?: string[]
  /** The ids of the parts that earlier attempts submitted, by part number. Only the other parts are to be submitted. */
  taken?: Record<number, string>
}

/** The result of one submission. `operatorError` is the operator's own error, stored beside our code. */
export type SendResult =
  /**
   * `providerIds` are the ids that receipts will name, one per part; absent if receipts will name our own uuid.
   * `delivered`: the channel has no receipts, so an accepted message counts as delivered.
   */
  | { kind: 'accepted'; providerIds?: string[]; delivered?: true }
  | { kind: 'refused'; errorCode: number; reason: string; operatorError?: string } // final: no further attempt
  | { kind: 'busy'; reason: string; retryAfterMs: number; taken?: Record<number, string> } // another attempt later
  /** Submitted without an answer: never submitted again. `taken` has the ids of the parts; an empty id had no answer. */
  | { kind: 'unknown'; reason: string; taken?: Record<number, string> }
  /** The provider may have the message. It is submitted again, to the same gateway, and may arrive twice. */
  | { kind: 'lost'; reason: string; retryAfterMs?: number; taken?: Record<number, string> }

/** The status of an accepted message, or of one part of it, as the operator reports it. */
export type Receipt = {
  /** The operator's id of a part, or our own ids. `isUnread`: the id as the operator wrote it, with two possible readings. */
  of: { providerId: string; isUnread?: boolean } | { companyId: number; uuid: string }
  /** The number of the subscriber. The receipt applies only to a message to this number. */
  subscriber?: string
  unsure?: Unsure
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode?: number
  operatorError?: string
  happenedAt: Date
}

/**
 * The receipt may belong to another message to the same number, whose answer is not recorded yet. If the id finds a
 * message other than `unless` now, the receipt is looked up again after this time.
 */
export type Unsure = { forMs: number; unless?: string }

/** A message of a subscriber. `providerId` is there if the channel may deliver it twice. */
export type Inbound = { from: string; to: string; text: string; receivedAt: Date; providerId?: string }

/** An address of a subscriber that no longer exists. */
export type Gone = Pick<Outgoing, 'companyId' | 'channelType' | 'senderName'> & { address: string }

/** The id of a part whose answer came after the message was reported as `unknown`. */
export type LateAnswer = { companyId: number; uuid: string; part: number; parts: number; providerId: string }

/** Takes the input of a channel. Each promise resolves when the input is stored: then the channel may acknowledge it. */
export type Feed = {
  /**
   * Calls `refuse` with the indexes of receipts that cannot be stored now. The channel does not acknowledge these.
   * Without `refuse` the promise rejects then, after the others are stored.
   */
  receipts(batch: Receipt[], refuse?: (index: number) => void): Promise<void>
  inbound(message: Inbound): Promise<void>
  gone(address: Gone): Promise<void>
  /** Stores the id, so that receipts find the message. */
  late?(answer: LateAnswer): Promise<void>
  /** The time of the database: the clock of this machine may be wrong. */
  now?(): Date
  /**
   * Submits verification codes that wait for this thread. A channel that works on many messages at once calls it between
   * two of them. This may call `submit` of the same channel or of another one.
   */
  submitCodes?(): void
}

/** The time of the feed, or of this machine if the feed has none. */
export const timeOf = (feed: Pick<Feed, 'now'>): Date => feed.now?.() ?? new Date()

/** The state of a channel, for people. `binds` is there if the channel keeps several connections. */
export type Health = {
  up: boolean
  /** The last error and its time; they stay after the channel has recovered. */
  lastError?: string
  lastErrorAt?: Date
  /** Submitted messages without a result. */
  open?: number
  binds?: { bound: number; wanted: number }
}

/**
 * A connection to an operator or a messenger. `submit` submits a batch. It calls `mayGo` right before each message: if
 * `mayGo` returns false, the message is not submitted and has no report. It reports each result once, by its index in the
 * batch, as soon as the result is known, and resolves when all are reported. It does not throw: a lost connection is a
 * result.
 *
 * `stop` waits until the submitted messages are reported and their receipts are acknowledged. After that the channel
 * submits nothing, and `health` says so. If the feed rejects receipts, the channel does not acknowledge them, and the
 * provider sends them again.
 */
export type Channel = {
  submit(
    batch: Outgoing[],
    report: (index: number, result: SendResult) => void,
    mayGo: (index: number) => boolean,
  ): Promise<void>
  /** The most submitted messages without a result. */
  readonly window: number
  health(): Health
  stop(): Promise<void>
}
