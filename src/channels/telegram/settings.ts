import { plainName } from '../../base/bot-names.ts'
import { address, flag, onlyName, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** How a gateway speaks to the Bot API, complete; `readBotSettings` fills in what its row does not say. */
export type BotSettings = {
  token: string
  /** What subscribers write to, without the `@`: as it is set, else the only one of `senderNames`, else the bot's number. */
  botName: string
  /** What Telegram repeats in every webhook; without it, no webhook is believed. */
  webhookSecret: string | undefined
  baseUrl: string
  /** Most calls under way. */
  window: number
  timeoutMs: number
}

/** How a gateway speaks to the Gateway API, which brings codes to a telephone number. */
export type GatewaySettings = {
  token: string
  baseUrl: string
  /** Where Telegram tells what became of a code; without it, nothing is told. */
  callbackUrl: string | undefined
  /** The verified channel that codes come from; without it, Telegram's own. */
  senderUsername: string | undefined
  /** How long our codes are; without it, 4 to 8 digits. */
  codeLength: number | undefined
  /** How long a message is of use that does not say so itself. */
  ttlSeconds: number | undefined
  /** Asks before each code of a verification whether Telegram reaches its number. */
  abilityCheck: boolean
  window: number
  timeoutMs: number
}

/** Settings that are kept encrypted and never shown. */
export const botSecrets = ['token', 'webhookSecret']
export const gatewaySecrets = ['token']

/** What the Gateway API takes. */
export const LEAST_TTL_SECONDS = 30
export const MOST_TTL_SECONDS = 3600
const MOST_CALLBACK_URL_BYTES = 256

/** Reads the settings of a gateway's row; throws with the name of the setting that is wrong. */
export function readBotSettings(raw: RawSettings): BotSettings {
  const token = matching(raw, 'token', /^\d{1,16}:[\w-]{20,100}$/, 'is no token of a bot')
  return {
    token,
    botName: plainName(optional(raw, 'botName', botName) ?? onlyName(raw) ?? token.slice(0, token.indexOf(':'))),
    webhookSecret: optional(raw, 'webhookSecret', webhookSecret),
    baseUrl: address(raw, 'baseUrl', 'https://api.telegram.org'),
    ...pace(raw),
  }
}

export function readGatewaySettings(raw: RawSettings): GatewaySettings {
  return {
    token: matching(raw, 'token', /^[\x21-\x7e]{1,500}$/, 'is no token'),
    baseUrl: address(raw, 'baseUrl', 'https://gatewayapi.telegram.org'),
    callbackUrl: optional(raw, 'callbackUrl', callbackUrl),
    senderUsername: optional(raw, 'senderUsername', (from, name) => plainName(botName(from, name))),
    codeLength: optional(raw, 'codeLength', (from, name) => whole(from, name, 6, 4, 8)),
    ttlSeconds: optional(raw, 'ttlSeconds', (from, name) =>
      whole(from, name, MOST_TTL_SECONDS, LEAST_TTL_SECONDS, MOST_TTL_SECONDS),
    ),
    abilityCheck: flag(raw, 'abilityCheck', true),
    ...pace(raw),
  }
}

/** Telegram takes about 30 messages a second from a bot: more at once only meet its limit. */
const pace = (raw: RawSettings) => ({
  window: whole(raw, 'window', 30, 1, 1000),
  timeoutMs: whole(raw, 'timeoutMs', 30_000, 1, 300_000),
})

const botName = (raw: RawSettings, name: string) => matching(raw, name, /^@?\w{1,64}$/, 'is no name of Telegram')

const webhookSecret = (raw: RawSettings, name: string) =>
  matching(raw, name, /^[\w-]{1,256}$/, 'must be 1 to 256 of A-Z, a-z, 0-9, _ and -')

function callbackUrl(raw: RawSettings, name: string): string {
  const url = address(raw, name)
  if (Buffer.byteLength(url) > MOST_CALLBACK_URL_BYTES) throw wrongSetting(name, 'is longer than 256 bytes')
  return url
}

function matching(raw: RawSettings, name: string, pattern: RegExp, otherwise: string): string {
  const value = text(raw, name)
  if (!pattern.test(value)) throw wrongSetting(name, otherwise)
  return value
}
