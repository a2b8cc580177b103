import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import type { Money } from '../../base/money.ts'
import type { ShortLink } from '../short-links/short-link.ts'
import type { NewCode } from '../verifications/verification.ts'

/** How a message was submitted. Messages of dispatches have `DISPATCH`. */
export type SendingMethod = 'API' | 'UI' | 'VERIFIER_API' | 'VERIFIER_WIDGET'

/** The events that a client can get callbacks for. */
export const singleEvents = ['delivered', 'sent', 'read', 'price', 'click'] as const
export type SingleEvent = (typeof singleEvents)[number]

/** The options of a message as the client gave them. The message object shows them again. */
export type SingleOptions = {
  tags?: string[] | null
  ttl?: number | null
  hours?: number[] | null
  days?: number[] | null
  useLocalTime?: boolean
  localSendTime?: string | null
  localCompletionTime?: string | null
  shortUrl?: boolean
  /** The hours and days in the time zone that they hold in, computed from the other options. */
  window?: { hours: number[] | null; days: number[] | null; zone: string; endAt: string | null }
  /** Of a message with a verification code: the verifier and country of its statistics. */
  verification?: { verifierId: string; country: string }
}

/** A message as a client requests it. Its form is valid. Whether it can be sent is not checked yet. */
export type MessageRequest = {
  channelType: ChannelType
  senderName: string
  destination: string
  /** The text that is counted in parts, shown and searched. */
  text: string
  content: Content | null
  trafficType: TrafficType | null
  externalId: string | null
  centerId: number | null
  method: SendingMethod
  /** The API key of the request, if any. */
  keyId?: number | undefined
  options: SingleOptions
  callbackUrl: string | null
  callbackEvents: SingleEvent[] | null
  cascade?: CascadePlace
  /** Text and content with the code, encrypted, in hex. In `text` and `content` the code is masked. */
  sealed?: string
  /** The code that the message, or its cascade, carries. */
  code?: NewCode
}

/**
 * The place of a message in a cascade: its step, from 1 on, and the cascade, whose uuid is the uuid of its first message. The
 * first message has the plan of the whole cascade. The engine creates the later messages from the plan.
 */
export type CascadePlace = { step: number; uuid: string } | { step: 1; plan: CascadePlan }

/** The steps of a cascade as the client requested them, and how long each may take. The last step has no `ttlSeconds`. */
export type CascadePlan = { request: MessageRequest; condition: CascadeCondition; ttlSeconds: number | null }[]

/** The messages of a request: all steps of a cascade, or the message itself. */
export const stepsOf = (request: MessageRequest): MessageRequest[] =>
  request.cascade && 'plan' in request.cascade ? request.cascade.plan.map(step => step.request) : [request]

/** The condition for the next step: this step was not delivered, or not read. */
export const cascadeConditions = ['not_delivered', 'not_read'] as const
export type CascadeCondition = (typeof cascadeConditions)[number]

/** A single message, which belongs to no dispatch, with its sender, text, schedule and price. */
export type NewSingle = {
  channelType: ChannelType
  /** Null for a name that needs no registration. */
  senderId: number | null
  senderName: string
  brandId: number
  /** Its priority in the queues. The lowest goes first; authorization codes have 0. */
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
  /** The moment of sending, if the message has to wait. */
  sendAt: Date | null
  /** The message is not sent after this moment. */
  completeBy: Date | null
  /** With a ttl, the moment at which the message ends, sent or not. Otherwise the latest moment of sending. */
  expiresAt: Date
  /** Whether it has a ttl. */
  endsEarly: boolean
  links: Omit<ShortLink, 'messageUuid'>[]
  cascade?: CascadePlace
  /** Text and content with the code, encrypted, in hex. In `text` and `content` the code is masked. */
  sealed?: string
  /** The code that the message, or its cascade, carries. */
  code?: NewCode
}

/** Why a message is not accepted. */
export type Refusal =
  | {
      kind: 'refused'
      why: 'invalid'
      /** The field of the message request. */
      field?: string
      /** The step of a cascade that is wrong, from 0 on. */
      step?: number
      reason: string
      /** The error code that the message gets if it is kept as FAILED. */
      errorCode?: number
    }
  | { kind: 'refused'; why: 'no funds'; reason: string }
  /** Only verification codes: the number, address or prefix `subject` has requested too many. */
  | { kind: 'refused'; why: 'too many'; reason: string; subject: string; retryAfterSeconds: number }

export type Acceptance = { kind: 'accepted'; uuid: string } | Refusal

/** The uuids of the accepted messages. */
export const acceptedIn = (answers: Acceptance[]): string[] =>
  answers.flatMap(answer => (answer.kind === 'accepted' ? answer.uuid : []))
