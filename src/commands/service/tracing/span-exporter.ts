import type { Logger } from 'pino'
import type { Attributes, Span } from '../../../base/tracing/span.ts'
import { otlpBodyOf } from './otlp.ts'

export type ExporterSettings = {
  /** The address of a collector that takes OTLP as JSON over HTTP. */
  url: string
  headers: Record<string, string>
  /** Describes this process. */
  resource: Attributes
  log: Logger
}

const SEND_EVERY_MS = 1000
const MOST_AT_ONCE = 512
/** Spans that wait to be sent. More are dropped: traces must never slow the service or fill its memory. */
const MOST_WAITING = 20_000
const REQUEST_MS = 5000
export const STOP_MS = 2000
const WARN_EVERY_MS = 60_000

/** Sends spans to a collector. A collector that is slow or away costs spans and a warning each minute, and nothing else. */
export class SpanExporter {
  readonly #settings: ExporterSettings
  readonly #timer: NodeJS.Timeout
  readonly #waiting: Span[] = []
  readonly #over = new AbortController()
  #sending: Promise<void> | undefined
  #lost = 0
  #reason = ''
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(settings: ExporterSettings) {
    this.#settings = settings
    this.#timer = setInterval(() => {
      this.#sendSoon()
      this.#warn()
    }, SEND_EVERY_MS).unref()
  }

  add = (span: Span): void => {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(span)
    else this.#lose(1, 'more spans than the collector takes')
    if (this.#waiting.length >= MOST_AT_ONCE) this.#sendSoon()
  }

  /** Sends the spans that still wait, within a short time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    const late = setTimeout(() => this.#over.abort(), STOP_MS)
    this.#sendSoon()
    await this.#sending
    clearTimeout(late)
    if (this.#waiting.length > 0) this.#lose(this.#waiting.length, 'the process stopped')
    this.#warnedAt = Number.NEGATIVE_INFINITY
    this.#warn()
  }

  #sendSoon() {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll() {
    while (this.#waiting.length > 0 && !this.#over.signal.aborted) await this.#sendNext()
  }

  async #sendNext() {
    const spans = this.#waiting.splice(0, MOST_AT_ONCE)
    const { url, resource } = this.#settings
    const headers = { ...this.#settings.headers, 'content-type': 'application/json' }
    const signal = AbortSignal.any([AbortSignal.timeout(REQUEST_MS), this.#over.signal])
    try {
      const body = otlpBodyOf(resource, spans)
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
      await response.body?.cancel()
      if (!response.ok) this.#lose(spans.length, `the collector answered ${response.status}`)
    } catch (error) {
      this.#lose(spans.length, reasonOf(error))
    }
  }

  #lose(spans: number, reason: string) {
    this.#lost += spans
    this.#reason = reason
  }

  #warn() {
    if (this.#lost === 0 || performance.now() - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = performance.now()
    this.#settings.log.warn({ spans: this.#lost, reason: this.#reason }, 'traces.lost')
    this.#lost = 0
  }
}

/** The message of the error can contain the address and the headers. */
function reasonOf(error: unknown): string {
  const { cause, name } = error as { cause?: { code?: string }; name?: string }
  return cause?.code ?? name ?? 'unknown error'
}
