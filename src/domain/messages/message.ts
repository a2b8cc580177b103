import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Money } from '../../base/money.ts'

export const messageStatuses = ['CREATED', 'SENT', 'DELIVERED', 'FAILED'] as const

export type MessageStatus = (typeof messageStatuses)[number]

/** 25 hours: how long a message may be without a receipt. */
export const LIFETIME_MS = 25 * 3600_000

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

/** Why a recipient was refused at the door. */
export const rejection = { badNumber, blacklisted, noSender, noSubstitution, badText } as const

/** A message as it is written when it is accepted, or refused at the door (then without a lane). */
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
  /** In a dispatch that goes by an approved template: what the message itself is, having matched it or not. */
  matched?: { trafficType: TrafficType; templateId: number | null }
  /** What it shows beyond its text, where that is not the same for the whole dispatch. */
  content?: Content | null
}

/** A message on its way out, as the engine reads it. */
export type QueuedMessage = {
  uuid: string
  seq: number
  destination: string
  text: string
  parts: number
  /** Of a single message. */
  senderName: string | null
  /** When it is of no use any more. */
  expiresAt: Date | null
  /** Of one without such an end: what has not gone by then never goes. */
  waitsUntil: Date | null
  /** Of a cascade's step: how long it may be under way once it is handed over. */
  ttlSeconds: number | null
  content: Content | null
  /** When a single message may go, if not at any time. */
  window: { hours: number[] | null; days: number[] | null; zone: string; endAt: string | null } | null
  /** Text and content with a verification code, encrypted; `text` and `content` have it masked. */
  sealed: Buffer | null
}

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
  laneId: number
  seq: number
  parts: number
  price: Money
  tariffId: number | null
  brandId: number
  destination: string
  /** Of a single message. Messages of a dispatch have the channel of the dispatch. */
  channelType: ChannelType | null
  trafficType: TrafficType | null
}

/** Counters of a dispatch are kept in blocks of this many places. */
export const BLOCK_SIZE = 5000
