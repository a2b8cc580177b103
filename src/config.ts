import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { STOP_WORDS } from './base/content/stop-words.ts'
import { type DatabaseAddress, readDatabaseAddress } from './base/database-address.ts'
import { UsageError } from './base/errors.ts'
import { readSmtpServer, type SmtpServer } from './base/mail/smtp-server.ts'
import { readNetwork } from './base/network/networks.ts'
import { projectDir } from './base/process/project.ts'

/**
 * Every setting once: its name in the environment, how it is read, its default and one sentence about it.
 * `tidings config` prints the settings in force; docs/configuration.md and .env.example are printed from this list
 * by scripts/print-config.ts.
 */
export type Setting<T> = {
  name: string
  read: (text: string, name: string) => T
  default: T | ((config: Partial<Config>) => T)
  defaultText?: string
  secret?: boolean
  /** A file or folder: in the file of settings it is relative to that file. */
  path?: boolean
  about: string
}

export type Config = {
  port: number
  host: string
  publicUrl: string | undefined
  databaseUrl: string | undefined
  readUrl: string | undefined
  readLagSeconds: number
  listenUrl: string | undefined
  prepare: boolean
  databaseConnections: number
  migrate: boolean
  apiProcesses: number | undefined
  engines: number | undefined
  dataDir: string | undefined
  demo: boolean
  demoPassword: string | undefined
  passwordCost: number
  secret: string | undefined
  moderation: 'auto' | 'manual'
  billingZone: string
  trustedProxies: string[]
  drainSeconds: number
  connections: number
  connectionsPerAddress: number
  documentsOfCompanyMib: number
  documentsOfPartnerMib: number
  callbackAllow: string[]
  callbackRetrySeconds: number
  callbackSourceIp: string | undefined
  stopWords: string[]
  smtp: SmtpServer | undefined
  mailFrom: string | undefined
  mailLanguage: 'en' | 'ru'
  recaptchaUrl: string
  hcaptchaUrl: string | undefined
  turnstileUrl: string
  keepMonths: number | undefined
  keepTextsDays: number | undefined
  metrics: boolean
  metricsAllow: string[]
  tracesUrl: string | undefined
  tracesShare: number
  tracesHeaders: Record<string, string>
  logLevel: string
  envFile: string | undefined
}

/** Of `tidings serve`. */
export const MOST_PROCESSES = 64
export const MOST_DRAIN_SECONDS = 60
export const BY_CORES = 'one for every four cores, 1 to 4'

const embedded = (config: Partial<Config>) => config.databaseUrl === undefined

export const settings: { [K in keyof Config]: Setting<Config[K]> } = {
  port: {
    name: 'PORT',
    read: (text, name) => readInteger(text, name, 0, 65_535),
    default: 8080,
    about: 'Port of the HTTP server; 0 takes any free one.',
  },
  host: {
    name: 'HOST',
    read: text => text,
    default: 'localhost',
    about: 'Address to listen on: `localhost` for this machine alone, `0.0.0.0` or `::` for every network.',
  },
  publicUrl: {
    name: 'TIDINGS_PUBLIC_URL',
    read: readUrl,
    default: undefined,
    defaultText: 'http://HOST:PORT',
    about: 'Address under which the outside world reaches the service; short links begin with it.',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    read: readDatabaseUrl,
    default: undefined,
    defaultText: 'the embedded server',
    secret: true,
    about:
      'PostgreSQL 15 or newer, e.g. `postgres://user:password@host:5432/tidings`, or `postgres://user:password@localhost/tidings?host=/run/postgresql` over a socket. With several hosts, as in `postgres://user:password@a,b/tidings`, the primary among them is used. Unset: a server of our own.',
  },
  readUrl: {
    name: 'TIDINGS_READ_URL',
    read: readReplicaUrl,
    default: undefined,
    defaultText: 'DATABASE_URL',
    secret: true,
    about:
      'Address of one or several standbys of the same database, for searches, reports and statistics. DATABASE_URL is used while no standby answers, or while it is too far behind.',
  },
  readLagSeconds: {
    name: 'TIDINGS_READ_LAG_SECONDS',
    read: (text, name) => readInteger(text, name, 1, 3600),
    default: 5,
    about: 'Most seconds that a standby of TIDINGS_READ_URL may be behind.',
  },
  listenUrl: {
    name: 'TIDINGS_LISTEN_URL',
    read: readDatabaseUrl,
    default: undefined,
    defaultText: 'DATABASE_URL',
    secret: true,
    about:
      'Address of the same database without a pooler. With a pooler such as PgBouncer in DATABASE_URL, engines listen here for new work; without it they look for it several times a second.',
  },
  prepare: {
    name: 'TIDINGS_PREPARE',
    read: readBoolean,
    default: true,
    about:
      'Prepares statements. `off` for a pooler in transaction mode that is too old for it, such as PgBouncer before 1.21.',
  },
  databaseConnections: {
    name: 'TIDINGS_DATABASE_CONNECTIONS',
    read: (text, name) => readInteger(text, name, 2, 1000),
    default: 10,
    about: 'Most connections a process opens to the database.',
  },
  migrate: {
    name: 'TIDINGS_MIGRATE',
    read: readBoolean,
    default: true,
    about:
      'Whether a process brings the schema of the database up to date when it starts. With `false` it refuses an older schema, and only `tidings migrate` changes it.',
  },
  apiProcesses: {
    name: 'TIDINGS_API_PROCESSES',
    read: (text, name) => readInteger(text, name, 1, MOST_PROCESSES),
    default: undefined,
    defaultText: BY_CORES,
    about: 'HTTP processes that `tidings serve` runs on its port; `--api` comes before it.',
  },
  engines: {
    name: 'TIDINGS_ENGINES',
    read: (text, name) => readInteger(text, name, 1, MOST_PROCESSES),
    default: undefined,
    defaultText: BY_CORES,
    about: 'Engines that `tidings serve` runs; `--engines` comes before it.',
  },
  dataDir: {
    name: 'TIDINGS_DATA',
    read: text => text,
    path: true,
    default: undefined,
    defaultText: "`.tidings` in the project's folder",
    about: 'Folder of the embedded server and of the secrets made for it.',
  },
  demo: {
    name: 'TIDINGS_DEMO',
    read: readBoolean,
    default: embedded,
    defaultText: 'true with the embedded server, else false',
    about: 'Makes a demo partner with three companies and simulated operators, and serves `/widget/demo`.',
  },
  demoPassword: {
    name: 'TIDINGS_DEMO_PASSWORD',
    read: text => text,
    default: undefined,
    defaultText: 'made up and printed once',
    secret: true,
    about: 'Password of the logins `company`, `demo` and `staff`.',
  },
  passwordCost: {
    name: 'TIDINGS_PASSWORD_COST',
    read: (text, name) => readInteger(text, name, 14, 20),
    default: 17,
    about:
      "Cost of password hashes, as the exponent of scrypt's N: 17 takes 128 MB and about half a second for a login, 18 twice that.",
  },
  secret: {
    name: 'TIDINGS_SECRET',
    read: readSecret,
    default: undefined,
    defaultText: 'made in the data folder; required with DATABASE_URL',
    secret: true,
    about: 'Key, of 32 characters or more, that encrypts secrets and codes in the database. The same on every process.',
  },
  moderation: {
    name: 'TIDINGS_MODERATION',
    read: (text, name) => readOneOf(text, name, ['auto', 'manual'] as const),
    default: config => (embedded(config) ? 'auto' : 'manual'),
    defaultText: 'auto with the embedded server, else manual',
    about: 'The review of sender names: `auto` approves them automatically, `manual` waits for staff.',
  },
  billingZone: {
    name: 'TIDINGS_BILLING_ZONE',
    read: readZone,
    default: 'Europe/Moscow',
    about: 'Time zone of the calendar month in which money is counted.',
  },
  trustedProxies: {
    name: 'TIDINGS_TRUSTED_PROXIES',
    read: readNamedNetworks,
    default: [],
    defaultText: 'none',
    about: 'Addresses or networks, separated by commas, whose `X-Forwarded-For` is believed.',
  },
  drainSeconds: {
    name: 'TIDINGS_DRAIN_SECONDS',
    read: (text, name) => readInteger(text, name, 0, MOST_DRAIN_SECONDS),
    default: 0,
    about:
      'How long an HTTP process that is told to stop still accepts connections. `/healthz` and `/readyz` say 503 meanwhile, so that a proxy chooses another process: set a little more than the interval of its checks.',
  },
  connections: {
    name: 'TIDINGS_CONNECTIONS',
    read: (text, name) => readInteger(text, name, 10, 1_000_000),
    default: 5000,
    about: 'Most connections that clients may have to a process at once; more get 503.',
  },
  connectionsPerAddress: {
    name: 'TIDINGS_CONNECTIONS_PER_ADDRESS',
    read: (text, name) => readInteger(text, name, 1, 1_000_000),
    default: 1000,
    about: 'Most of them from one address. For addresses in TIDINGS_TRUSTED_PROXIES only the limit for all holds.',
  },
  documentsOfCompanyMib: {
    name: 'TIDINGS_DOCUMENTS_MB_PER_COMPANY',
    read: (text, name) => readInteger(text, name, 10, 1_000_000),
    default: 500,
    about: 'Most megabytes that all documents of a company may have.',
  },
  documentsOfPartnerMib: {
    name: 'TIDINGS_DOCUMENTS_MB_PER_PARTNER',
    read: (text, name) => readInteger(text, name, 10, 100_000_000),
    default: 5000,
    about: 'Most megabytes that all documents of the companies of a partner may have.',
  },
  callbackAllow: {
    name: 'TIDINGS_CALLBACK_ALLOW',
    read: readNetworks,
    default: [],
    defaultText: 'none',
    about: 'Private networks, separated by commas, that callbacks may be sent to, e.g. `127.0.0.0/8,10.0.0.0/8`.',
  },
  callbackRetrySeconds: {
    name: 'TIDINGS_CALLBACK_RETRY_SECONDS',
    read: (text, name) => readInteger(text, name, 1, 86_400),
    default: 300,
    about: 'Pause before a callback that was not taken is sent again.',
  },
  callbackSourceIp: {
    name: 'TIDINGS_CALLBACK_SOURCE_IP',
    read: readAddress,
    default: undefined,
    defaultText: 'any of this machine',
    about: 'Address of this machine that callbacks are sent from.',
  },
  stopWords: {
    name: 'TIDINGS_STOP_WORDS',
    read: readWords,
    default: [...STOP_WORDS],
    about: 'Words, separated by commas, by which a subscriber who writes nothing else gets onto the blacklist.',
  },
  smtp: {
    name: 'TIDINGS_SMTP_URL',
    read: readSmtpServer,
    default: undefined,
    defaultText: 'none, people pass links on themselves',
    secret: true,
    about:
      'Mail server for invitations and links for new passwords: `smtp://user:password@host:587` (STARTTLS), `smtps://user:password@host:465` (TLS from the start), or `smtp://host:25?tls=off` without encryption. Needs TIDINGS_MAIL_FROM and TIDINGS_PUBLIC_URL.',
  },
  mailFrom: {
    name: 'TIDINGS_MAIL_FROM',
    read: readSender,
    default: undefined,
    defaultText: 'none; required with TIDINGS_SMTP_URL',
    about: 'Sender of mails, e.g. `no-reply@example.com` or `Tidings <no-reply@example.com>`.',
  },
  mailLanguage: {
    name: 'TIDINGS_MAIL_LANGUAGE',
    read: (text, name) => readOneOf(text, name, ['en', 'ru'] as const),
    default: 'en',
    about:
      'Language of mails that commands send, and of mails of people whose browser asks for neither: `en` or `ru`. Other mails have the language of the person who invites.',
  },
  recaptchaUrl: {
    name: 'TIDINGS_RECAPTCHA_URL',
    read: readUrl,
    default: 'https://www.google.com',
    about:
      'Base address of reCAPTCHA, for visitors and for this service; `https://www.recaptcha.net` where Google is blocked.',
  },
  hcaptchaUrl: {
    name: 'TIDINGS_HCAPTCHA_URL',
    read: readUrl,
    default: undefined,
    defaultText: 'https://js.hcaptcha.com for visitors, https://api.hcaptcha.com for this service',
    about: 'Base address of hCaptcha, for visitors and for this service.',
  },
  turnstileUrl: {
    name: 'TIDINGS_TURNSTILE_URL',
    read: readUrl,
    default: 'https://challenges.cloudflare.com',
    about: 'Base address of Turnstile, for visitors and for this service.',
  },
  keepMonths: {
    name: 'TIDINGS_KEEP_MONTHS',
    read: (text, name) => readInteger(text, name, 2, 1200),
    default: undefined,
    defaultText: 'none, all are kept',
    about: 'Months of messages to keep, this one counted; engines close older ones into sums and detach them.',
  },
  keepTextsDays: {
    name: 'TIDINGS_KEEP_TEXTS_DAYS',
    read: (text, name) => readInteger(text, name, 2, 36_500),
    default: undefined,
    defaultText: 'none, all are kept',
    about:
      'Days after which engines remove the texts of final and inbound messages. Numbers, statuses and prices stay.',
  },
  metrics: {
    name: 'TIDINGS_METRICS',
    read: readBoolean,
    default: embedded,
    defaultText: 'true with the embedded server, else false',
    about: 'Serves Prometheus metrics at `/metrics`, to the addresses in TIDINGS_METRICS_ALLOW.',
  },
  metricsAllow: {
    name: 'TIDINGS_METRICS_ALLOW',
    read: readNetworks,
    default: ['loopback'],
    defaultText: 'loopback, this machine alone',
    about: 'Addresses or networks, separated by commas, that may read `/metrics`.',
  },
  tracesUrl: {
    name: 'TIDINGS_TRACES_URL',
    read: readUrlWithoutPassword,
    default: undefined,
    defaultText: 'none, nothing is traced',
    about:
      'Address of an OpenTelemetry collector that gets traces of requests and messages, e.g. `http://localhost:4318/v1/traces` (OTLP as JSON over HTTP).',
  },
  tracesShare: {
    name: 'TIDINGS_TRACES_SHARE',
    read: readShare,
    default: 1,
    about: 'Share of messages and requests that are traced, from 0 to 1. For large dispatches 0.001 is enough.',
  },
  tracesHeaders: {
    name: 'TIDINGS_TRACES_HEADERS',
    read: readHeaders,
    default: {},
    defaultText: 'none',
    secret: true,
    about: 'Headers for the collector, such as `authorization=Bearer%20abc`: `name=value`, separated by commas.',
  },
  logLevel: {
    name: 'TIDINGS_LOG_LEVEL',
    read: (text, name) =>
      readOneOf(text, name, ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const),
    default: 'info',
    about: 'Least weighty log lines to write: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
  },
  envFile: {
    name: 'TIDINGS_ENV_FILE',
    read: text => text,
    default: undefined,
    defaultText: "`.env` in the project's folder, if there is one",
    about: 'File of settings, one `NAME=value` a line. A setting of the environment itself comes before it.',
  },
}

/** The environment, with the settings of the file where the environment itself has none. */
export function withEnvFile(env: NodeJS.ProcessEnv, folder = projectDir): NodeJS.ProcessEnv {
  const named = env[settings.envFile.name]
  const file = named || join(folder, '.env')
  const given = readEnvFile(file, { isNamed: Boolean(named) })
  refuseUnknown(given, file)
  const all = { ...env }
  for (const { name, path } of Object.values(settings) as Setting<unknown>[]) {
    if (all[name] || !given[name]) continue
    all[name] = path ? resolve(dirname(file), given[name]) : given[name]
  }
  return all
}

/** A misspelt setting would be ignored silently. Names of other programs may be in the file. */
function refuseUnknown(given: NodeJS.Dict<string>, file: string) {
  const known = new Set(Object.values(settings).map(({ name }) => name))
  const unknown = Object.keys(given).filter(name => name.startsWith('TIDINGS_') && !known.has(name))
  if (unknown.length === 0) return
  const what = unknown.length === 1 ? 'which is no setting' : 'which are no settings'
  throw new UsageError(`The file ${file} has ${unknown.join(', ')}, ${what}: docs/configuration.md lists them all.`)
}

function readEnvFile(file: string, { isNamed }: { isNamed: boolean }): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !isNamed) return {}
    throw new UsageError(`The file of settings ${file} cannot be read: ${code ?? (error as Error).message}.`)
  }
}

/** Reads the environment once, in the order of the list: a later default may look at earlier settings. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const config: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries(settings) as [string, Setting<unknown>][]) {
    config[key] = readSetting(setting, env, config)
  }
  requireForMail(config)
  return config as Config
}

/** A mail without a sender is refused by the server, and a link to localhost works on no other machine. */
function requireForMail({ smtp, mailFrom, publicUrl }: Partial<Config>) {
  if (!smtp) return
  if (!mailFrom) throw new UsageError('TIDINGS_SMTP_URL needs TIDINGS_MAIL_FROM, the sender of the mails.')
  if (!publicUrl) throw new UsageError('TIDINGS_SMTP_URL needs TIDINGS_PUBLIC_URL: the links in mails begin with it.')
}

/** Of a setting that the environment does not name. */
export function defaultValueOf<T>(setting: Setting<T>, config: Partial<Config>): T {
  return typeof setting.default === 'function'
    ? (setting.default as (soFar: Partial<Config>) => T)(config)
    : setting.default
}

function readSetting(setting: Setting<unknown>, env: NodeJS.ProcessEnv, soFar: Partial<Config>): unknown {
  const text = env[setting.name]
  if (text !== undefined && text !== '') return setting.read(text, setting.name)
  return defaultValueOf(setting, soFar)
}

function readInteger(text: string, name: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(`${name} must be a whole number from ${min} to ${max}, not "${text}".`)
  }
  return value
}

function readShare(text: string, name: string): number {
  const value = Number(text)
  if (!/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) || value > 1)
    throw new UsageError(`${name} must be from 0 to 1, not "${text}".`)
  return value
}

/** Values are encoded as in addresses, so that they may have commas. The value is a secret and not part of the error. */
function readHeaders(text: string, name: string): Record<string, string> {
  const pairs = text.split(',').map(pair => /^\s*([\w-]+)\s*=(.*)$/.exec(pair))
  try {
    return Object.fromEntries(pairs.map(pair => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!.trim())]))
  } catch {
    throw new UsageError(`${name} must be name=value, separated by commas, with values encoded as in addresses.`)
  }
}

function readBoolean(text: string, name: string): boolean {
  return ['true', '1', 'yes', 'on'].includes(
    readOneOf(text.toLowerCase(), name, ['true', '1', 'yes', 'on', 'false', '0', 'no', 'off']),
  )
}

function readOneOf<T extends string>(text: string, name: string, values: readonly T[]): T {
  if (!values.includes(text as T)) throw new UsageError(`${name} must be one of ${values.join(', ')}, not "${text}".`)
  return text as T
}

function readUrl(text: string, name: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new UsageError(`${name} must be an http or https address, not "${text}".`)
  return text.replace(/\/+$/, '')
}

/** `tidings config` shows the address, and HTTP clients refuse a password in it. */
function readUrlWithoutPassword(text: string, name: string): string {
  const url = readUrl(text, name)
  const { username, password } = new URL(url)
  if (username || password) throw new UsageError(`${name} must have no password: TIDINGS_TRACES_HEADERS is for it.`)
  return url
}

/** Signs that separate addresses in a header are not allowed in the name. */
function readSender(text: string, name: string): string {
  const ADDRESS = /^[^\s<>@,;:"()[\]\\]+@[^\s<>@,;:"()[\]\\]+$/
  const [, named] = /^(?:[^<>@,;:"()[\]\\\p{Cc}]*|"[^<>@"\\\p{Cc}]*" ?)<([^<>]*)>$/u.exec(text) ?? []
  if (!ADDRESS.test(named ?? text))
    throw new UsageError(
      `${name} must be an address such as no-reply@example.com or Tidings <no-reply@example.com>, not "${text}".`,
    )
  return text
}

function readDatabaseUrl(text: string, name: string): string {
  const { target } = readServerUrl(text, name)
  if (target === 'standby' || target === 'prefer-standby') {
    throw new UsageError(`${name} needs a server that takes changes; target_session_attrs=${target} does not.`)
  }
  return text
}

function readReplicaUrl(text: string, name: string): string {
  const { target } = readServerUrl(text, name)
  if (target === 'read-write' || target === 'primary') {
    throw new UsageError(`${name} is for standbys; target_session_attrs=${target} asks for a primary.`)
  }
  return text
}

function readServerUrl(text: string, name: string): DatabaseAddress {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new UsageError(`${name} must begin with postgres:// or postgresql://.`)
  if (!isReadable(text)) {
    throw new UsageError(
      `${name} cannot be read: signs such as @ / # % in its password are written as %40 %2F %23 %25.`,
    )
  }
  return readDatabaseAddress(text)
}

/** Several hosts may stand there, separated by commas. */
function isReadable(databaseUrl: string): boolean {
  const hosts = databaseUrl.split(/[/?]/)[2]!.split('@').at(-1)!
  try {
    const { username, password } = new URL(databaseUrl.replace(hosts, hosts.split(',')[0]!))
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

function readSecret(text: string, name: string): string {
  if (text.length < 32) throw new UsageError(`${name} must have 32 characters or more; this one has ${text.length}.`)
  return text
}

const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal']

/** Names of networks are known to the HTTP server alone. */
function readNamedNetworks(text: string, name: string): string[] {
  return readNetworks(text, name, NETWORK_NAMES)
}

function readNetworks(text: string, name: string, names: string[] = []): string[] {
  const networks = text.split(',').map(item => item.trim())
  const wrong = networks.find(item => !names.includes(item) && !readNetwork(item))
  if (wrong !== undefined) {
    const named = names.length > 0 ? ` or ${names.join(', ')}` : ''
    throw new UsageError(
      `${name} must be addresses or networks such as 10.0.0.0/8${named}, separated by commas, not "${wrong}".`,
    )
  }
  return networks
}

/** In capitals, as they are compared. */
function readWords(text: string): string[] {
  return text
    .split(',')
    .map(word => word.trim().toUpperCase())
    .filter(word => word !== '')
}

function readAddress(text: string, name: string): string {
  if (isIP(text) === 0) throw new UsageError(`${name} must be an IP address, not "${text}".`)
  return text
}

/** A named zone: what `+03:00` means is not the same here and in PostgreSQL. */
function readZone(text: string, name: string): string {
  try {
    if (/^[+-]/.test(text)) throw new RangeError('an offset')
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new UsageError(`${name} must be a time zone such as Europe/Moscow, not "${text}".`)
  }
}

/** docs/configuration.md */
export function settingsPage(): string {
  const rows = Object.values(settings).map(
    setting => `| \`${setting.name}\` | ${inCell(defaultOf(setting))} | ${inCell(setting.about)} |`,
  )
  return [
    '# Configuration',
    '',
    "Every setting comes from the environment, or from a file `.env` in the project's folder, which git ignores: copy",
    '`.env.example` to begin one. The environment comes before the file. None is needed to begin; `tidings config` prints',
    'the values in force. This page is printed from `src/config.ts` by `npm run docs:config`.',
    '',
    '| Setting | Default | What it is for |',
    '|---|---|---|',
    ...rows,
    '',
    'An empty value is as good as none. Switches take `true`, `yes`, `on`, `1` or `false`, `no`, `off`, `0`.',
    '',
  ].join('\n')
}

const inCell = (text: string) => text.replaceAll('|', '\\|')

/** .env.example */
export function environmentExample(): string {
  const entries = Object.values(settings).map(
    setting => `# ${setting.about}\n# Default: ${defaultOf(setting)}.\n#${setting.name}=\n`,
  )
  return [
    '# Every setting, none of them needed: copy this file to `.env` and remove the # before each setting that you change.',
    '# Printed from src/config.ts by `npm run docs:config`.\n',
    ...entries,
  ].join('\n')
}

function defaultOf(setting: { default?: unknown; defaultText?: string }): string {
  return setting.defaultText ?? String(setting.default)
}
