import type { ClientChannel } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import type { MessageStatus } from '../messages/message.ts'

/** How many messages of a dispatch are where. `unsent` is the part of `failed` that no operator has taken. */
export type Counts = { waiting: number; sent: number; delivered: number; failed: number; unsent: number }

/** What changes while a dispatch runs. */
export type LiveDispatch = Counts & { dispatchId: number; status: DispatchStatus }

/** A dispatch as the list shows it. */
export type WatchedDispatch = LiveDispatch & {
  companyId: number
  companyName: string
  currency: string
  name: string
  channelType: ClientChannel
  /** Of each step of a cascade. */
  cascadeChannels: ClientChannel[] | null
  priceEstimate: Money
  createdAt: Date
  startAt: Date | null
  startedAt: Date | null
  completedAt: Date | null
  endedAt: Date | null
}

export type DispatchFilter = {
  status?: DispatchStatus | undefined
  channelType?: ClientChannel | undefined
  /** A part of the name, or the whole id. */
  search?: string | undefined
  createdFrom?: Date | undefined
  createdBefore?: Date | undefined
}

/** Lists go on behind, or before, a dispatch that was shown: a deep page costs as much as the first. */
export type Place = { olderThan: number } | { newerThan: number } | undefined

/** Messages of a dispatch that share operator, status and reason. */
export type Share = {
  brandId: number
  status: MessageStatus
  errorCode: number | null
  wasSent: boolean
  messages: number
  price: Money
  finalPrice: Money
}
