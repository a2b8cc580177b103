import type { ClientChannel, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content.ts'
import type { Money } from '../../base/money.ts'

export const dispatchStatuses = ['CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] as const
export const callbackEvents = ['delivered', 'sent', 'failed'] as const

/** What clients of the messaging API may be told of. */
export const clientEvents = ['delivered', 'sent', 'read', 'price', 'click'] as const

export type ClientEvent = (typeof clientEvents)[number]
export type DispatchStatus = (typeof dispatchStatuses)[number]
export type CallbackEvent = (typeof callbackEvents)[number]

/** Hours and days are read at the offset that startAt carried: it is the caller's only word about zones. */
export type Schedule = { startAt: Date; offsetMinutes: number; hours: number[]; days: number[] }

export type NewDispatch = {
  name: string
  channelType: ClientChannel
  text: string
  senderIds: number[]
  schedule: Schedule | undefined
  callbackUrl: string | undefined
  callbackEvents: CallbackEvent[] | undefined
}

/** What the client said about when and how, kept as it was said: GET /dispatch and GET /message show it again. */
export type DispatchOptions = {
  tags?: string[]
  hours?: number[]
  days?: number[]
  /** By the subscriber's clock, unless false: then by Moscow's. */
  useLocalTime?: boolean
  localSendTime?: string
  localCompletionTime?: string
  shortUrl?: boolean
  rate?: number
  rateTerm?: string | number
}

/** A way to reach a recipient, tried when the one before has not met its condition in time. The last has neither. */
export type CascadeStep = {
  channelType: ClientChannel
  senderName: string
  text: string
  content: Content | null
  condition: 'not_delivered' | 'not_read' | null
  ttl: number | null
}

/** A dispatch of the messaging API: a name in place of senders, and no recipients yet. */
export type ClientDispatch = {
  name: string
  channelType: ClientChannel
  senderName: string
  text: string
  centerId: number | null
  partsPerSecond: number | null
  options: DispatchOptions
  callbackUrl: string | null
  callbackEvents: ClientEvent[] | null
  /** All steps; the channel, name and text above are the first one's. */
  cascade: CascadeStep[] | null
}

/** What a dispatch is about, and the approved template that says so. */
export type About = { trafficType: TrafficType; templateId: number | null }

export type Dispatch = About & {
  companyId: number
  dispatchId: number
  name: string
  status: DispatchStatus
  channelType: ClientChannel
  text: string
  senderIds: number[]
  /** Of the messaging API's. */
  senderName: string | null
  centerId: number | null
  options: DispatchOptions | null
  cascade: CascadeStep[] | null
  api: 'partner' | 'messaging'
  /** What a partner's schedule says first. */
  startAt: Date | null
  callbackUrl: string | null
  callbackEvents: string[] | null
  priceEstimate: Money
  /** The tariffs its messages were accepted under. */
  tariffIds: number[]
  /** The sum of the prices of what is still CREATED. */
  createdPrice: Money
  messageCount: number
  firstUuid: string | null
  lastUuid: string | null
  createdAt: Date
  startedAt: Date | null
  /** When it was stopped for good. */
  endedAt: Date | null
  currency: string
}

type Counts = { total: number; delivered: number; failed: number; pending: number }

/** How far a dispatch has come, in messages and in parts. */
export type Progress = { messages: Counts; parts: Counts }

type Fates = { total: number; delivered: number; undelivered: number; unsent: number; sent: number; sending: number }

/** The same in the messaging API's words: what failed is told apart by whether it had been sent. */
export type ClientProgress = { messages: Fates; parts: Fates }

export type Recipient = {
  destination: string
  substitutions?: Record<string, string | number | boolean | null>
  customText?: string | null
}

export const MOST_RECIPIENTS = 100_000
/** Of the text before substitution: enough for any that could be sent, too few to keep the processor busy. */
export const MOST_TEMPLATE_CHARACTERS = 10_000
export const MOST_PARTS = 10
