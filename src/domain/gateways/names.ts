import type { ChannelType } from '../../base/channel-types.ts'
import { plainName } from '../../base/content/bot-names.ts'
import { NAME_SETTINGS, namesIn } from '../../base/content/carried-names.ts'
import type { Sql } from '../../db/sql.ts'
import * as store from './store.ts'

/** Whether the name belongs to a gateway of the channel. */
export type IsNameOfGateway = (channelType: ChannelType, senderName: string) => boolean

/** Reads the names that belong to gateways of these channels. Staff set them, so they are few. */
export async function namesOfGateways(sql: Sql, channelTypes: ChannelType[]): Promise<IsNameOfGateway> {
  const rows = await store.selectNameSettings(sql, channelTypes, NAME_SETTINGS)
  const names = new Set(
    rows.flatMap(({ channelType, settings }) => Object.values(settings).flatMap(namesIn).map(keyOf(channelType))),
  )
  return (channelType, senderName) => names.has(keyOf(channelType)(senderName))
}

const keyOf = (channelType: ChannelType) => (name: string) => `${channelType}/${plainName(name)}`
