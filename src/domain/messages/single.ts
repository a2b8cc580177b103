import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content.ts'
import type { Money } from '../../base/money.ts'
import type { ShortLink } from '../short-links/short-link.ts'
import type { NewCode } from '../verifications/verification.ts'

/** How a message came to us; those of dispatches are `DISPATCH`. */
export type SendingMethod = 'API' | 'UI' | 'VERIFIER_API' | 'VERIFIER_WIDGET'

/** Events a client may be told of. */
export const singleEvents = ['delivered', 'sent', 'read', 'price', 'click'] as const
export type SingleEvent = (typeof singleEvents)[number]

/** What the client said about when and how, kept as it was said: the message object shows it again. */
export type SingleOptions = {
  tags?: string[] | null
  ttl?: number | null
  hours?: number[] | null
  days?: number[] | null
  useLocalTime?: boolean
  localSendTime?: string | null
  localCompletionTime?: string | null
  shortUrl?: boolean
  /** Hours and days on the clock they are read on: worked out from what was said. */
  window?: { hours: number[] | null; days: number[] | null; zone: string; endAt: string | null }
  /** Of a message with a verification code: what it counts for in the statistics. */
  verification?: { verifierId: string; country: string }
}

/** A message as a client asks for it. Its form has been checked; whether it can be sent is found out here. */
export type SingleWish = {
  channelType: ChannelType
  senderName: string
  destination: string
  /** What is counted in parts, shown and searched. */
  text: string
  content: Content | null
  trafficType: TrafficType | null
  externalId: string | null
  centerId: number | null
  method: SendingMethod
  /** The API key that it came with, if any. */
  keyId?: number | undefined
  options: SingleOptions
  callbackUrl: string | null
  callbackEvents: SingleEvent[] | null
  cascade?: CascadePlace
  /** Text and content with their code, encrypted, in hex; `text` and `content` have it masked. */
  sealed?: string
  /** The code that the message, or its cascade, carries. */
  code?: NewCode
}

/**
 * A message of a cascade: its step, from 1 on, and the cascade, which is known by its first message. The first one
 * brings the whole plan along; the others are made from it when their time comes.
 */
export type CascadePlace = { step: number; uuid: string } | { step: 1; plan: CascadePlan }

/** The steps of a cascade as they were asked for, and until when each may try. The last one has no end of its own. */
export type CascadePlan = { wish: SingleWish; condition: CascadeCondition; ttlSeconds: number | null }[]

/** A cascade stands for all of its messages. */
export const stepsOf = (wish: SingleWish): SingleWish[] =>
  wish.cascade && 'plan' in wish.cascade ? wish.cascade.plan.map(step => step.wish) : [wish]

/** What lets the next step go: that this one was not delivered, or not read. */
export const cascadeConditions = ['not_delivered', 'not_read'] as const
export type CascadeCondition = (typeof cascadeConditions)[number]

/** A message of its own, outside any dispatch: routed, rendered and priced, ready to be accepted. */
export type NewSingle = {
  channelType: ChannelType
  /** None for a name that needs no registration. */
  senderId: number | null
  senderName: string
  brandId: number
  /** Place in the queues: the lower goes first, 0 for authorization codes. */
  priority: number
  destination: string
  text: string
  parts: number
  tariffId: number | null
  price: Money
  content: Content | null
  trafficType: TrafficType
  templateId: number | null
  externalId: string | null
  centerId: number | null
  method: SendingMethod
  keyId?: number | undefined
  options: SingleOptions
  callbackUrl: string | null
  callbackEvents: SingleEvent[] | null
  /** When it may go, if not at once. */
  sendAt: Date | null
  /** What has not been sent by then is not sent. */
  completeBy: Date | null
  /** When it ends if it ends early, sent or not; otherwise until when it may wait, and what was sent lives on. */
  expiresAt: Date
  /** Whether it has a ttl. */
  endsEarly: boolean
  links: Omit<ShortLink, 'messageUuid'>[]
  cascade?: CascadePlace
  /** Text and content with their code, encrypted, in hex; `text` and `content` have it masked. */
  sealed?: string
  /** The code that the message, or its cascade, carries. */
  code?: NewCode
}

/** Why a message cannot be sent; `code` is an error code of messages or one of the API's own. */
export type Refusal =
  | { kind: 'refused'; why: 'invalid' | 'no funds'; code: number; reason: string }
  /** Of verification codes alone: the subject has had too many of them. */
  | { kind: 'refused'; why: 'too many'; code: number; reason: string; subject: string; retryAfterSeconds: number }

/** What became of it at the door. */
export type Acceptance = { kind: 'accepted'; uuid: string } | Refusal
