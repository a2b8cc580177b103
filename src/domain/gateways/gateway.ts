import type { ChannelType } from '../../base/channel-types.ts'

/** One way out of the building, as it stands in the database. */
export type Gateway = {
  gatewayId: number
  name: string
  channelType: ChannelType
  connector: string
  /** Brand ids it serves; none means every one. */
  brands: number[]
  settings: Record<string, unknown>
  partsPerSecond: number | null
  paused: boolean
}

/** A field that is absent stays as it is; so does a setting that is not named, and one set to null is removed. */
export type GatewayChange = Partial<Pick<Gateway, 'name' | 'brands' | 'settings' | 'partsPerSecond' | 'paused'>>

/** What a subscriber wrote to a simulated operator. */
export type SimulatedInbound = { from: string; to: string; text: string; receivedAt: Date }
