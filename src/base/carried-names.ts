import { plainName } from './bot-names.ts'

/** Whose messages a gateway carries: a setting that every connector has. */
export const SENDER_NAMES = 'senderNames'

/** The setting by which subscribers know a connector's gateway: it carries that name alone, unless `senderNames` says otherwise. */
const namedBy: Record<string, string> = { whatsapp: 'senderName', telegram: 'botName' }

/** The settings by which gateways say whose messages they carry. */
export const NAME_SETTINGS = [SENDER_NAMES, ...Object.values(namedBy)]

/** Connectors that can carry only some kinds of messages, so that they get none but those of the names in `senderNames`. */
const onlyNamed = ['telegram-gateway']

/** A list, or texts with commas between them. */
export function namesIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? '').split(',')
  return list.map(name => String(name).trim()).filter(Boolean)
}

/**
 * The sender names whose messages a gateway carries; nothing when it carries those of all. A bot reaches its own chats
 * and no other's, and a number of WhatsApp answers for itself: a message must not leave through somebody else's.
 */
export function carriedNames(connector: string, settings: Record<string, unknown>): ReadonlySet<string> | undefined {
  const named = Object.hasOwn(namedBy, connector) ? settings[namedBy[connector]!] : undefined
  const names = [settings[SENDER_NAMES], named].map(namesIn).find(({ length }) => length > 0)
  return names || onlyNamed.includes(connector) ? new Set((names ?? []).map(plainName)) : undefined
}
