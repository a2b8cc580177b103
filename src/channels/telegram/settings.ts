import { plainName } from '../../base/content/bot-names.ts'
import { address, flag, onlyName, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** The settings of a gateway to the Bot API, with all defaults. */
export type BotSettings = {
  token: string
  /** The name of the bot, without the `@`: the setting, or the only one of `senderNames`, or the id of the bot. */
  botName: string
  /** Telegram repeats it in every webhook. Without it, every webhook is rejected. */
  webhookSecret: string | undefined
  baseUrl: string
  /** The most calls at once. */
  window: number
  timeoutMs: number
}

/** The settings of a gateway to the Gateway API, which sends codes to a phone number. */
export type GatewaySettings = {
  token: string
  baseUrl: string
  /** The address for receipts; without it Telegram sends none. */
  callbackUrl: string | undefined
  /** The verified channel that sends the codes; without it, Telegram's own. */
  senderUsername: string | undefined
  /** The number of digits of our codes; without it, 4 to 8. */
  codeLength: number | undefined
  /** The lifetime of a message without its own. */
  ttlSeconds: number | undefined
  /** Checks before each code of a verification whether Telegram reaches the number. */
  abilityCheck: boolean
  window: number
  timeoutMs: number
}

/** These settings are stored encrypted and never shown. */
export const botSecrets = ['token', 'webhookSecret']
export const gatewaySecrets = ['token']

/** The limits of the Gateway API. */
export const LEAST_TTL_SECONDS = 30
export const MOST_TTL_SECONDS = 3600
const MOST_CALLBACK_URL_BYTES = 256

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
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

/** Telegram accepts about 30 messages a second from a bot, so more calls at once would only be throttled. */
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
