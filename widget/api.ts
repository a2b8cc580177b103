/** The requests of the browser to the service, under `/widget/api/`. */

export type Channel = 'SMS' | 'VOICECODE' | 'FLASHCALL' | 'WHATSAPP' | 'VIBER' | 'TELEGRAM' | 'TELEGRAM_GATEWAY'

export interface Challenge {
  algorithm: string
  challenge: string
  maxNumber: number
  salt: string
  signature: string
}

export type ProviderKind = 'recaptcha' | 'hcaptcha' | 'turnstile'

export type Captcha =
  | { kind: 'altcha'; challenge: Challenge }
  | { kind: ProviderKind; siteKey: string; scriptUrl: string }
  | { kind: 'none' }

export interface Opened {
  channels: Channel[]
  codeLength: number
  isBuilder: boolean
  captcha: Captcha
  look?: Look
}

/** How the widget looks where the page sets no variables of its own. */
export interface Look {
  accent: string | null
  accentDark: string | null
  radiusPixels: number | null
  theme: 'auto' | 'light' | 'dark'
}

export interface Refusal {
  code: number
  msg?: string
  retryAfterSeconds?: number
}

export interface State {
  state: 'WAITING' | 'SENT' | 'CONFIRMED' | 'FAILED'
  error?: Refusal
  channelType: Channel
  codeLength: number
  triesLeft: number
  secondsToExpire: number
  secondsToResend: number
  result?: string
}

/**
 * The site's server gets only the key. Checking a code needs the secret too, so that a stolen key cannot check codes.
 */
export interface Session {
  key: string
  secret: string
}

export interface SessionRequest {
  destination: string
  channelType: Channel
  captcha: string | undefined
}

export type Checked = State & { status: 'CONFIRMED' | 'WRONG_CODE' | 'EXPIRED' }

/** An error that the visitor sees, with its number. */
export class WidgetError extends Error {
  readonly code: number
  readonly retryAfterSeconds: number

  constructor({ code, msg, retryAfterSeconds = 0 }: Refusal) {
    super(msg ?? `Error ${code}`)
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The service cannot be reached, or does not answer in time. */
export class Offline extends Error {}

/** The requests of the widget. The preview in the cabinet implements them without the service. */
export interface Service {
  open(): Promise<Opened>
  createSession(request: SessionRequest): Promise<Session & State>
  deliver(session: Session): Promise<State>
  state(session: Session): Promise<State>
  check(session: Session, code: string): Promise<Checked>
  again(session: Session, channelType: Channel): Promise<State>
  /** Reports an error that only the browser knows to the service. The widget shows the error in any case. */
  report(code: 341 | 350, reason: string, key?: string): void
}

const TIMEOUT_MS = 20_000

export class Api implements Service {
  readonly #base: string
  readonly #widgetId: string
  readonly #lang: string
  readonly #stopped: AbortSignal

  constructor(base: string, widgetId: string, lang: string, stopped: AbortSignal) {
    this.#base = base
    this.#widgetId = widgetId
    this.#lang = lang
    this.#stopped = stopped
  }

  open(): Promise<Opened> {
    return this.#post('open', { widgetId: this.#widgetId, lang: this.#lang })
  }

  createSession(request: SessionRequest): Promise<Session & State> {
    return this.#post('sessions', { widgetId: this.#widgetId, lang: this.#lang, ...request })
  }

  deliver(session: Session): Promise<State> {
    return this.#post('deliver', session)
  }

  state(session: Session): Promise<State> {
    return this.#post('state', session)
  }

  check(session: Session, code: string): Promise<Checked> {
    return this.#post('check', { ...session, code })
  }

  again(session: Session, channelType: Channel): Promise<State> {
    return this.#post('again', { ...session, channelType })
  }

  report(code: 341 | 350, reason: string, key?: string) {
    this.#post('errors', { widgetId: this.#widgetId, key, code, reason: reason.slice(0, 200) }).catch(() => {})
  }

  async #post<Answer>(path: string, body: object): Promise<Answer> {
    const { ok, text } = await this.#send(path, body)
    const answer = parsed(text)
    if (ok) return answer as Answer
    const refusal = (answer as { error?: Refusal } | undefined)?.error
    throw new WidgetError(refusal?.code ? refusal : { code: 5000 })
  }

  async #send(path: string, body: object): Promise<{ ok: boolean; text: string }> {
    const abort = new AbortController()
    const stop = () => abort.abort()
    const timer = setTimeout(stop, TIMEOUT_MS)
    this.#stopped.addEventListener('abort', stop)
    try {
      const response = await fetch(`${this.#base}api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        credentials: 'omit',
        referrerPolicy: 'origin',
        signal: abort.signal,
      })
      return { ok: response.ok, text: await response.text() }
    } catch (error) {
      throw new Offline(String(error))
    } finally {
      clearTimeout(timer)
      this.#stopped.removeEventListener('abort', stop)
    }
  }
}

/**
 * Undefined for an answer that is not JSON: a proxy may answer in HTML. The widget reports it as an error of the
 * service.
 */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    return undefined
  }
}
