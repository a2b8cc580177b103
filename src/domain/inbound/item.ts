import { countryNameOf } from '../../base/phone/countries.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { InboundItem } from '../callbacks/messaging-event.ts'
import { countryOf } from '../message-search/country.ts'
import { brandOf } from '../numbering/brand.ts'
import type { Numbering } from '../numbering/numbering.ts'
import type { StoredInbound } from './store.ts'

/**
 * An inbound message with the keys of `GET /message` of the messaging API. Keys that only outbound messages use are
 * null. A test compares the two.
 */
export function inboundItem(
  message: StoredInbound,
  currency: string,
  numbering: Pick<Numbering, 'lookup'> | undefined,
): InboundItem {
  const sentTime = message.receivedAt.toISOString()
  return {
    createdTime: timeOfUuid7(message.uuid).toISOString(),
    channelType: message.channelType,
    direction: 'inbound',
    sendingMethod: null,
    trafficType: null,
    templateId: null,
    dispatchId: null,
    messageUuid: message.uuid,
    externalMessageId: null,
    trafficCenterId: message.centerId,
    senderName: message.senderName,
    destination: message.destination,
    ...placeOf(message.destination, numbering),
    content: message.text,
    specialContent: { contentType: 'text', text: message.text },
    tags: null,
    ttl: null,
    hours: null,
    days: null,
    localSendTime: null,
    localCompletionTime: null,
    useLocalTime: null,
    shortUrl: null,
    callbackEvents: null,
    callbackUrl: null,
    totalParts: 1,
    price: { totalPrice: 0, currency, invoicedParts: 0, final: true },
    sentTime,
    statusTime: sentTime,
    status: 'inbound_sent',
    readStatus: null,
    readStatusTime: null,
    cascadeMessageUuid: null,
    cascadeStep: null,
    errorCode: null,
  }
}

/** Without a numbering plan, brand and region are null. */
function placeOf(destination: string, numbering: Pick<Numbering, 'lookup'> | undefined) {
  const code = countryOf(destination)
  const place = code === 'RU' ? numbering?.lookup(destination) : undefined
  return {
    brand: place ? (brandOf(place.brandId) ?? place.operator) : null,
    country: (code && countryNameOf(code)) ?? null,
    region: place?.region ?? null,
  }
}
