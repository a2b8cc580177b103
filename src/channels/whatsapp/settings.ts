import Type from 'typebox'
import {
  address,
  matching,
  onlyName,
  type RawSettings,
  rare,
  secret,
  senderNames,
  valuesOf,
  whole,
} from '../settings.ts'

/** Published in February 2026, supported until July 2028. */
const API_VERSION = 'v25.0'

/** The settings of a gateway to Meta's WhatsApp Cloud API. */
export const whatsappSchema = Type.Object({
  /** Meta's id of our business phone number, not the number itself. */
  phoneNumberId: matching(/^\d{1,32}$/, 'must be digits: the id of the number, not the number'),
  // The token is sent in a header: a line break would make every call fail.
  accessToken: secret(matching(/^[\x21-\x7e]+$/, 'must be a token without blanks')),
  /** Meta signs webhooks with it. */
  appSecret: secret(filled()),
  /** Meta repeats it when it subscribes to our webhook. */
  verifyToken: secret(filled()),
  /** The recipient of inbound messages: the setting, or the only one of `senderNames`, or the business phone number. */
  senderName: Type.Optional(matching(/^.{1,64}$/s, 'must be 1 to 64 characters')),
  senderNames: senderNames(),
  /** The language of templates without a language. */
  templateLanguage: language('ru'),
  /** The template for codes; without it the gateway sends no codes. */
  authenticationTemplate: Type.Optional(
    matching(/^[a-z0-9_]{1,512}$/, 'must be the name of a template: a-z, 0-9 and _'),
  ),
  ...rare({
    /** Without it, the language of templates. */
    authenticationLanguage: Type.Optional(language()),
    // The most calls at once. A number may send 80 messages a second, and an answer takes about half a second.
    window: whole(1, 1000, 40),
    timeoutMs: whole(1, 300_000, 30_000),
    baseUrl: address('https://graph.facebook.com'),
    apiVersion: matching(/^v\d{1,3}\.\d{1,2}$/, 'must look like v25.0', API_VERSION),
  }),
})

export type WhatsappSettings = ReturnType<typeof readSettings>

export function readSettings(raw: RawSettings) {
  const { senderNames, ...settings } = valuesOf(whatsappSchema, raw)
  return {
    ...settings,
    authenticationLanguage: settings.authenticationLanguage ?? settings.templateLanguage,
    senderName: settings.senderName ?? onlyName(senderNames),
  }
}

/** With an empty secret every webhook would be accepted. */
function filled() {
  return matching(/./s, 'is empty')
}

function language(otherwise?: string) {
  return matching(/^[a-z]{2,3}(_[A-Za-z]{2,4})?$/, 'must look like ru or en_US', otherwise)
}
