import { refusalOfText } from '../../base/content/channel-text.ts'
import { compileTemplate } from '../../base/content/text-template.ts'
import { invalid } from '../../base/errors.ts'
import { isHttpUrl } from '../../base/network/http-url.ts'
import { countryIdOf } from '../../base/phone/countries.ts'
import {
  type PageSettings,
  senderFor,
  type VerifierLimits,
  type VerifierSettings,
  type WidgetLook,
  widgetThemes,
} from './verifier.ts'

/** The rules of the settings. Each message is a sentence that begins with the setting, named as the command line names it. */
export function refuseBadSettings(settings: VerifierSettings): void {
  const wrong = wrongSetting(settings)
  if (wrong) throw invalid(wrong)
}

const MOST_TEXT = 500
const MOST_LANGUAGES = 20

function wrongSetting(settings: VerifierSettings): string | undefined {
  return (
    wrongChannels(settings) ??
    wrongNumber('length', settings.codeLength, 4, 8) ??
    wrongNumber('lifetime', settings.lifetimeSeconds, 30, 3600) ??
    wrongNumber('tries', settings.tries, 1, 10) ??
    wrongNumber('pause', settings.pauseSeconds, 10, 3600) ??
    wrongFallback(settings) ??
    wrongTexts(settings.texts) ??
    wrongCountries(settings.countries) ??
    wrongHost(settings.webOtpHost) ??
    wrongAndroidHash(settings.androidHash) ??
    wrongCallbackUrl(settings.callbackUrl) ??
    wrongLimits(settings.limits)
  )
}

function wrongNumber(name: string, value: number, least: number, most: number): string | undefined {
  return Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : `${name} must be a whole number from ${least} to ${most}`
}

function wrongFallback({ fallbackSeconds, lifetimeSeconds, channels }: VerifierSettings): string | undefined {
  if (fallbackSeconds === null) return undefined
  if (channels.length < 2) return 'fallback needs two channels or more in --channels, such as SMS,VOICECODE'
  const wrong = wrongNumber('fallback', fallbackSeconds, 10, lifetimeSeconds)
  return wrong && `${wrong}, the lifetime of a code`
}

function wrongChannels(settings: VerifierSettings): string | undefined {
  const { channels } = settings
  if (channels.length === 0) return 'channels must name at least one channel'
  if (new Set(channels).size < channels.length) return 'channels must name each channel once'
  const nameless = channels.find(channel => senderFor(settings, channel) === undefined)
  if (nameless) return `senders must give a name for ${nameless}, such as ${nameless}=NAME`
}

/** Placeholders of our own are filled at sending; others are for the `substitutions` of a request. */
function wrongTexts(texts: Record<string, string>): string | undefined {
  const entries = Object.entries(texts)
  if (entries.length === 0 || entries.length > MOST_LANGUAGES)
    return `text must be given for 1 to ${MOST_LANGUAGES} languages`
  for (const [language, text] of entries) {
    if (!/^[a-z]{2,3}(-[a-z]{2,4})?$/.test(language))
      return `text must begin with a language code such as en or ru, not "${language}"`
    if (!text.includes('{code}')) return `text for ${language} must contain {code}`
    if (text.split('{code}').length > 2) return `text for ${language} must contain {code} only once`
    const refusal = text.length > MOST_TEXT ? `must have at most ${MOST_TEXT} characters` : refusalOfText('SMS', text)
    if (refusal) return `text for ${language} ${refusal}`
  }
}

function wrongCountries(countries: string[]): string | undefined {
  const unknown = countries.find(country => countryIdOf(country) === undefined)
  return unknown === undefined ? undefined : `countries must be ISO codes such as RU,KZ, not "${unknown}"`
}

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$|^localhost$/

const wrongHost = (host: string | null) =>
  host === null || HOST.test(host) ? undefined : 'web-otp must be the host of your site, such as shop.example'

const wrongAndroidHash = (hash: string | null) =>
  hash === null || /^[A-Za-z0-9+/]{11}$/.test(hash)
    ? undefined
    : 'android-hash must be the 11 characters that Google Play services made for your application'

const wrongCallbackUrl = (url: string | null) =>
  url === null || isHttpUrl(url) ? undefined : 'callback-url must be an http or https address'

function wrongLimits({ leastConfirmed, ...counts }: VerifierLimits): string | undefined {
  if (!(leastConfirmed >= 0 && leastConfirmed <= 1)) return 'least-confirmed must be from 0 to 1, such as 0.1'
  const wrong = Object.entries(counts).find(([, value]) => !Number.isInteger(value) || value < 1 || value > 1_000_000)
  return wrong && `${kebab(wrong[0])} must be a whole number from 1 to 1000000`
}

const MOST_ORIGINS = 100

export function refuseBadPage(page: PageSettings, settings: VerifierSettings, hasSecret: boolean): void {
  const wrong =
    wrongOrigins(page) ??
    wrongCaptcha(page) ??
    wrongCaptchaSecret(page, hasSecret) ??
    wrongPlaceholders(settings) ??
    (page.look && wrongLook(page.look))
  if (wrong) throw invalid(wrong)
}

function wrongOrigins({ origins }: PageSettings): string | undefined {
  if (origins.length === 0)
    return 'origins must name at least one site that may show the widget, such as https://shop.example'
  if (origins.length > MOST_ORIGINS) return `origins must name at most ${MOST_ORIGINS} sites`
  const wrong = origins.find(origin => !isOrigin(origin))
  return wrong === undefined ? undefined : `origins must be such as https://shop.example, not "${wrong}"`
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

const wrongCaptcha = ({ captcha, captchaSiteKey }: PageSettings) =>
  ['altcha', 'none'].includes(captcha) === (captchaSiteKey === null)
    ? undefined
    : `captcha-site-key ${captchaSiteKey === null ? `is needed for ${captcha}` : `does not go with ${captcha}`}`

const wrongCaptchaSecret = ({ captcha, captchaSiteKey }: PageSettings, hasSecret: boolean) =>
  (captchaSiteKey !== null) === hasSecret
    ? undefined
    : `captcha-secret ${hasSecret ? 'does not go with' : 'is needed for'} ${captcha}`

/** A code of a widget has no substitutions. */
function wrongPlaceholders({ texts }: VerifierSettings): string | undefined {
  for (const [language, text] of Object.entries(texts)) {
    const other = compileTemplate(text).names.find(name => name !== 'code')
    if (other) return `text for ${language} must have no placeholder but {code} in a widget, not {${other}}`
  }
}

const MOST_RADIUS = 24

function wrongLook({ accent, accentDark, radiusPixels, theme }: WidgetLook): string | undefined {
  if (!isColour(accent)) return `accent must be a colour such as #2b6d4f, not "${accent}"`
  if (!isColour(accentDark)) return `accent-dark must be a colour such as #3f8f6a, not "${accentDark}"`
  if (!widgetThemes.includes(theme)) return `theme must be one of ${widgetThemes.join(', ')}`
  return radiusPixels === null ? undefined : wrongNumber('radius', radiusPixels, 0, MOST_RADIUS)
}

const isColour = (text: string | null) => text === null || /^#[0-9a-f]{6}$/.test(text)

/** As the command line writes it: `perNumber` is `--per-number`. */
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
