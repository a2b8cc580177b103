import { namesIn, SENDER_NAMES } from '../base/carried-names.ts'
import { allChannelTypes, type ChannelType } from '../base/channel-types.ts'
import type { ConnectorDescription } from '../base/setting-fields.ts'
import { type ConnectorName, connectorNames } from './connector-names.ts'
import { fieldsOf } from './fields.ts'
import { secretSettings as httpSecrets, readSettings as readHttp } from './http/settings.ts'
import { secretSettings as pushSecrets, readSettings as readPush } from './push/settings.ts'
import { flag, type RawSettings, whole, wrongSetting } from './settings.ts'
import { readSettings as readSmpp, secretSettings as smppSecrets } from './smpp/settings.ts'
import { botSecrets, gatewaySecrets, readBotSettings, readGatewaySettings } from './telegram/settings.ts'
import { readSettings as readWhatsapp, secretSettings as whatsappSecrets } from './whatsapp/settings.ts'

/** What is to be known of a connector before it is connected. */
export type ConnectorEntry = {
  /** Channels that it can serve. */
  channels: readonly ChannelType[]
  /** Settings that are kept sealed and never shown. */
  secrets: readonly string[]
  /** Throws an error that names the setting that is wrong; values are not repeated. */
  check(settings: RawSettings): void
  /** Receipts and inbound messages come to the service by webhook. */
  hasWebhook: boolean
}

export const catalogue = {
  simulator: { channels: allChannelTypes, secrets: [], check: checkSimulator, hasWebhook: false },
  smpp: { channels: ['SMS'], secrets: smppSecrets, check: strictly(readSmpp), hasWebhook: false },
  whatsapp: {
    channels: ['WHATSAPP'],
    secrets: whatsappSecrets,
    check: strictly(readWhatsapp),
    hasWebhook: true,
  },
  telegram: {
    channels: ['TELEGRAM'],
    secrets: botSecrets,
    check: strictly(readBotSettings),
    hasWebhook: true,
  },
  'telegram-gateway': {
    channels: ['TELEGRAM_GATEWAY', 'TELEGRAM'],
    secrets: gatewaySecrets,
    check: strictly(readGatewaySettings),
    hasWebhook: true,
  },
  http: { channels: allChannelTypes, secrets: httpSecrets, check: strictly(readHttp), hasWebhook: true },
  push: { channels: ['PUSH'], secrets: pushSecrets, check: strictly(readPush), hasWebhook: false },
} satisfies Record<ConnectorName, ConnectorEntry>

export const isConnector = (name: string): name is ConnectorName => Object.hasOwn(catalogue, name)

/** A connector of a gateway's row; a row may have been written by a version that knows others. */
export function entryOf(connector: string): ConnectorEntry {
  if (!isConnector(connector)) throw new Error(`There is no connector "${connector}"`)
  return catalogue[connector]
}

/** What a form offers: every connector with its settings. */
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
 * A setting that the connector never asks for is a slip of the pen. It must not be stored: a misspelt password would
 * lie in the open.
 */
function strictly(read: (raw: RawSettings) => unknown): ConnectorEntry['check'] {
  return settings => {
    const asked = new Set<string | symbol>()
    const watched = new Proxy(settings, { get: (raw, name) => asked.add(name) && raw[name as string] })
    read(watched)
    checkSenderNames(watched)
    const unknown = Object.keys(settings).find(name => !asked.has(name))
    if (unknown !== undefined) throw wrongSetting(unknown, 'is not known to this connector')
  }
}

/** Simulated operators have no secrets, and whoever plays with them may leave notes. */
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
