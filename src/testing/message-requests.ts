import type { MessageRequest } from '../domain/messages/single.ts'
import { numberOf } from './factories.ts'

/** The request of a plain single message, sent at once. */
export const aMessageRequest = (given: Partial<MessageRequest> = {}): MessageRequest => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: numberOf.MTS,
  text: 'Hello',
  content: null,
  trafficType: null,
  externalId: null,
  centerId: null,
  method: 'API',
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  ...given,
})
