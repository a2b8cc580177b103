import { SENDER_NAMES } from '../base/content/carried-names.ts'
import type { SettingField } from '../base/setting-fields.ts'
import type { ConnectorName } from './connector-names.ts'

const text = (name: string, otherwise?: string): SettingField =>
  otherwise === undefined ? { name, kind: 'text' } : { name, kind: 'text', default: otherwise }
const address = (name: string, otherwise?: string): SettingField =>
  otherwise === undefined ? { name, kind: 'address' } : { name, kind: 'address', default: otherwise }
const file = (name: string): SettingField => ({ name, kind: 'file' })
const flag = (name: string, otherwise: boolean): SettingField => ({ name, kind: 'flag', default: otherwise })
const share = (name: string): SettingField => ({ name, kind: 'share', default: 0 })
const whole = (name: string, otherwise: number | undefined, least: number, most: number): SettingField =>
  otherwise === undefined
    ? { name, kind: 'whole', least, most }
    : { name, kind: 'whole', default: otherwise, least, most }
/** The first choice is the default. */
const choice = (name: string, ...choices: [string, ...string[]]): SettingField => ({
  name,
  kind: 'choice',
  choices,
  default: choices[0],
})

const required = (field: SettingField): SettingField => ({ ...field, isRequired: true })
const rare = (...fields: SettingField[]): SettingField[] => fields.map(field => ({ ...field, isRare: true }))

const senderNames: SettingField = { name: SENDER_NAMES, kind: 'names' }

/** The settings of each connector, for forms and for the check of names. A test compares them with the readers. */
export const fieldsOf: Record<ConnectorName, readonly SettingField[]> = {
  simulator: [
    whole('receiptMs', 500, 0, 3_600_000),
    whole('submitMs', 0, 0, 3_600_000),
    share('failRate'),
    share('refuseRate'),
    share('busyRate'),
    whole('window', 5000, 1, 100_000),
    flag('ownIds', false),
    senderNames,
  ],
  smpp: [
    required(text('host')),
    whole('port', 2775, 1, 65_535),
    required(text('systemId')),
    text('password'),
    whole('binds', 1, 1, 100),
    whole('window', 100, 1, 10_000),
    choice('mode', 'transceiver', 'pair'),
    flag('tls', false),
    senderNames,
    ...rare(
      text('tlsServerName'),
      file('tlsCa'),
      text('systemType'),
      text('serviceType'),
      choice('longMessages', 'udh', 'sar', 'payload'),
      choice('receiptIds', 'auto', 'exact', 'same', 'hex-decimal', 'decimal-hex'),
      whole('receiptZoneMinutes', undefined, -840, 840),
      whole('registeredDelivery', 1, 0, 255),
      flag('resendLost', true),
      whole('validitySeconds', 90_000, 0, 30 * 86_400),
      choice('validityForm', 'relative', 'absolute'),
      flag('gsmPacking', false),
      flag('latin1', false),
      whole('sourceTon', undefined, 0, 255),
      whole('sourceNpi', undefined, 0, 255),
      whole('destTon', undefined, 0, 255),
      whole('destNpi', undefined, 0, 255),
      whole('connectMs', 10_000, 1, 300_000),
      whole('requestMs', 30_000, 1, 300_000),
      whole('enquireMs', 30_000, 1, 3_600_000),
      whole('firstBackoffMs', 1000, 1, 3_600_000),
      whole('mostBackoffMs', 60_000, 1, 3_600_000),
      whole('drainMs', 5000, 0, 300_000),
    ),
  ],
  whatsapp: [
    required(text('phoneNumberId')),
    required(text('accessToken')),
    required(text('appSecret')),
    required(text('verifyToken')),
    text('senderName'),
    senderNames,
    text('templateLanguage', 'ru'),
    text('authenticationTemplate'),
    ...rare(
      text('authenticationLanguage'),
      whole('window', 40, 1, 1000),
      whole('timeoutMs', 30_000, 1, 300_000),
      address('baseUrl', 'https://graph.facebook.com'),
      text('apiVersion', 'v25.0'),
    ),
  ],
  telegram: [
    required(text('token')),
    text('webhookSecret'),
    text('botName'),
    senderNames,
    ...rare(
      whole('window', 30, 1, 1000),
      whole('timeoutMs', 30_000, 1, 300_000),
      address('baseUrl', 'https://api.telegram.org'),
    ),
  ],
  'telegram-gateway': [
    required(text('token')),
    senderNames,
    address('callbackUrl'),
    text('senderUsername'),
    flag('abilityCheck', true),
    ...rare(
      whole('codeLength', undefined, 4, 8),
      whole('ttlSeconds', undefined, 30, 3600),
      whole('window', 30, 1, 1000),
      whole('timeoutMs', 30_000, 1, 300_000),
      address('baseUrl', 'https://gatewayapi.telegram.org'),
    ),
  ],
  http: [
    required(address('url')),
    required(text('secret')),
    text('authorization'),
    address('statusUrl'),
    flag('idempotent', false),
    senderNames,
    ...rare(whole('window', 20, 1, 1000), whole('timeoutMs', 30_000, 100, 300_000)),
  ],
  push: [
    text('vapidPublicKey'),
    text('vapidPrivateKey'),
    text('vapidSubject'),
    file('fcmServiceAccount'),
    senderNames,
    ...rare(
      whole('window', 100, 1, 10_000),
      whole('timeoutMs', 10_000, 1, 300_000),
      address('fcmBaseUrl', 'https://fcm.googleapis.com'),
      flag('allowInsecure', false),
    ),
  ],
}
