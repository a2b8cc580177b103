import type { ChannelType } from '../../base/channel-types.ts'
import { plainName, spellingsOf } from '../../base/content/bot-names.ts'
import { carriedNames } from '../../base/content/carried-names.ts'
import { invalidField } from '../../base/errors.ts'
import type { Sql } from '../../db/sql.ts'
import type { Gateway } from './gateway.ts'
import * as store from './store.ts'

/**
 * The owners of names, in channels where a name needs no registration and leads to one bot, page or application. A name
 * that a gateway carries belongs to the companies that the gateway lists, and to the companies that registered it. No
 * other company may use it, even if the gateway lists no company. A name that no gateway carries is free.
 */
const ownedChannels: readonly ChannelType[] = ['TELEGRAM', 'VK', 'WEASY', 'PUSH']

export type Name = { channelType: ChannelType; senderName: string }

/** Names that a company may not use. */
export type ForeignNames = ReadonlySet<string>

export const isForeign = (names: ForeignNames, name: Name) => names.size > 0 && names.has(keyOf(name))

export const FOREIGN_NAME = 'belongs to another company'

/** The names among these that the company may not use. A request without a name of such a channel needs no statement. */
export async function foreignNames(sql: Sql, companyId: number, asked: readonly Name[]): Promise<ForeignNames> {
  const owned = asked.filter(({ channelType }) => ownedChannels.includes(channelType))
  if (owned.length === 0) return NONE
  const gateways = await store.selectGatewaysOf(sql, ownedChannels)
  const closed = owned.filter(name => {
    const owners = gateways.filter(gateway => carries(gateway, name))
    return owners.length > 0 && !owners.some(({ companies }) => companies.includes(companyId))
  })
  if (closed.length === 0) return NONE
  const registered = await registeredAmong(sql, companyId, closed)
  return new Set(closed.map(keyOf).filter(key => !registered.has(key)))
}

/** Refuses a request with a sender name of another company. `step`: the step of a cascade that has the name, from 0 on. */
export async function refuseForeignNames(sql: Sql, companyId: number, asked: (Name & { step?: number })[]) {
  const names = await foreignNames(sql, companyId, asked)
  const wrong = asked.find(name => isForeign(names, name))
  if (wrong) throw invalidField('senderName', FOREIGN_NAME, wrong.step)
}

/** Whether a name belongs to the gateway, so that only its owners may use it. */
export const ownsName = (gateway: Pick<Gateway, 'channelType' | 'connector' | 'settings'>, senderName: string) =>
  ownedChannels.includes(gateway.channelType) && carries(gateway, { channelType: gateway.channelType, senderName })

/** Every name that belongs to a gateway, as `CHANNEL name` without the sign of bots. Only staff can give such a name to a company. */
export async function ownedNames(sql: Sql): Promise<string[]> {
  const gateways = await store.selectGatewaysOf(sql, ownedChannels)
  return gateways.flatMap(({ channelType, connector, settings }) =>
    [...(carriedNames({ connector, channelType, settings }) ?? [])].map(senderName =>
      keyOf({ channelType, senderName }),
    ),
  )
}

const NONE: ForeignNames = new Set()

const keyOf = ({ channelType, senderName }: Name) => `${channelType} ${plainName(senderName)}`

const carries = (gateway: Pick<Gateway, 'channelType' | 'connector' | 'settings'>, { channelType, senderName }: Name) =>
  gateway.channelType === channelType && carriedNames(gateway)?.has(plainName(senderName)) === true

async function registeredAmong(sql: Sql, companyId: number, names: Name[]): Promise<Set<string>> {
  const channels = [...new Set(names.map(({ channelType }) => channelType))]
  const spellings = names.flatMap(({ channelType, senderName }) => spellingsOf(channelType, senderName))
  return new Set((await store.selectRegistered(sql, companyId, channels, spellings)).map(keyOf))
}
