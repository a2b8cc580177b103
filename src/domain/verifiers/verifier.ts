import type { ChannelType } from '../../base/channel-types.ts'

/** Channels that can carry a code. */
export const verifierChannels = [
  'SMS',
  'VOICECODE',
  'FLASHCALL',
  'WHATSAPP',
  'VIBER',
  'TELEGRAM',
  'TELEGRAM_GATEWAY',
] as const satisfies readonly ChannelType[]

export type VerifierChannel = (typeof verifierChannels)[number]

/** A verifier serves the API; a widget is a verifier with the settings of a page. */
export type VerifierKind = 'API' | 'WIDGET'

/** How codes are sent and how long they are good. */
export type VerifierSettings = {
  /** In the order in which they are tried and offered. */
  channels: VerifierChannel[]
  /** Sender names; a channel without one uses the name in `defaultSenders`. */
  senders: Partial<Record<VerifierChannel, string>>
  /** Goes on to the next channel after a failure, or after so many seconds without delivery. Null: it does not. */
  fallbackSeconds: number | null
  codeLength: number
  lifetimeSeconds: number
  tries: number
  /** The least time between two codes for one number; it grows with every code that is not confirmed. */
  pauseSeconds: number
  /** Texts by language, each with `{code}`. */
  texts: Record<string, string>
  /** ISO codes of the countries whose numbers are served; an empty list means all. */
  countries: string[]
  /** The host in the last line of an SMS (`@host #code`), by which browsers fill the code in. */
  webOtpHost: string | null
  /** The hash of an Android application, which fills the code in (SMS Retriever). */
  androidHash: string | null
  callbackUrl: string | null
  limits: VerifierLimits
}

/** How many codes may be sent within an hour, or within a day for one number. */
export type VerifierLimits = {
  perNumber: number
  perAddress: number
  perPrefix: number
  perVerifier: number
  perCompany: number
  /** A prefix is blocked when less than this share of its codes is confirmed. */
  leastConfirmed: number
}

export const captchaKinds = ['altcha', 'recaptcha', 'hcaptcha', 'turnstile', 'none'] as const
export type CaptchaKind = (typeof captchaKinds)[number]

/** What a widget has beyond a verifier. */
export type PageSettings = {
  /** Origins of the pages that may show the widget, such as `https://shop.example`. */
  origins: string[]
  captcha: CaptchaKind
  /** What the captcha's provider calls the site; null for our own captcha. */
  captchaSiteKey: string | null
  /** For pages of a site builder, which have no server: the widget itself asks for the code. */
  isBuilder: boolean
  /** Missing: the usual look. */
  look?: WidgetLook
}

export const widgetThemes = ['auto', 'light', 'dark'] as const

/** How a widget looks where the page sets no CSS variables of its own. Null stands for the usual value. */
export type WidgetLook = {
  /** The colour of the main button, as `#2b6d4f`; the second one is for the dark theme. */
  accent: string | null
  accentDark: string | null
  radiusPixels: number | null
  /** Where the page names no theme. */
  theme: (typeof widgetThemes)[number]
}

export type Verifier = {
  companyId: number
  verifierId: string
  kind: VerifierKind
  name: string
  settings: VerifierSettings
  /** Of a widget alone. */
  page: PageSettings | null
  /** What the captcha's provider gave to check answers with, encrypted. */
  captchaSecret: Buffer | null
  createdAt: Date
}

/** A verifier with a page. */
export type Widget = Verifier & { page: PageSettings }

/** The sender names of codes, if a verifier has no other. */
export const defaultSenders: Partial<Record<VerifierChannel, string>> = {
  SMS: 'sms_promo',
  VOICECODE: 'voicecode',
  FLASHCALL: 'flashcall',
  TELEGRAM_GATEWAY: 'telegram',
}

export const senderFor = ({ senders }: VerifierSettings, channel: VerifierChannel): string | undefined =>
  senders[channel] ?? defaultSenders[channel]

export const defaultLimits: VerifierLimits = {
  perNumber: 10,
  perAddress: 30,
  perPrefix: 300,
  perVerifier: 20_000,
  perCompany: 50_000,
  leastConfirmed: 0.1,
}

export const defaultSettings: VerifierSettings = {
  channels: ['SMS'],
  senders: {},
  fallbackSeconds: null,
  codeLength: 6,
  lifetimeSeconds: 300,
  tries: 3,
  pauseSeconds: 60,
  texts: { en: 'Your code: {code}', ru: 'Ваш код: {code}' },
  countries: [],
  webOtpHost: null,
  androidHash: null,
  callbackUrl: null,
  limits: defaultLimits,
}

export const defaultPage: PageSettings = { origins: [], captcha: 'altcha', captchaSiteKey: null, isBuilder: false }
