import { allChannelTypes, type ChannelType } from '../base/channel-types.ts'
import type { ConnectorDescription, SettingField } from '../base/setting-fields.ts'
import { type ConnectorName, connectorNames } from './connector-names.ts'
import { httpSchema, readSettings as readHttp } from './http/settings.ts'
import { pushSchema, readSettings as readPush } from './push/settings.ts'
import { fieldsOf, type RawSettings, type SettingsSchema, secretsOf, wrongSetting } from './settings.ts'
import { readSettings as readSimulator, simulatorSchema } from './simulator/settings.ts'
import { readSettings as readSmpp, smppSchema } from './smpp/settings.ts'
import { botSchema, gatewaySchema, readBotSettings, readGatewaySettings } from './telegram/settings.ts'
import { readSettings as readWhatsapp, whatsappSchema } from './whatsapp/settings.ts'

/** A connector, as far as it is known without a connection. */
export type ConnectorEntry = {
  /** The channels that it can serve. */
  channels: readonly ChannelType[]
  fields: readonly SettingField[]
  /** The settings that are stored encrypted and never shown. */
  secrets: readonly string[]
  /** Throws an error with the name of the wrong setting. The error never contains a value. */
  check(settings: RawSettings): void
  /** The provider sends receipts and inbound messages to a webhook. */
  hasWebhook: boolean
}

export const catalogue = {
  // Simulated operators have no secrets, so unknown settings are allowed as notes.
  simulator: { ...declared(simulatorSchema), channels: allChannelTypes, check: readSimulator, hasWebhook: false },
  smpp: { ...declared(smppSchema), channels: ['SMS'], check: strictly(smppSchema, readSmpp), hasWebhook: false },
  whatsapp: {
    ...declared(whatsappSchema),
    channels: ['WHATSAPP'],
    check: strictly(whatsappSchema, readWhatsapp),
    hasWebhook: true,
  },
  telegram: {
    ...declared(botSchema),
    channels: ['TELEGRAM'],
    check: strictly(botSchema, readBotSettings),
    hasWebhook: true,
  },
  'telegram-gateway': {
    ...declared(gatewaySchema),
    channels: ['TELEGRAM_GATEWAY', 'TELEGRAM'],
    check: strictly(gatewaySchema, readGatewaySettings),
    hasWebhook: true,
  },
  http: {
    ...declared(httpSchema),
    channels: allChannelTypes,
    check: strictly(httpSchema, readHttp),
    hasWebhook: true,
  },
  push: { ...declared(pushSchema), channels: ['PUSH'], check: strictly(pushSchema, readPush), hasWebhook: false },
} satisfies Record<ConnectorName, ConnectorEntry>

export const isConnector = (name: string): name is ConnectorName => Object.hasOwn(catalogue, name)

/** The connector of a stored gateway. Another version may have stored a connector that this version does not have. */
export function entryOf(connector: string): ConnectorEntry {
  if (!isConnector(connector)) throw new Error(`There is no connector "${connector}"`)
  return catalogue[connector]
}

/** Every connector with its settings, for forms. */
export const descriptions: readonly ConnectorDescription<ChannelType>[] = connectorNames.map(name => {
  const { channels, fields, secrets, hasWebhook }: ConnectorEntry = catalogue[name]
  return { name, channels, fields, secrets, hasWebhook }
})

function declared(schema: SettingsSchema) {
  return { fields: fieldsOf(schema), secrets: secretsOf(schema) }
}

/**
 * Refuses settings that the connector does not have. A misspelt setting must not be stored: a misspelt password would be
 * stored without encryption.
 */
function strictly({ properties }: SettingsSchema, read: (raw: RawSettings) => unknown): ConnectorEntry['check'] {
  return settings => {
    read(settings)
    const unknown = Object.keys(settings).find(name => !Object.hasOwn(properties, name))
    if (unknown !== undefined) throw wrongSetting(unknown, 'is not known to this connector')
  }
}
