import type { Content } from '../../base/content.ts'
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

/** Why a recipient was refused at the door. Stable numbers: clients know them. */
export const rejection = {
  badNumber: 7401,
  blacklisted: 7402,
  noSender: 7403,
  noSubstitution: 7404,
  badText: 7405,
} as const

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
  content: Content | null
  /** When a single message may go, if not at any time. */
  window: { hours: number[] | null; days: number[] | null; zone: string; endAt: string | null } | null
}

/** A step of a message's life: from CREATED, or from SENT, to what comes next. DELIVERED and FAILED are final. */
export type Move = {
  uuid: string
  to: 'SENT' | 'DELIVERED' | 'FAILED'
  sentAt: Date | null
  finalAt: Date | null
  errorCode: number | null
  /** The operator's own word for a failure. */
  operatorError: string | null
}

/** A message that took a step, with what its counters, money and callbacks need. */
export type Moved = {
  uuid: string
  dispatchId: number | null
  position: number | null
  laneId: number
  seq: number
  parts: number
  price: Money
  tariffId: number | null
  destination: string
}

/** Counters of a dispatch are kept in blocks of this many places. */
export const BLOCK_SIZE = 5000
