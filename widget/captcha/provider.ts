import type { ProviderKind } from '../api.ts'

const LOAD_TIMEOUT_MS = 15_000
/** The width of a provider's normal form. Its compact form is narrower and makes the widget higher. */
const WIDTH_PX = 304
const NAMES = { recaptcha: 'grecaptcha', hcaptcha: 'hcaptcha', turnstile: 'turnstile' } as const

/** The functions that the scripts of reCAPTCHA v2, hCaptcha and Turnstile have in common. */
interface ProviderScript {
  render(place: HTMLElement, options: Record<string, unknown>): string | number
  reset(id: string | number): void
}

export interface ProviderSettings {
  kind: ProviderKind
  siteKey: string
  scriptUrl: string
  theme: 'light' | 'dark'
  lang: string
}

/**
 * The captcha of a provider. Providers cannot draw inside a shadow root. They draw into a child of the host, which the
 * widget shows through a slot.
 */
export class Provider {
  readonly kind = 'provider'
  readonly #settings: ProviderSettings
  readonly #place: HTMLElement
  readonly #onChange: () => void
  readonly #onFailure: (reason: string) => void
  #token: string | undefined
  #reset = () => {}

  /** `onFailure` gets the reason: the script did not load, or the provider reported an error. */
  constructor(
    host: HTMLElement,
    settings: ProviderSettings,
    onChange: () => void,
    onFailure: (reason: string) => void,
  ) {
    this.#settings = settings
    this.#onChange = onChange
    this.#onFailure = onFailure
    this.#place = document.createElement('div')
    this.#place.slot = 'captcha'
    host.append(this.#place)
    loadScript(settings)
      .then(script => this.#draw(script))
      .catch(error => this.#fail(String(error?.message ?? error)))
  }

  get hasPassed() {
    return this.#token !== undefined
  }

  /** The service accepts a token once. For the next request the visitor passes the check again. */
  async token(): Promise<string | undefined> {
    const token = this.#token
    this.#forget()
    return token
  }

  stop() {
    this.#place.remove()
  }

  #draw(script: ProviderScript) {
    const width = this.#place.parentElement?.clientWidth
    if (width === undefined) return // the widget was stopped while the script loaded
    const { kind, siteKey, theme, lang } = this.#settings
    const isNarrow = width > 0 && width < WIDTH_PX + 2
    const id = script.render(this.#place, {
      sitekey: siteKey,
      theme,
      [kind === 'turnstile' ? 'language' : 'hl']: lang,
      size: isNarrow ? 'compact' : 'normal',
      callback: (token: string) => this.#take(token),
      'expired-callback': () => this.#forget(),
      'error-callback': (reason: unknown) => this.#fail(`${kind}: ${reason ?? 'error-callback'}`),
    })
    this.#reset = () => script.reset(id)
  }

  /** Does nothing after `stop`: providers may report an error again after the widget has shown it. */
  #fail(reason: string) {
    if (this.#place.parentElement) this.#onFailure(reason)
  }

  #take(token: string) {
    this.#token = token
    this.#onChange()
  }

  #forget() {
    this.#token = undefined
    this.#reset()
    this.#onChange()
  }
}

const loading = new Map<string, Promise<ProviderScript>>()
let failures = 0

/** Loads the script once for all widgets of a page. After a failure the next call loads it again. */
function loadScript({ kind, scriptUrl, lang }: ProviderSettings): Promise<ProviderScript> {
  const there = scriptOf(kind)
  if (there) return Promise.resolve(there)
  const started = loading.get(scriptUrl) ?? load(kind, scriptUrl, lang)
  loading.set(scriptUrl, started)
  started.catch(() => loading.delete(scriptUrl))
  return started
}

function load(kind: ProviderKind, scriptUrl: string, lang: string): Promise<ProviderScript> {
  return new Promise((resolve, reject) => {
    const callback = `tidingsLoaded_${kind}`
    const url = new URL(scriptUrl)
    url.searchParams.set('render', 'explicit')
    url.searchParams.set('onload', callback)
    url.searchParams.set('hl', lang)
    // Browsers join a second request for the same address to the first one, which may hang.
    if (failures > 0) url.searchParams.set('attempt', String(failures + 1))
    const script = Object.assign(document.createElement('script'), { src: url.href, async: true })
    const fail = (reason: string) => {
      failures++
      script.remove()
      reject(new Error(reason))
    }
    const timer = setTimeout(fail, LOAD_TIMEOUT_MS, `${url.host} did not answer within 15 s`)
    script.onerror = () => {
      clearTimeout(timer)
      fail(`${url.host} could not be loaded`)
    }
    // The providers' scripts load a second script first, and call this function when they are ready.
    Object.assign(window, {
      [callback]: () => {
        clearTimeout(timer)
        resolve(scriptOf(kind)!)
      },
    })
    document.head.append(script)
  })
}

function scriptOf(kind: ProviderKind): ProviderScript | undefined {
  const script = (window as unknown as Record<string, ProviderScript | undefined>)[NAMES[kind]]
  return script?.render ? script : undefined
}
