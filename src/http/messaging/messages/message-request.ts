import Type, { type TSchema } from 'typebox'
import { type ChannelType, channelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { type MessageRequest, singleEvents } from '../../../domain/messages/single.ts'
import { OneOf } from '../../schemas.ts'
import type { Caller } from '../auth.ts'
import { checkerOf } from '../check.ts'
import { ContentSchema, readContent } from '../content/content.ts'

/** `null` means absent, because clients send null for fields that they have not set. */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Unsafe<Type.Static<T> | null>({ anyOf: [schema, { type: 'null' }] }))

const EMPTY = 'An empty array is as good as absent'
const Hours = Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), { uniqueItems: true, description: EMPTY })
const Days = Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), { uniqueItems: true, description: EMPTY })
const LocalTime = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
  description: 'a time as YYYY-MM-DD hh:mm:ss',
})

/** The schedule and other options that single messages, cascades and dispatches share. */
export const scheduleFields = {
  useLocalTime: Maybe(Type.Boolean()),
  localSendTime: Maybe(LocalTime),
  localCompletionTime: Maybe(LocalTime),
  hours: Maybe(Hours),
  days: Maybe(Days),
}

export const tellingFields = {
  tags: Maybe(
    Type.Array(Type.String({ pattern: '^[\\p{L}\\p{N}_]{1,100}$', description: 'letters, digits and _' }), {
      maxItems: 100,
      description: EMPTY,
    }),
  ),
  shortUrl: Maybe(Type.Boolean()),
  callbackUrl: Maybe(Type.String({ format: 'uri', maxLength: 2048 })),
  callbackEvents: Maybe(Type.Array(OneOf(singleEvents))),
  externalMessageId: Maybe(Type.String({ minLength: 1, maxLength: 100 })),
  trafficType: Maybe(OneOf(trafficTypes)),
}

export const SenderName = Type.String({ minLength: 1, maxLength: 64 })
export const Destination = Type.String({ minLength: 1, maxLength: 64 })

/** The lowest value depends on the channel. `refusalOf` checks both bounds. */
export const Ttl = Type.Integer({ description: '60 to 86400 seconds; of VOICECODE and FLASHCALL 30 to 86400' })

const MessageSchema = Type.Object({
  channelType: OneOf(channelTypes),
  senderName: SenderName,
  destination: Destination,
  content: ContentSchema,
  ttl: Maybe(Ttl),
  ...scheduleFields,
  ...tellingFields,
})

/** A message in the form of the API. */
export type MessageForm = Type.Static<typeof MessageSchema>

export const Message = MessageSchema

/** The owner of the message. */
export type From = Pick<Caller, 'trafficCenterId'> & Pick<Partial<MessageRequest>, 'method' | 'keyId'>

const check = checkerOf(MessageSchema, '')
const LEAST_TTL: Partial<Record<ChannelType, number>> = { VOICECODE: 30, FLASHCALL: 30 }
const USUAL_LEAST_TTL = 60
const MOST_TTL = 86_400

/** The message request of a client, or its mistake. */
export function readMessageRequest(value: unknown, caller: From): MessageRequest | string {
  const wrong = check(value)
  if (wrong) return wrong
  const form = value as MessageForm
  return refusalOf(form) ?? messageRequestOf(form, caller)
}

export function refusalOf({ channelType, senderName, ttl }: Pick<MessageForm, 'channelType' | 'senderName' | 'ttl'>) {
  const leastTtl = LEAST_TTL[channelType] ?? USUAL_LEAST_TTL
  if (typeof ttl === 'number' && (ttl < leastTtl || ttl > MOST_TTL)) return `ttl: must be ${leastTtl} to ${MOST_TTL}`
  if (channelType === 'VOICECODE' && senderName.toLowerCase() !== 'voicecode') return 'senderName: must be voicecode'
  if (channelType === 'TEXT_TO_SPEECH' && !/^\d{11}$/.test(senderName))
    return 'senderName: must be a number of 11 digits'
}

function messageRequestOf(form: MessageForm, caller: From): MessageRequest | string {
  const said = readContent(form.channelType, form.content)
  if (typeof said === 'string') return said
  return {
    ...said,
    channelType: form.channelType,
    senderName: form.senderName,
    destination: form.destination,
    trafficType: form.trafficType ?? null,
    externalId: form.externalMessageId ?? null,
    centerId: caller.trafficCenterId,
    method: caller.method ?? 'API',
    keyId: caller.keyId,
    options: optionsOf(form),
    callbackUrl: form.callbackUrl ?? null,
    callbackEvents: form.callbackUrl ? eventsOf(form.callbackEvents) : null,
  }
}

/** Without `callbackEvents` the client gets callbacks for the end of the message. An empty list means no callbacks. */
export const eventsOf = <T extends string>(events: T[] | null | undefined): (T | 'delivered')[] =>
  events && events.length > 0 ? [...new Set(events)] : ['delivered']

/** The options of the client. Options that the client did not give are left out. */
export function optionsOf(form: Partial<MessageForm>): MessageRequest['options'] {
  const { tags, ttl, hours, days, localSendTime, localCompletionTime } = form
  const given = onlySet({ tags, ttl, hours, days, localSendTime, localCompletionTime })
  return { ...given, useLocalTime: form.useLocalTime ?? true, shortUrl: form.shortUrl ?? false }
}

/** The members that the client set. Public clients send `[]` for an unset list. */
export function onlySet<T extends object>(members: T) {
  const set: { [Name in keyof T]?: NonNullable<T[Name]> } = {}
  for (const name in members) {
    const value = members[name]
    if (isSet(value)) set[name] = value
  }
  return set
}

const isSet = <T>(value: T): value is NonNullable<T> =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
