import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { MessageStatus } from '../messages/message.ts'

export const directions = ['outbound', 'inbound'] as const
export type Direction = (typeof directions)[number]

export const sendingMethods = ['API', 'UI', 'DISPATCH', 'VERIFIER_API', 'VERIFIER_WIDGET'] as const
export type SendingMethod = (typeof sendingMethods)[number]

/** The statuses of messages in the messaging API. */
export const statusWords = ['sending', 'sent', 'delivered', 'undelivered', 'unsent', 'inbound_sent'] as const
export type StatusWord = (typeof statusWords)[number]

/** The options that the client requested for a message. A dispatch of the messaging API has them for all its messages. */
export type MessageOptions = {
  tags?: string[] | null
  ttl?: number | null
  hours?: number[] | null
  days?: number[] | null
  useLocalTime?: boolean | null
  localSendTime?: string | null
  localCompletionTime?: string | null
  shortUrl?: boolean | null
}

/** The start and the sending hours of a dispatch of the partner API. The hours have the UTC offset of the start. */
export type DispatchHours = {
  startAt: Date | null
  hours: number[] | null
  days: number[] | null
}

/** A message as a search returns it. Fields that the dispatch stores for all its messages are filled in. */
export type FoundMessage = DispatchHours & {
  direction: Direction
  uuid: string
  externalId: string | null
  dispatchId: number | null
  channelType: ChannelType
  trafficType: TrafficType | null
  method: SendingMethod | null
  templateId: number | null
  centerId: number | null
  senderName: string | null
  /** The number of the subscriber, also for an inbound message. */
  destination: string
  brandId: number | null
  text: string | null
  content: unknown
  options: MessageOptions | null
  callbackUrl: string | null
  callbackEvents: string[] | null
  parts: number | null
  price: Money | null
  finalPrice: Money | null
  currency: string
  /** Null for an inbound message. */
  status: MessageStatus | null
  errorCode: number | null
  sentAt: Date | null
  finalAt: Date | null
  readAt: Date | null
  expiresAt: Date | null
  cascadeUuid: string | null
  cascadeStep: number | null
}

export const createdAt = ({ uuid }: Pick<FoundMessage, 'uuid'>): Date => timeOfUuid7(uuid)

/** The time of the last status change. */
export const statusTimeOf = (message: FoundMessage): Date => message.finalAt ?? message.sentAt ?? createdAt(message)

export function statusWordOf({ status, sentAt }: Pick<FoundMessage, 'status' | 'sentAt'>): StatusWord {
  switch (status) {
    case null:
      return 'inbound_sent'
    case 'CREATED':
      return 'sending'
    case 'SENT':
      return 'sent'
    case 'DELIVERED':
      return 'delivered'
    case 'FAILED':
      return sentAt ? 'undelivered' : 'unsent'
  }
}

const readChannels: readonly ChannelType[] = ['VIBER', 'WHATSAPP', 'VK', 'TELEGRAM']
const LIFETIME_MS = 25 * 3600_000

/** Whether the message was read, and the time since when this is certain. Undefined while it may still be read. */
export function readingOf(message: FoundMessage, now: Date): { word: 'read' | 'unread'; at: Date } | undefined {
  if (message.readAt) return { word: 'read', at: message.readAt }
  const end = lifetimeEnd(message)
  const isUnread = message.status === 'DELIVERED' && readChannels.includes(message.channelType) && end && end < now
  return isUnread ? { word: 'unread', at: end } : undefined
}

const lifetimeEnd = ({ expiresAt, sentAt }: FoundMessage) =>
  expiresAt ?? (sentAt ? new Date(sentAt.getTime() + LIFETIME_MS) : undefined)
