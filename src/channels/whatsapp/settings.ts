import { address, onlyName, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** The settings of a gateway to Meta's WhatsApp Cloud API, with all defaults. */
export type WhatsappSettings = {
  /** Meta's id of our business phone number, not the number itself. */
  phoneNumberId: string
  accessToken: string
  /** Meta signs webhooks with it. */
  appSecret: string
  /** Meta repeats it when it subscribes to our webhook. */
  verifyToken: string
  baseUrl: string
  apiVersion: string
  /** The language of templates without a language. */
  templateLanguage: string
  /** The template for codes; without it the gateway sends no codes. */
  authenticationTemplate: string | undefined
  authenticationLanguage: string
  /** The recipient of inbound messages: the setting, or the only one of `senderNames`, or the business phone number. */
  senderName: string | undefined
  /** The most calls at once. */
  window: number
  timeoutMs: number
}

/** These settings are stored encrypted and never shown. */
export const secretSettings = ['accessToken', 'appSecret', 'verifyToken']

/** Published in February 2026, supported until July 2028. */
const API_VERSION = 'v25.0'

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
export function readSettings(raw: RawSettings): WhatsappSettings {
  const templateLanguage = language(raw, 'templateLanguage', 'ru')
  return {
    phoneNumberId: like(raw, 'phoneNumberId', /^\d{1,32}$/, 'must be digits: the id of the number, not the number'),
    // The token is sent in a header: a line break would make every call fail.
    accessToken: like(raw, 'accessToken', /^[\x21-\x7e]+$/, 'must be a token without blanks'),
    appSecret: filled(raw, 'appSecret'),
    verifyToken: filled(raw, 'verifyToken'),
    baseUrl: address(raw, 'baseUrl', 'https://graph.facebook.com'),
    apiVersion: like(raw, 'apiVersion', /^v\d{1,3}\.\d{1,2}$/, 'must look like v25.0', API_VERSION),
    templateLanguage,
    authenticationTemplate: optional(raw, 'authenticationTemplate', templateName),
    authenticationLanguage: language(raw, 'authenticationLanguage', templateLanguage),
    senderName: optional(raw, 'senderName', senderName) ?? onlyName(raw),
    // A number may send 80 messages a second, and an answer takes about half a second.
    window: whole(raw, 'window', 40, 1, 1000),
    timeoutMs: whole(raw, 'timeoutMs', 30_000, 1, 300_000),
  }
}

function like(raw: RawSettings, name: string, pattern: RegExp, what: string, otherwise?: string): string {
  const value = text(raw, name, otherwise)
  if (!pattern.test(value)) throw wrongSetting(name, what)
  return value
}

/** With an empty secret every webhook would be accepted. */
const filled = (raw: RawSettings, name: string) => like(raw, name, /./s, 'is empty')

const language = (raw: RawSettings, name: string, otherwise: string) =>
  like(raw, name, /^[a-z]{2,3}(_[A-Za-z]{2,4})?$/, 'must look like ru or en_US', otherwise)

const templateName = (raw: RawSettings, name: string) =>
  like(raw, name, /^[a-z0-9_]{1,512}$/, 'must be the name of a template: a-z, 0-9 and _')

const senderName = (raw: RawSettings, name: string) => like(raw, name, /^.{1,64}$/s, 'must be 1 to 64 characters')
