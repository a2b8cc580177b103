import Type, { type StaticDecode } from 'typebox'
import { plainName } from '../../base/content/bot-names.ts'
import {
  address,
  flag,
  matching,
  onlyName,
  plainAddress,
  type RawSettings,
  rare,
  refine,
  secret,
  senderNames,
  valuesOf,
  whole,
} from '../settings.ts'

/** The limits of the Gateway API. */
export const LEAST_TTL_SECONDS = 30
export const MOST_TTL_SECONDS = 3600
const MOST_CALLBACK_URL_BYTES = 256

/** The settings of a gateway to the Bot API. */
export const botSchema = Type.Object({
  token: secret(matching(/^\d{1,16}:[\w-]{20,100}$/, 'is no token of a bot')),
  /** Telegram repeats it in every webhook. Without it, every webhook is rejected. */
  webhookSecret: Type.Optional(secret(matching(/^[\w-]{1,256}$/, 'must be 1 to 256 of A-Z, a-z, 0-9, _ and -'))),
  /** The name of the bot, without the `@`: the setting, or the only one of `senderNames`, or the id of the bot. */
  botName: Type.Optional(telegramName()),
  senderNames: senderNames(),
  ...rare({
    ...pace(),
    baseUrl: address('https://api.telegram.org'),
  }),
})

/** The settings of a gateway to the Gateway API, which sends codes to a phone number. */
export const gatewaySchema = Type.Object({
  token: secret(matching(/^[\x21-\x7e]{1,500}$/, 'is no token')),
  senderNames: senderNames(),
  /** The address for receipts; without it Telegram sends none. */
  callbackUrl: Type.Optional(
    refine(
      address(),
      url => Buffer.byteLength(plainAddress(url)) <= MOST_CALLBACK_URL_BYTES,
      'is longer than 256 bytes',
    ),
  ),
  /** The verified channel that sends the codes; without it, Telegram's own. */
  senderUsername: Type.Optional(telegramName()),
  /** Checks before each code of a verification whether Telegram reaches the number. */
  abilityCheck: flag(true),
  ...rare({
    /** The number of digits of our codes; without it, 4 to 8. */
    codeLength: Type.Optional(whole(4, 8)),
    /** The lifetime of a message without its own. */
    ttlSeconds: Type.Optional(whole(LEAST_TTL_SECONDS, MOST_TTL_SECONDS)),
    ...pace(),
    baseUrl: address('https://gatewayapi.telegram.org'),
  }),
})

export type GatewaySettings = StaticDecode<typeof gatewaySchema>

export function readBotSettings(raw: RawSettings) {
  const { senderNames, ...settings } = valuesOf(botSchema, raw)
  const [botId = ''] = settings.token.split(':')
  return { ...settings, botName: settings.botName ?? plainName(onlyName(senderNames) ?? botId) }
}

export const readGatewaySettings = (raw: RawSettings): GatewaySettings => valuesOf(gatewaySchema, raw)

function telegramName() {
  return Type.Decode(matching(/^@?\w{1,64}$/, 'is no name of Telegram'), plainName)
}

/** Telegram accepts about 30 messages a second from a bot, so more calls at once would only be throttled. */
function pace() {
  return { window: whole(1, 1000, 30), timeoutMs: whole(1, 300_000, 30_000) }
}
