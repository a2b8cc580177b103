import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Money } from '../../base/money.ts'

export const messageStatuses = ['CREATED', 'SENT', 'DELIVERED', 'FAILED'] as const

export type MessageStatus = (typeof messageStatuses)[number]

/** 25 hours. A message without a receipt fails after this time. */
export const LIFETIME_MS = 25 * 3600_000

/** Stands in place of a text that was removed, because it was too old or its number was erased. */
export const REMOVED = '[removed]'

export type Message = {
  uuid: string
  destination: string
  text: string | null
  parts: number
  status: MessageStatus
  price: Money
  finalPrice: Money | null
  senderId: number | null
  brandId: number
  errorCode: number | null
  sentAt: Date | null
  finalAt: Date | null
}

const { badNumber, blacklisted, noSender, noSubstitution, badText } = errorCodes

/** The error codes of recipients that are rejected at acceptance. */
export const rejection = { badNumber, blacklisted, noSender, noSubstitution, badText } as const

/** A message as acceptance writes it. The message of a rejected recipient has no lane. */
export type NewMessage = {
  uuid: string
  position: number
  laneId: number | null
  seq: number | null
  senderId: number | null
  tariffId: number | null
  price: string
  status: 'CREATED' | 'FAILED'
  errorCode: number | null
  parts: number
  brandId: number
  destination: string
  text: string | null
  /** The traffic type and template of the message itself, in a dispatch with an approved template. */
  matched?: { trafficType: TrafficType; templateId: number | null }
  /** Its content, if the content differs between the messages of the dispatch. */
  content?: Content | null
}

/** A message that is left to send, as the engine reads it. */
export type QueuedMessage = {
  uuid: string
  seq: number
  destination: string
  text: string
  parts: number
  /** Set for a single message. */
  senderName: string | null
  /** The end of its ttl. */
  expiresAt: Date | null
  /** Set for a message without a ttl: it is not sent after this time. */
  waitsUntil: Date | null
  /** Set for a cascade step: the time that it may take after submission. */
  ttlSeconds: number | null
  content: Content | null
  /** The sending window of a single message. Null if it may be sent at any time. */
  window: { hours: number[] | null; days: number[] | null; zone: string; endAt: string | null } | null
  /** Text and content with a verification code, encrypted; `text` and `content` have it masked. */
  sealed: Buffer | null
}

/** A message that was read with what forbids to send it. `isBlacklisted` is null when that is not known. */
export type CheckedMessage = QueuedMessage & { isStopped: boolean; isBlacklisted: boolean | null }

/** The status that a message shall get, from CREATED or from SENT. DELIVERED and FAILED are final. */
export type StatusUpdate = {
  uuid: string
  to: 'SENT' | 'DELIVERED' | 'FAILED'
  sentAt: Date | null
  finalAt: Date | null
  errorCode: number | null
  /** The operator's own text of the error. */
  operatorError: string | null
}

/** A message whose status has changed, with the fields that counters, money and callbacks need. */
export type ChangedMessage = {
  uuid: string
  dispatchId: number | null
  position: number | null
  parts: number
  price: Money
  tariffId: number | null
  brandId: number
  destination: string
  /** Of a single message. Messages of a dispatch have the channel of the dispatch. */
  channelType: ChannelType | null
  trafficType: TrafficType | null
  /** A single message whose client wants callbacks, or that belongs to a cascade or carries a code. */
  isFollowed: boolean
}

/** The counters of a dispatch are stored in blocks of this many positions. */
export const BLOCK_SIZE = 5000
