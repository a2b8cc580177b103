import type { ChannelType } from '../base/channel-types.ts'
import type { Content } from '../base/content.ts'

/** One message to hand over. */
export type Outgoing = {
  companyId: number
  uuid: string
  channelType: ChannelType
  senderName: string
  destination: string
  text: string
  parts: number
  /** How often it was tried before. */
  attempts: number
  /** What is to be shown beyond the plain text; absent for a plain text. */
  content?: Content
  /** When it is of no use any more; told to an operator that asks for it. */
  expiresAt?: Date
  /** Where a channel finds the subscriber when a number is not enough: the chat with a bot, push subscriptions. */
  addresses?: string[]
  /** Ids of the parts that were taken at an earlier attempt, by their place: only the others are to go. */
  taken?: Record<number, string>
}

/** What the operator said to it. `operatorError` is the operator's own word for it, kept beside our code. */
export type SendResult =
  /**
   * Taken. The ids by which its receipts will name it, one per part; none when they will name our own uuid.
   * `delivered`: there is nothing more to come, taken is delivered.
   */
  | { kind: 'accepted'; providerIds?: string[]; delivered?: true }
  | { kind: 'refused'; errorCode: number; reason: string; operatorError?: string } // for ever
  | { kind: 'busy'; reason: string; retryAfterMs: number; taken?: Record<number, string> } // ask again later
  /** Handed over, no answer: never sent again. `taken` when some parts have an id; an empty one had no answer. */
  | { kind: 'unknown'; reason: string; taken?: Record<number, string> }
  /** The other side may have it: sent again, by the same gateway, possibly twice. */
  | { kind: 'lost'; reason: string; retryAfterMs?: number; taken?: Record<number, string> }

/** What became of a message, or of one part of it, after it was taken. */
export type Receipt = {
  /** By the operator's id of a part, or by our own. Unread: as the operator wrote it, and it can be read in two ways. */
  of: { providerId: string; isUnread?: boolean } | { companyId: number; uuid: string }
  /** The number that it is about: the receipt is for no message to another. */
  subscriber?: string
  unsure?: Unsure
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode?: number
  operatorError?: string
  happenedAt: Date
}

/**
 * Another message to the same number may be meant, whose answer is not recorded yet. If the receipt names a message now,
 * other than `unless`, it is looked up again after this time.
 */
export type Unsure = { forMs: number; unless?: string }

/** What a subscriber wrote. A channel that may tell it twice gives the id by which it tells. */
export type Inbound = { from: string; to: string; text: string; receivedAt: Date; providerId?: string }

/** An address of a subscriber that leads nowhere any more. */
export type Gone = Pick<Outgoing, 'companyId' | 'channelType' | 'senderName'> & { address: string }

/** The id under which an operator took a part of a message, told after the message was reported as `unknown`. */
export type LateAnswer = { companyId: number; uuid: string; part: number; parts: number; providerId: string }

/** Where a channel tells what comes in. Each resolves when it is safe in the database: then it may be acknowledged. */
export type Feed = {
  receipts(batch: Receipt[]): Promise<void>
  inbound(message: Inbound): Promise<void>
  gone(address: Gone): Promise<void>
  /** Lets receipts find a message whose answer came too late. */
  late?(answer: LateAnswer): Promise<void>
  /** The time by which messages end: the clock of this machine may be wrong. */
  now?(): Date
}

/** The time that counts for a channel; this machine's where nobody knows better. */
export const timeOf = (feed: Pick<Feed, 'now'>): Date => feed.now?.() ?? new Date()

/** How a way out is doing, for people: `binds` where there are connections that can be up one by one. */
export type Health = {
  up: boolean
  /** The last thing that went wrong, also when it is over, and when that was. */
  lastError?: string
  lastErrorAt?: Date
  /** Messages under way just now. */
  open?: number
  binds?: { bound: number; wanted: number }
}

/**
 * A way out of the building. `submit` hands a batch over and reports each message's result as soon as it is known,
 * by its place in the batch, once; it resolves when every one has been reported, and before each message asks `mayGo`:
 * one that may no longer go is not handed over and gets no report. It does not throw: a lost connection is a result.
 *
 * `stop` waits until what is under way has been reported and acknowledged. Afterwards nothing is handed over, and
 * `health` says so. Receipts that the feed does not take (it rejects) are not acknowledged, and are told again.
 */
export type Channel = {
  submit(
    batch: Outgoing[],
    report: (index: number, result: SendResult) => void,
    mayGo: (index: number) => boolean,
  ): Promise<void>
  /** Most messages that may be under way at once. */
  readonly window: number
  health(): Health
  stop(): Promise<void>
}
