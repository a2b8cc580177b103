import { plainName } from './bot-names.ts'
import type { ChannelType } from './channel-types.ts'

/** Whose messages a gateway carries: a setting that every connector has. */
export const SENDER_NAMES = 'senderNames'

/** The setting by which subscribers know a connector's gateway: it carries that name alone, unless `senderNames` says otherwise. */
const namedBy: Record<string, string> = { whatsapp: 'senderName', telegram: 'botName' }

/** The settings by which gateways say whose messages they carry. */
export const NAME_SETTINGS = [SENDER_NAMES, ...Object.values(namedBy)]

/**
 * Connectors that can carry only some of the messages of a channel, so that they get none but those of the names in
 * `senderNames`: the Gateway API carries codes, and in TELEGRAM there is more than codes.
 */
const onlyNamed: Record<string, ChannelType> = { 'telegram-gateway': 'TELEGRAM' }

/** A list, or texts with commas between them. */
export function namesIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? '').split(',')
  return list.map(name => String(name).trim()).filter(Boolean)
}

/** What says whose messages a gateway carries. */
type Carrier = { connector: string; channelType: ChannelType; settings: Record<string, unknown> }

/**
 * The sender names whose messages a gateway carries; nothing when it carries those of all. A bot reaches its own chats
 * and no other's, and a number of WhatsApp answers for itself: a message must not leave through somebody else's.
 */
export function carriedNames({ connector, channelType, settings }: Carrier): ReadonlySet<string> | undefined {
  const named = Object.hasOwn(namedBy, connector) ? settings[namedBy[connector]!] : undefined
  const names = [settings[SENDER_NAMES], named].map(namesIn).find(({ length }) => length > 0)
  return names || onlyNamed[connector] === channelType ? new Set((names ?? []).map(plainName)) : undefined
}
