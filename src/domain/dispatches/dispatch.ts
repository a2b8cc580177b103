import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'

export const dispatchStatuses = ['CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] as const
export const callbackEvents = ['delivered', 'sent', 'failed'] as const

export type DispatchStatus = (typeof dispatchStatuses)[number]
export type CallbackEvent = (typeof callbackEvents)[number]

/** Hours and days are read at the offset that startAt carried: it is the caller's only word about zones. */
export type Schedule = { startAt: Date; offsetMinutes: number; hours: number[]; days: number[] }

export type NewDispatch = {
  name: string
  channelType: ChannelType
  text: string
  senderIds: number[]
  schedule: Schedule | undefined
  callbackUrl: string | undefined
  callbackEvents: CallbackEvent[] | undefined
}

export type Dispatch = {
  companyId: number
  dispatchId: number
  name: string
  status: DispatchStatus
  channelType: ChannelType
  trafficType: TrafficType
  text: string
  senderIds: number[]
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
  currency: string
}

type Counts = { total: number; delivered: number; failed: number; pending: number }

/** How far a dispatch has come, in messages and in parts. */
export type Progress = { messages: Counts; parts: Counts }

export type Recipient = {
  destination: string
  substitutions?: Record<string, string | number | boolean | null>
  customText?: string | null
}

export const MOST_RECIPIENTS = 100_000
/** Of the text before substitution: enough for any that could be sent, too few to keep the processor busy. */
export const MOST_TEMPLATE_CHARACTERS = 10_000
export const MOST_PARTS = 10
