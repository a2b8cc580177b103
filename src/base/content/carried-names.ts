import type { ChannelType } from '../channel-types.ts'
import { plainName } from './bot-names.ts'

/** The setting of every connector that lists the sender names whose messages the gateway carries. */
export const SENDER_NAMES = 'senderNames'

/**
 * The setting with the gateway's own sender name. The gateway carries this name alone, unless `senderNames` lists
 * others.
 */
const namedBy: Record<string, string> = { whatsapp: 'senderName', telegram: 'botName' }

/** The settings that decide whose messages a gateway carries. */
export const NAME_SETTINGS = [SENDER_NAMES, ...Object.values(namedBy)]

/**
 * Connectors that can carry only some messages of a channel. They get the messages of the names in `senderNames` and no
 * others: the Gateway API carries verification codes, and the channel TELEGRAM has other messages, too.
 */
const onlyNamed: Record<string, ChannelType> = { 'telegram-gateway': 'TELEGRAM' }

/** Reads a list, or a text with commas between the names. */
export function namesIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? '').split(',')
  return list.map(name => String(name).trim()).filter(Boolean)
}

/** The properties of a gateway that decide whose messages it carries. */
type Carrier = { connector: string; channelType: ChannelType; settings: Record<string, unknown> }

/**
 * The sender names whose messages a gateway carries; undefined when it carries all names. A bot reaches only its own
 * chats, and a WhatsApp number sends only under its own name. So a message must not use the gateway of another name.
 */
export function carriedNames({ connector, channelType, settings }: Carrier): ReadonlySet<string> | undefined {
  const named = Object.hasOwn(namedBy, connector) ? settings[namedBy[connector]!] : undefined
  const names = [settings[SENDER_NAMES], named].map(namesIn).find(({ length }) => length > 0)
  return names || onlyNamed[connector] === channelType ? new Set((names ?? []).map(plainName)) : undefined
}
