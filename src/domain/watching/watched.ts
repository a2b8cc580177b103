import type { ClientChannel } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { DispatchStatus } from '../dispatches/dispatch.ts'
import type { MessageStatus } from '../messages/message.ts'

/** The messages of a dispatch by status. `unsent` counts the failed messages that no operator accepted. */
export type Counts = { waiting: number; sent: number; delivered: number; failed: number; unsent: number }

/** The fields that change while a dispatch runs. */
export type LiveDispatch = Counts & { dispatchId: number; status: DispatchStatus }

/** A dispatch in the list of the cabinet. */
export type WatchedDispatch = LiveDispatch & {
  companyId: number
  companyName: string
  currency: string
  name: string
  channelType: ClientChannel
  /** The channels of the steps of a cascade. */
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

/** A page begins after or before a dispatch of the last page, so a deep page costs as much as the first page. */
export type Place = { olderThan: number } | { newerThan: number } | undefined

/** The messages of a dispatch with the same operator, status and error code. */
export type Share = {
  brandId: number
  status: MessageStatus
  errorCode: number | null
  wasSent: boolean
  messages: number
  price: Money
  finalPrice: Money
}
