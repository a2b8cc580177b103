import type { Money } from '../../base/money.ts'

export const messageStatuses = ['CREATED', 'SENT', 'DELIVERED', 'FAILED'] as const

export type MessageStatus = (typeof messageStatuses)[number]

export type Message = {
  uuid: string
  destination: string
  text: string | null
  parts: number
  status: MessageStatus
  price: Money
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

/** Counters of a dispatch are kept in blocks of this many places. */
export const BLOCK_SIZE = 5000
