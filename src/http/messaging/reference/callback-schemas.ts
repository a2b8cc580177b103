import Type, { type TSchema } from 'typebox'
import { allChannelTypes } from '../../../base/channel-types.ts'
import { Answer, DateTime, OneOf } from '../../schemas.ts'
import { MessageObject } from '../messages/message-object.ts'

/** The events of callbacks to `callbackUrl` and to the URLs of inbound rules, for the reference. */

const Uuid = Type.String({ format: 'uuid' })
const Whole = Type.Integer()

const named = <T extends string>(event: T) => ({
  message_uuid: Uuid,
  channel_type: OneOf(allChannelTypes),
  callback_event: Type.Unsafe<T>({ type: 'string', const: event }),
})

const ofMessage = <T extends string>(event: T) => ({
  ...named(event),
  external_message_id: Type.Optional(Type.String({ description: 'As it was given' })),
  cascade_message_uuid: Type.Optional(Type.String({ format: 'uuid', description: 'The first message of its cascade' })),
  cascade_step: Type.Optional(Type.Integer({ minimum: 1 })),
})

const status = (statuses: string[]) => ({ status: OneOf(statuses), status_time: DateTime })

/** By the name of the event in `callbackEvents`. */
export const callbackSchemas: Record<string, TSchema> = {
  sent: Answer({ ...ofMessage('sent'), ...status(['sent']) }),
  delivered: Answer({
    ...ofMessage('delivered'),
    ...status(['delivered', 'undelivered', 'unsent']),
    error_code: Type.Optional(Type.Integer({ description: 'A code of GET /references/error-codes' })),
  }),
  read: Answer({ ...ofMessage('read'), ...status(['read', 'unread']) }),
  price: Answer({
    ...ofMessage('price'),
    parts: Whole,
    price: Type.Number(),
    currency: Type.String({ description: 'ISO 4217' }),
    price_time: DateTime,
  }),
  click: Answer({ ...ofMessage('click'), url: Type.String(), short_url: Type.String(), click_time: DateTime }),
  inbound_sent: Answer({ ...named('inbound_sent'), ...status(['inbound_sent']), item: MessageObject }),
}

export const callbackWords = {
  operationId: 'receiveEvents',
  summary: 'Messages changed, or a subscriber wrote',
  description:
    'Sent to `callbackUrl` of messages and dispatches, and to the addresses of inbound rules. The body is an array of ' +
    'up to 100 events, of several kinds and messages.',
  example: [
    {
      message_uuid: '01a1ddc9-5d43-75d6-92c4-0cba6653d834',
      channel_type: 'SMS',
      callback_event: 'delivered',
      external_message_id: 'order-17',
      status: 'delivered',
      status_time: '2026-11-15T02:24:09.304Z',
    },
  ],
}
