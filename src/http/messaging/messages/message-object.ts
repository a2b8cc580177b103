import Type from 'typebox'
import { allChannelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { type Money, moneyToNumber } from '../../../base/money.ts'
import { countryNameOf } from '../../../base/phone/countries.ts'
import { moscowTime } from '../../../base/time/local-time.ts'
import { withoutPassword } from '../../../domain/callbacks/callback.ts'
import { countryOf } from '../../../domain/message-search/country.ts'
import {
  createdAt,
  type DispatchHours,
  directions,
  type FoundMessage,
  type MessageOptions,
  readingOf,
  sendingMethods,
  statusTimeOf,
  statusWordOf,
  statusWords,
} from '../../../domain/message-search/found-message.ts'
import { brandOf } from '../../../domain/numbering/brand.ts'
import type { Numbering } from '../../../domain/numbering/numbering.ts'
import { Answer, DateTime, Nullable, OneOf } from '../../schemas.ts'

const Text = Nullable(Type.String())
const Whole = Nullable(Type.Integer())
const Time = Nullable(DateTime)
const NullableOneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number] | null>({ type: ['string', 'null'], enum: [...values, null] })
const NullableList = <T extends 'string' | 'integer'>(type: T) =>
  Type.Unsafe<(T extends 'string' ? string : number)[] | null>({ type: ['array', 'null'], items: { type } })
const AnyObject = Type.Unsafe<unknown>({ type: ['object', 'null'] })

/** All keys are always present, null if unset. */
export const MessageObject = Answer({
  createdTime: DateTime,
  channelType: OneOf(allChannelTypes),
  direction: OneOf(directions),
  sendingMethod: NullableOneOf(sendingMethods),
  trafficType: NullableOneOf(trafficTypes),
  templateId: Whole,
  dispatchId: Whole,
  messageUuid: Type.String({ format: 'uuid' }),
  externalMessageId: Text,
  trafficCenterId: Whole,
  senderName: Text,
  destination: Type.String({ description: 'The subscriber, of an inbound message too' }),
  brand: Nullable(Type.String({ description: 'MTS, BEELINE, MEGAFON, TELE2, or the name of another operator' })),
  country: Text,
  region: Text,
  content: Nullable(Type.String({ description: 'The text' })),
  specialContent: AnyObject,
  tags: NullableList('string'),
  ttl: Whole,
  hours: NullableList('integer'),
  days: NullableList('integer'),
  localSendTime: Text,
  localCompletionTime: Text,
  useLocalTime: Nullable(Type.Boolean()),
  callbackEvents: NullableList('string'),
  callbackUrl: Nullable(Type.String({ description: 'With `***` in place of a password' })),
  shortUrl: Nullable(Type.Boolean()),
  totalParts: Type.Integer(),
  price: Answer({
    totalPrice: Type.Number(),
    currency: Type.String(),
    invoicedParts: Type.Integer(),
    final: Type.Boolean({ description: 'False as long as the price can change' }),
  }),
  sentTime: Time,
  statusTime: DateTime,
  status: OneOf(statusWords),
  readStatus: NullableOneOf(['read', 'unread']),
  readStatusTime: Time,
  cascadeMessageUuid: Nullable(Type.String({ format: 'uuid' })),
  cascadeStep: Whole,
  errorCode: Whole,
})

export function presentMessage(message: FoundMessage, numbering: Numbering, now: Date) {
  const reading = readingOf(message, now)
  return {
    createdTime: createdAt(message).toISOString(),
    channelType: message.channelType,
    direction: message.direction,
    sendingMethod: message.method,
    trafficType: message.trafficType,
    templateId: message.templateId,
    dispatchId: message.dispatchId,
    messageUuid: message.uuid,
    externalMessageId: message.externalId,
    trafficCenterId: message.centerId,
    senderName: message.senderName,
    destination: message.destination,
    ...placeOf(message, numbering),
    content: message.text,
    specialContent: specialContentOf(message),
    ...presentOptions(message),
    callbackEvents: message.callbackEvents,
    callbackUrl: message.callbackUrl && withoutPassword(message.callbackUrl),
    totalParts: message.parts ?? 1,
    price: priceOf(message),
    sentTime: message.sentAt?.toISOString() ?? null,
    statusTime: statusTimeOf(message).toISOString(),
    status: statusWordOf(message),
    readStatus: reading?.word ?? null,
    readStatusTime: reading?.at.toISOString() ?? null,
    cascadeMessageUuid: message.cascadeUuid,
    cascadeStep: message.cascadeStep,
    errorCode: message.errorCode,
  }
}

/** The brand that the message was routed and billed by. The number may have moved to another brand since. */
function placeOf({ destination, brandId }: FoundMessage, numbering: Numbering) {
  const code = countryOf(destination)
  const place = code === 'RU' ? numbering.lookup(destination) : undefined
  return {
    brand: brandOf(brandId ?? place?.brandId ?? 0) ?? place?.operator ?? null,
    country: (code && countryNameOf(code)) ?? null,
    region: place?.region ?? null,
  }
}

/** Inbound messages always have a content. Outbound messages have one if it is more than the text. */
function specialContentOf({ direction, content, text }: FoundMessage) {
  if (!content) return direction === 'inbound' ? { contentType: 'text', text } : null
  const { template: _, ...said } = content as Record<string, unknown> // added by the service, not given by the client
  return said
}

function presentOptions(message: FoundMessage) {
  const options: MessageOptions = message.options ?? (message.dispatchId === null ? {} : dispatchOptions(message))
  return {
    tags: options.tags ?? null,
    ttl: options.ttl ?? null,
    hours: options.hours ?? null,
    days: options.days ?? null,
    localSendTime: options.localSendTime ?? null,
    localCompletionTime: options.localCompletionTime ?? null,
    useLocalTime: message.direction === 'inbound' ? null : (options.useLocalTime ?? true),
    shortUrl: message.direction === 'inbound' ? null : (options.shortUrl ?? false),
  }
}

/** A dispatch of the partner API shows its start in the time zone of Moscow, as in GET /dispatch. */
const dispatchOptions = ({ startAt, hours, days }: DispatchHours): MessageOptions => ({
  hours,
  days,
  useLocalTime: false,
  localSendTime: startAt && moscowTime(startAt),
})

/** Before the message is final, the price is the hold for all parts. If the final price is 0, no part is invoiced. */
function priceOf({ price, finalPrice, parts, currency, direction }: FoundMessage) {
  const final: Money | null = direction === 'inbound' ? 0n : finalPrice
  return {
    totalPrice: moneyToNumber(final ?? price ?? 0n),
    currency,
    invoicedParts: final === null || final > 0n ? (parts ?? 1) : 0,
    final: final !== null,
  }
}
