import { allChannelTypes, type ChannelType } from '../base/channel-types.ts'
import { namesIn, SENDER_NAMES } from '../base/content/carried-names.ts'
import type { ConnectorDescription } from '../base/setting-fields.ts'
import { type ConnectorName, connectorNames } from './connector-names.ts'
import { fieldsOf } from './fields.ts'
import { secretSettings as httpSecrets, readSettings as readHttp } from './http/settings.ts'
import { secretSettings as pushSecrets, readSettings as readPush } from './push/settings.ts'
import { flag, type RawSettings, whole, wrongSetting } from './settings.ts'
import { readSettings as readSmpp, secretSettings as smppSecrets } from './smpp/settings.ts'
import { botSecrets, gatewaySecrets, readBotSettings, readGatewaySettings } from './telegram/settings.ts'
import { readSettings as readWhatsapp, secretSettings as whatsappSecrets } from './whatsapp/settings.ts'

/** A connector, as far as it is known without a connection. */
export type ConnectorEntry = {
  /** The channels that it can serve. */
  channels: readonly ChannelType[]
  /** The settings that are stored encrypted and never shown. */
  secrets: readonly string[]
  /** Throws an error with the name of the wrong setting. The error never contains a value. */
  check(settings: RawSettings): void
  /** The provider sends receipts and inbound messages to a webhook. */
  hasWebhook: boolean
}

export const catalogue = {
  simulator: { channels: allChannelTypes, secrets: [], check: checkSimulator, hasWebhook: false },
  smpp: { channels: ['SMS'], secrets: smppSecrets, check: strictly('smpp', readSmpp), hasWebhook: false },
  whatsapp: {
    channels: ['WHATSAPP'],
    secrets: whatsappSecrets,
    check: strictly('whatsapp', readWhatsapp),
    hasWebhook: true,
  },
  telegram: {
    channels: ['TELEGRAM'],
    secrets: botSecrets,
    check: strictly('telegram', readBotSettings),
    hasWebhook: true,
  },
  'telegram-gateway': {
    channels: ['TELEGRAM_GATEWAY', 'TELEGRAM'],
    secrets: gatewaySecrets,
    check: strictly('telegram-gateway', readGatewaySettings),
    hasWebhook: true,
  },
  http: { channels: allChannelTypes, secrets: httpSecrets, check: strictly('http', readHttp), hasWebhook: true },
  push: { channels: ['PUSH'], secrets: pushSecrets, check: strictly('push', readPush), hasWebhook: false },
} satisfies Record<ConnectorName, ConnectorEntry>

export const isConnector = (name: string): name is ConnectorName => Object.hasOwn(catalogue, name)

/** The connector of a stored gateway. Another version may have stored a connector that this version does not have. */
export function entryOf(connector: string): ConnectorEntry {
  if (!isConnector(connector)) throw new Error(`There is no connector "${connector}"`)
  return catalogue[connector]
}

/** Every connector with its settings, for forms. */
export const descriptions: readonly ConnectorDescription<ChannelType>[] = connectorNames.map(name => {
  const { channels, secrets, hasWebhook }: ConnectorEntry = catalogue[name]
  return { name, channels, secrets, hasWebhook, fields: fieldsOf[name] }
})

const MOST_NAMES = 1000
const MOST_NAME_CHARACTERS = 100

function checkSenderNames(settings: RawSettings) {
  const value = settings[SENDER_NAMES] ?? ''
  const isWord = (name: unknown) => typeof name === 'string' || typeof name === 'number'
  if (!(Array.isArray(value) ? value.every(isWord) : isWord(value))) throw wrongSetting(SENDER_NAMES, 'must be names')
  const names = namesIn(value)
  if (names.length > MOST_NAMES) throw wrongSetting(SENDER_NAMES, `has more than ${MOST_NAMES} names`)
  if (names.some(name => name.length > MOST_NAME_CHARACTERS || /\p{Cc}/u.test(name))) {
    throw wrongSetting(SENDER_NAMES, `must be names of 1 to ${MOST_NAME_CHARACTERS} characters`)
  }
}

/**
 * Refuses settings that the connector does not have. A misspelt setting must not be stored: a misspelt password would be
 * stored without encryption.
 */
function strictly(name: ConnectorName, read: (raw: RawSettings) => unknown): ConnectorEntry['check'] {
  const known = new Set(fieldsOf[name].map(field => field.name))
  return settings => {
    read(settings)
    checkSenderNames(settings)
    const unknown = Object.keys(settings).find(setting => !known.has(setting))
    if (unknown !== undefined) throw wrongSetting(unknown, 'is not known to this connector')
  }
}

/** Simulated operators have no secrets, so unknown settings are allowed as notes. */
function checkSimulator(settings: RawSettings) {
  for (const name of ['submitMs', 'receiptMs']) whole(settings, name, 0, 0, 3_600_000)
  for (const name of ['refuseRate', 'failRate', 'busyRate']) share(settings, name)
  flag(settings, 'ownIds')
  whole(settings, 'window', 1, 1, 100_000)
  checkSenderNames(settings)
}

function share(settings: RawSettings, name: string) {
  const value = Number(settings[name] ?? 0)
  if (!(value >= 0 && value <= 1)) throw wrongSetting(name, 'must be 0 to 1')
}
