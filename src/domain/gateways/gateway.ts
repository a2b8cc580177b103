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
