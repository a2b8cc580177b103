import { address, onlyName, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'

/** How a gateway speaks to Meta's WhatsApp Cloud API, complete; `readSettings` fills in what its row does not say. */
export type WhatsappSettings = {
  /** Meta's id of our business phone number: not the number itself. */
  phoneNumberId: string
  accessToken: string
  /** Signs what Meta tells us. */
  appSecret: string
  /** Proves that a subscription of our webhook is ours. */
  verifyToken: string
  baseUrl: string
  apiVersion: string
  /** The language of templates that are named without one. */
  templateLanguage: string
  /** The template that carries codes; without it, none can be sent here. */
  authenticationTemplate: string | undefined
  authenticationLanguage: string
  /** To whom subscribers write: as it is set, else the only one of `senderNames`; without both, the business phone number. */
  senderName: string | undefined
  /** Most calls under way at once. */
  window: number
  timeoutMs: number
}

/** Settings that are kept encrypted and never shown. */
export const secretSettings = ['accessToken', 'appSecret', 'verifyToken']

/** Of February 2026, served until July 2028. */
const API_VERSION = 'v25.0'

/** Reads the settings of a gateway's row; throws with the name of the setting that is wrong. */
export function readSettings(raw: RawSettings): WhatsappSettings {
  const templateLanguage = language(raw, 'templateLanguage', 'ru')
  return {
    phoneNumberId: like(raw, 'phoneNumberId', /^\d{1,32}$/, 'must be digits: the id of the number, not the number'),
    // It goes into a header: with a line break in it no call would leave the building.
    accessToken: like(raw, 'accessToken', /^[\x21-\x7e]+$/, 'must be a token without blanks'),
    appSecret: filled(raw, 'appSecret'),
    verifyToken: filled(raw, 'verifyToken'),
    baseUrl: address(raw, 'baseUrl', 'https://graph.facebook.com'),
    apiVersion: like(raw, 'apiVersion', /^v\d{1,3}\.\d{1,2}$/, 'must look like v25.0', API_VERSION),
    templateLanguage,
    authenticationTemplate: optional(raw, 'authenticationTemplate', templateName),
    authenticationLanguage: language(raw, 'authenticationLanguage', templateLanguage),
    senderName: optional(raw, 'senderName', senderName) ?? onlyName(raw),
    // The ordinary throughput of a number is 80 messages a second, and an answer takes about half of one.
    window: whole(raw, 'window', 40, 1, 1000),
    timeoutMs: whole(raw, 'timeoutMs', 30_000, 1, 300_000),
  }
}

function like(raw: RawSettings, name: string, pattern: RegExp, what: string, otherwise?: string): string {
  const value = text(raw, name, otherwise)
  if (!pattern.test(value)) throw wrongSetting(name, what)
  return value
}

/** A secret that is empty would let everybody in. */
const filled = (raw: RawSettings, name: string) => like(raw, name, /./s, 'is empty')

const language = (raw: RawSettings, name: string, otherwise: string) =>
  like(raw, name, /^[a-z]{2,3}(_[A-Za-z]{2,4})?$/, 'must look like ru or en_US', otherwise)

const templateName = (raw: RawSettings, name: string) =>
  like(raw, name, /^[a-z0-9_]{1,512}$/, 'must be the name of a template: a-z, 0-9 and _')

const senderName = (raw: RawSettings, name: string) => like(raw, name, /^.{1,64}$/s, 'must be 1 to 64 characters')
