import type { ChannelType } from '../base/channel-types.ts'

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
}

/** What the operator said to it. */
export type SendResult =
  /** Taken. The ids by which its receipts will name it, one per part; none when they will name our own uuid. */
  | { kind: 'accepted'; providerIds?: string[] }
  | { kind: 'refused'; errorCode: number; reason: string } // for ever
  | { kind: 'busy'; reason: string; retryAfterMs: number } // ask again later
  | { kind: 'unknown'; reason: string } // handed over, no answer: never sent again
  | { kind: 'lost'; reason: string } // the connection broke with it open: sent again, possibly twice

/** What became of a message, or of one part of it, after it was taken. */
export type Receipt = {
  /** By the operator's id of a part, or by our own. */
  of: { providerId: string } | { companyId: number; uuid: string }
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode?: number
  happenedAt: Date
}

export type Inbound = { from: string; to: string; text: string; receivedAt: Date }

/** Where a channel tells what comes in. Both resolve when it is safe in the database: then it may be acknowledged. */
export type Feed = {
  receipts(batch: Receipt[]): Promise<void>
  inbound(message: Inbound): Promise<void>
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
  health(): { up: boolean; lastError?: string }
  stop(): Promise<void>
}
