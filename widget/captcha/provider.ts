import type { ProviderKind } from '../api.ts'

const LOAD_TIMEOUT_MS = 15_000
/** Providers draw as wide as this, or in a compact form, which makes the widget higher. */
const WIDTH_PX = 304
const NAMES = { recaptcha: 'grecaptcha', hcaptcha: 'hcaptcha', turnstile: 'turnstile' } as const

/** What the scripts of reCAPTCHA v2, hCaptcha and Turnstile have in common. */
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
 * The captcha of a provider. None of them can draw inside of a shadow root: it gets a child of the host, which the
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

  /** `onFailure` gets the reason: the script did not load, or the provider's own error. */
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

  /** A token is good for one request: the visitor then has to pass the check again. */
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
    if (width === undefined) return // stopped meanwhile
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

  /** Providers may repeat an error, also after the widget has shown it. */
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

/** One script for all widgets of a page. One that did not load is asked for again by the next try. */
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
    // Browsers attach a second request for the same address to the first one, which may hang.
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
    // The file alone is not enough: these scripts load a second one, and then call this function.
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
