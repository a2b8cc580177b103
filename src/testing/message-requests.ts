import type { MessageRequest } from '../domain/messages/single.ts'
import { numberOf } from './factories.ts'

/** A single message as its client wants it: plain, and at once. */
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
