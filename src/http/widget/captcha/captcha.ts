import { SearchLimiter } from '../../../base/concurrency/search-limiter.ts'
import type { CaptchaKind, PageSettings } from '../../../domain/verifiers/verifier.ts'
import { type Challenge, Challenges, type ChallengeUse } from './altcha.ts'
import { type ProviderKind, verifyWithProvider } from './providers.ts'

/** Base URLs of the providers. hCaptcha has two hosts unless one base URL is given. */
export type CaptchaUrls = { recaptcha: string; hcaptcha?: string | undefined; turnstile: string }

export const usualCaptchaUrls: CaptchaUrls = {
  recaptcha: 'https://www.google.com',
  turnstile: 'https://challenges.cloudflare.com',
}

/** The data that the browser needs to solve the captcha. */
export type CaptchaForBrowser =
  | { kind: 'altcha'; challenge: Challenge }
  | { kind: ProviderKind; siteKey: string; scriptUrl: string }
  | { kind: 'none' }

/**
 * `failed`: the visitor did not pass, error 110. `broken`: the settings or the provider prevent the check, error 340.
 * `use` is given for our own captcha: the caller records it, and refuses a second use of the same hash.
 */
export type CaptchaResult =
  | { kind: 'passed'; use?: ChallengeUse }
  | { kind: 'failed'; reason: string }
  | { kind: 'broken'; reason: string }

export type CaptchaWidget = { page: PageSettings; widgetId: string; captchaSecret: string | null }

export type Captchas = {
  describe(page: PageSettings, widgetId: string, now: Date): CaptchaForBrowser
  /** Throws `too_many_requests` if too many checks of this process wait for the provider. */
  judge(widget: CaptchaWidget, token: string | undefined, from: { address: string }, now: Date): Promise<CaptchaResult>
}

export function createCaptchas({
  secret,
  urls = usualCaptchaUrls,
}: {
  secret: string
  urls?: CaptchaUrls | undefined
}): Captchas {
  return new CaptchaChecks(secret, urls)
}

class CaptchaChecks implements Captchas {
  readonly #challenges: Challenges
  readonly #addresses: Record<ProviderKind, Addresses>

  /** A slow provider takes seconds for a check. The limit keeps one widget from using all places. */
  readonly #calls = new SearchLimiter({
    most: 200,
    mostOfOne: 50,
    mostWaiting: 500,
    mostWaitingOfOne: 100,
    patienceMs: 2000,
    refusal: 'Too many captchas are being checked at once; try again in some seconds',
  })

  constructor(secret: string, urls: CaptchaUrls) {
    this.#challenges = new Challenges(secret)
    this.#addresses = addressesBelow(urls)
  }

  describe(page: PageSettings, widgetId: string, now: Date): CaptchaForBrowser {
    if (isOfProvider(page.captcha)) {
      const { scriptUrl } = this.#addresses[page.captcha]
      return { kind: page.captcha, siteKey: page.captchaSiteKey ?? '', scriptUrl }
    }
    if (page.captcha === 'none') return { kind: 'none' }
    return { kind: 'altcha', challenge: this.#challenges.make(widgetId, now) }
  }

  async judge(widget: CaptchaWidget, token: string | undefined, from: { address: string }, now: Date) {
    const { captcha } = widget.page
    if (captcha === 'none') return { kind: 'passed' } as const
    if (!token) return { kind: 'failed', reason: 'The request has no solution of the captcha.' } as const
    if (!isOfProvider(captcha)) return this.#challenges.judge(widget.widgetId, token, now)
    return this.#calls.run(widget.widgetId, () => this.#askProvider(captcha, widget, token, from.address))
  }

  #askProvider(kind: ProviderKind, { page, captchaSecret }: CaptchaWidget, token: string, address: string) {
    const { verifyUrl } = this.#addresses[kind]
    const provider = { kind, verifyUrl, secret: captchaSecret ?? '', siteKey: page.captchaSiteKey ?? '' }
    return verifyWithProvider(provider, token, { address, origins: page.origins })
  }
}

const isOfProvider = (kind: CaptchaKind): kind is ProviderKind => kind !== 'altcha' && kind !== 'none'

type Addresses = { scriptUrl: string; verifyUrl: string }

/** `recaptchacompat=off`: hCaptcha's script leaves `window.grecaptcha` of the page alone. */
const addressesBelow = ({ recaptcha, hcaptcha, turnstile }: CaptchaUrls): Record<ProviderKind, Addresses> => ({
  recaptcha: {
    scriptUrl: `${recaptcha}/recaptcha/api.js?render=explicit`,
    verifyUrl: `${recaptcha}/recaptcha/api/siteverify`,
  },
  hcaptcha: {
    scriptUrl: `${hcaptcha ?? 'https://js.hcaptcha.com'}/1/api.js?render=explicit&recaptchacompat=off`,
    verifyUrl: `${hcaptcha ?? 'https://api.hcaptcha.com'}/siteverify`,
  },
  turnstile: {
    scriptUrl: `${turnstile}/turnstile/v0/api.js?render=explicit`,
    verifyUrl: `${turnstile}/turnstile/v0/siteverify`,
  },
})
