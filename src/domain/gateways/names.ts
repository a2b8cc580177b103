import { plainName } from '../../base/bot-names.ts'
import type { ChannelType } from '../../base/channel-types.ts'
import type { Sql } from '../../db/sql.ts'
import type { Settings } from './gateway.ts'
import * as store from './store.ts'

/** The settings by which gateways say whose messages they carry. */
export const NAME_SETTINGS = ['senderNames', 'senderName', 'botName']

/** Tells whether a gateway of the channel carries messages of this name as its own. */
export type IsCarriedName = (channelType: ChannelType, senderName: string) => boolean

/** Which names belong to gateways of these channels. Anyone may invent other names; these are as few as staff set. */
export async function namesOfGateways(sql: Sql, channelTypes: ChannelType[]): Promise<IsCarriedName> {
  const rows = await store.selectNameSettings(sql, channelTypes, NAME_SETTINGS)
  const names = new Set(rows.flatMap(({ channelType, settings }) => namesIn(settings).map(keyOf(channelType))))
  return (channelType, senderName) => names.has(keyOf(channelType)(senderName))
}

const keyOf = (channelType: ChannelType) => (name: string) => `${channelType}/${plainName(name)}`

/** A list, or texts with commas between them. */
const namesIn = (settings: Settings): string[] =>
  Object.values(settings)
    .flatMap(value => (Array.isArray(value) ? value : String(value ?? '').split(',')))
    .map(name => String(name).trim())
    .filter(Boolean)
