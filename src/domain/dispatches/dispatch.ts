import type { ClientChannel, TrafficType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import type { Money } from '../../base/money.ts'

export const dispatchStatuses = ['CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] as const
export const callbackEvents = ['delivered', 'sent', 'failed'] as const

/** The events that a client of the messaging API can get callbacks for. */
export const clientEvents = ['delivered', 'sent', 'read', 'price', 'click'] as const

export type ClientEvent = (typeof clientEvents)[number]
export type DispatchStatus = (typeof dispatchStatuses)[number]
export type CallbackEvent = (typeof callbackEvents)[number]

/** Hours and days have the offset of `startAt`, because the request names no other time zone. */
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

/** The options as the client sent them. GET /dispatch and GET /message show them unchanged. */
export type DispatchOptions = {
  tags?: string[]
  hours?: number[]
  days?: number[]
  /** Times are in the zone of the subscriber, or in the zone of Moscow if this is false. */
  useLocalTime?: boolean
  localSendTime?: string
  localCompletionTime?: string
  shortUrl?: boolean
  rate?: number
  rateTerm?: string | number
}

/** A step is sent when the step before it did not meet its condition within its ttl. The last step has neither. */
export type CascadeStep = {
  channelType: ClientChannel
  senderName: string
  text: string
  content: Content | null
  condition: 'not_delivered' | 'not_read' | null
  ttl: number | null
}

/** A new dispatch of the messaging API. It has a sender name instead of sender ids, and no recipients yet. */
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
  /** All steps. Channel, sender name and text above belong to the first step. */
  cascade: CascadeStep[] | null
}

export type DispatchKey = { companyId: number; dispatchId: number }

/** The traffic type of a dispatch, and the approved template that it comes from. */
export type Purpose = { trafficType: TrafficType; templateId: number | null }

export type Dispatch = Purpose & {
  companyId: number
  dispatchId: number
  name: string
  status: DispatchStatus
  channelType: ClientChannel
  text: string
  senderIds: number[]
  /** Only in dispatches of the messaging API. */
  senderName: string | null
  centerId: number | null
  options: DispatchOptions | null
  cascade: CascadeStep[] | null
  api: 'partner' | 'messaging'
  /** From the schedule of a partner. */
  startAt: Date | null
  callbackUrl: string | null
  callbackEvents: string[] | null
  priceEstimate: Money
  /** The tariffs of its accepted messages. */
  tariffIds: number[]
  /** The sum of the prices of its CREATED messages. */
  createdPrice: Money
  messageCount: number
  firstUuid: string | null
  lastUuid: string | null
  createdAt: Date
  startedAt: Date | null
  /** The time of a stop by the messaging API. Such a dispatch cannot be started again. */
  endedAt: Date | null
  currency: string
}

type Counts = { total: number; delivered: number; failed: number; pending: number }

/** The progress of a dispatch, in messages and in parts. */
export type Progress = { messages: Counts; parts: Counts }

type ClientCounts = {
  total: number
  delivered: number
  undelivered: number
  unsent: number
  sent: number
  sending: number
}

/** The progress in the terms of the messaging API: FAILED messages are `undelivered` if they were sent, else `unsent`. */
export type ClientProgress = { messages: ClientCounts; parts: ClientCounts }

export type Recipient = {
  destination: string
  substitutions?: Record<string, string | number | boolean | null>
  customText?: string | null
}

export const MOST_RECIPIENTS = 100_000
/** Limit of a text before substitution. No longer text can be sent, and rendering it would take too long. */
export const MOST_TEMPLATE_CHARACTERS = 10_000
export const MOST_PARTS = 10
