import type { ChannelType } from '../../base/channel-types.ts'
import { type Money, moneyToNumber } from '../../base/money.ts'

/** An event of a message of the messaging API. The client requested callbacks for such events. */
export type MessagingEvent = MessagingStatusEvent | PriceEvent | ClickEvent | InboundEvent

export type MessagingStatusEvent = OfMessage & {
  kind: 'status'
  status: MessagingStatus
  errorCode?: number | null
  at: Date
}

export type PriceEvent = OfMessage & { kind: 'price'; parts: number; price: Money; currency: string; at: Date }

export type ClickEvent = OfMessage & { kind: 'click'; url: string; shortUrl: string; at: Date }

/** A subscriber wrote a message at the time `at`. */
export type InboundEvent = {
  kind: 'inbound'
  messageUuid: string
  channelType: ChannelType
  item: InboundItem
  at: Date
}

type OfMessage = {
  messageUuid: string
  channelType: ChannelType
  /** For a message of a cascade: the first message of the cascade, and the number of the step, counted from 1. */
  cascade?: { messageUuid: string; step: number } | null
  externalMessageId?: string | null
}

/** The message as GET /message returns it. Further fields are sent unchanged. */
export type InboundItem = {
  createdTime: Date | string
  sentTime: Date | string
  messageUuid: string
  direction: 'inbound'
  channelType: ChannelType
  trafficCenterId: number
  senderName: string
  destination: string
  content: string
  specialContent: { text: string; contentType: string } | null
  totalParts: number
  [member: string]: unknown
}

export type MessagingStatus = 'sent' | 'delivered' | 'undelivered' | 'unsent' | 'read' | 'unread'

/** The events that a client can request. One event may cover several statuses. */
export type MessagingCallbackEvent = 'sent' | 'delivered' | 'read' | 'price' | 'click' | 'inbound_sent'

const eventsByStatus = {
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'delivered',
  unsent: 'delivered',
  read: 'read',
  unread: 'read',
} as const

export function callbackEventOf(event: Stored<MessagingEvent> | MessagingEvent): MessagingCallbackEvent {
  if (event.kind === 'status') return eventsByStatus[event.status]
  return event.kind === 'inbound' ? 'inbound_sent' : event.kind
}

/** An event as it is stored: its time is a text, and its price is a number. */
export type StoredMessagingEvent = Stored<MessagingEvent>

type Stored<Event> = Event extends PriceEvent
  ? Omit<Event, 'at' | 'price'> & { at: string; price: number }
  : Event extends { at: Date }
    ? Omit<Event, 'at'> & { at: string }
    : never

export const storedEvent = (event: MessagingEvent): StoredMessagingEvent =>
  event.kind === 'price'
    ? { ...event, at: event.at.toISOString(), price: moneyToNumber(event.price) }
    : { ...event, at: event.at.toISOString() }

/** The messaging API's object for one event, in JSON. Unknown fields are absent. */
export function messagingBody(event: StoredMessagingEvent): string {
  switch (event.kind) {
    case 'status':
      return JSON.stringify({
        ...messageFields(event),
        status: event.status,
        status_time: event.at,
        error_code: event.errorCode ?? undefined,
      })
    case 'price':
      return JSON.stringify({
        ...messageFields(event),
        parts: event.parts,
        price: event.price,
        currency: event.currency,
        price_time: event.at,
      })
    case 'click':
      return JSON.stringify({
        ...messageFields(event),
        url: event.url,
        short_url: event.shortUrl,
        click_time: event.at,
      })
    case 'inbound':
      return JSON.stringify({
        message_uuid: event.messageUuid,
        callback_event: callbackEventOf(event),
        channel_type: event.channelType,
        status: 'inbound_sent',
        status_time: event.at,
        item: event.item,
      })
  }
}

const messageFields = (event: Exclude<StoredMessagingEvent, { kind: 'inbound' }>) => ({
  message_uuid: event.messageUuid,
  channel_type: event.channelType,
  cascade_message_uuid: event.cascade?.messageUuid,
  cascade_step: event.cascade?.step,
  callback_event: callbackEventOf(event),
  external_message_id: event.externalMessageId ?? undefined,
})
