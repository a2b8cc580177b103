import type { ChannelType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'

/** A message of its own, outside any dispatch: routed, rendered and priced, ready to be accepted. */
export type NewSingle = {
  channelType: ChannelType
  senderId: number
  brandId: number
  /** Place in the queues: the lower goes first, 0 for authorization codes. */
  priority: number
  destination: string
  text: string
  parts: number
  tariffId: number | null
  price: Money
}

/** What became of it at the door. */
export type Acceptance = { kind: 'accepted'; uuid: string } | { kind: 'refused'; reason: string }
