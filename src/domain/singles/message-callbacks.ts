import type { ChannelType } from '../../base/channel-types.ts'
import type { Transaction } from '../../db/sql.ts'
import { enqueueMessagingCallbacks, type MessagingEvent } from '../callbacks/callbacks.ts'
import { callbackEventOf } from '../callbacks/messaging-event.ts'

/** The fields of a message that a callback needs. */
export type CallbackFields = {
  uuid: string
  channelType: ChannelType
  externalId: string | null
  callbackUrl: string | null
  callbackEvents: string[] | null
  cascadeUuid: string | null
  cascadeStep: number | null
}

type EventKind =
  | {
      kind: 'status'
      status: Extract<MessagingEvent, { kind: 'status' }>['status']
      errorCode?: number | null
      at: Date
    }
  | Pick<Extract<MessagingEvent, { kind: 'price' }>, 'kind' | 'parts' | 'price' | 'currency' | 'at'>
  | Pick<Extract<MessagingEvent, { kind: 'click' }>, 'kind' | 'url' | 'shortUrl' | 'at'>

export type EventOfMessage = { of: CallbackFields; what: EventKind }

/** Writes callbacks for events, in their order, for clients that requested them. */
export async function enqueueEvents(
  sql: Transaction,
  companyId: number,
  events: EventOfMessage[],
  now: Date,
): Promise<void> {
  const requested = events.flatMap(({ of, what }) => {
    const event = eventOf(of, what)
    return of.callbackUrl && of.callbackEvents?.includes(callbackEventOf(event)) ? [{ url: of.callbackUrl, event }] : []
  })
  await enqueueMessagingCallbacks(sql, companyId, requested, now)
}

const eventOf = (of: CallbackFields, what: EventKind): MessagingEvent => ({
  ...what,
  messageUuid: of.uuid,
  channelType: of.channelType,
  externalMessageId: of.externalId,
  cascade: of.cascadeUuid && of.cascadeStep !== null ? { messageUuid: of.cascadeUuid, step: of.cascadeStep } : null,
})
