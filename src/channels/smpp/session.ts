import { type Answered, type Delivery, Link, type LinkOptions, type RequestDraft, type RequestResult } from './link.ts'
import { Pace } from './pace.ts'
import { status } from './protocol/status.ts'

export type SessionOptions = LinkOptions & {
  /** The most submissions without an answer. */
  window: number
  firstBackoffMs: number
  mostBackoffMs: number
  /** When the session stops, the longest wait for open requests and deliveries. */
  drainMs: number
}

/** An event of a bind, for the log. Reasons contain no message texts and no passwords. */
export type SessionEvent = { kind: 'bound' | 'closed' | 'malformed' | 'throttled'; reason?: string }

export type SessionListener = {
  onDelivery(pdu: Delivery, answer: (status: number) => void): void
  /** The room of the session may have changed. */
  onChange(): void
  onEvent(event: SessionEvent): void
  /** An error, in words for people; it contains no message texts and no passwords either. */
  onTrouble(reason: string): void
}

export type SubmitDraft = Extract<RequestDraft, { command: 'submit_sm' }>

export type SessionState = 'connecting' | 'bound' | 'waiting' | 'stopped'

/** The operator answers the same until an account is corrected. We retry seldom, because operators lock accounts. */
const REFUSED_FOR_LONG: number[] = [
  status.ESME_RBINDFAIL,
  status.ESME_RINVPASWD,
  status.ESME_RINVSYSID,
  status.ESME_RINVSYSTYP,
]
export const THROTTLED: number[] = [status.ESME_RTHROTTLED, status.ESME_RMSGQFUL]

const DRAIN_CHECK_MS = 5

/** Keeps one bind: connects, and connects again after each end of the connection, with growing, random pauses. */
export class Session {
  readonly #options: SessionOptions
  readonly #listener: SessionListener
  readonly #pace: Pace
  #state: SessionState = 'connecting'
  #link: Link | undefined
  #failures = 0
  #nextTryAt = 0
  #retrying: NodeJS.Timeout | undefined
  #resuming: NodeJS.Timeout | undefined
  #drainUntil = Number.POSITIVE_INFINITY
  #onEnded: (() => void) | undefined
  #stopping: Promise<void> | undefined

  constructor(options: SessionOptions, listener: SessionListener) {
    this.#options = options
    this.#listener = listener
    this.#pace = new Pace(options.window)
    this.#connect()
  }

  /** Only for a session with room. `late` gets an answer that comes after `done` was called with `silent`. */
  submit(draft: SubmitDraft, done: (answer: RequestResult) => void, late: (answer: Answered) => void): void {
    if (!this.#link) throw new Error('the session has no connection')
    const settle = (answer: RequestResult) => {
      if (answer.kind === 'answered') this.#keepPace(answer.status)
      done(answer)
      this.#listener.onChange()
    }
    this.#link.request(draft, settle, late)
  }

  /** Writes the submissions so far at once, without waiting for others. */
  flush(): void {
    this.#link?.flush()
  }

  /** How many more submissions the session takes now. */
  room(): number {
    return this.#link && this.isUp() ? this.#pace.room(this.#link.open, performance.now()) : 0
  }

  /** How long the session certainly takes nothing: the rest of a pause, or the time until it connects again. */
  idleMs(): number {
    if (this.#state === 'bound' && !this.#link?.isInDoubt) return this.#pace.pausedMs(performance.now())
    return this.#state === 'waiting' ? Math.max(1, this.#nextTryAt - performance.now()) : 1
  }

  state(): { state: SessionState; open: number; window: number } {
    return { state: this.#state, open: this.#link?.open ?? 0, window: this.#pace.window }
  }

  /** When the oldest submission without an answer was sent, by `performance.now()`. */
  oldestAt(): number | undefined {
    return this.#link?.oldestAt
  }

  /** Bound, and without doubt about the SMSC. */
  isUp(): boolean {
    return this.#state === 'bound' && this.#link !== undefined && this.#link.isUp && !this.#link.isInDoubt
  }

  /** Waits for open requests and deliveries, unbinds and closes. A second call can shorten the wait. */
  stop(drainMs = this.#options.drainMs): Promise<void> {
    this.#drainUntil = Math.min(this.#drainUntil, performance.now() + drainMs)
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  #connect() {
    this.#state = 'connecting'
    this.#link = new Link(this.#options, {
      onBound: () => this.#onBound(),
      onClosed: (reason, bindStatus) => this.#onClosed(reason, bindStatus),
      onDelivery: this.#listener.onDelivery,
      onMalformed: reason => this.#onMalformed(reason),
    })
  }

  #onMalformed(reason: string) {
    this.#listener.onTrouble(`malformed: ${reason}`)
    this.#listener.onEvent({ kind: 'malformed', reason })
  }

  #onBound() {
    this.#failures = 0
    if (this.#state === 'stopped') return
    this.#state = 'bound'
    this.#listener.onEvent({ kind: 'bound' })
    this.#listener.onChange()
  }

  #onClosed(reason: string, bindStatus?: number) {
    this.#link = undefined
    if (this.#state !== 'stopped') {
      this.#listener.onTrouble(reason)
      this.#state = 'waiting'
      this.#retryLater(bindStatus !== undefined && REFUSED_FOR_LONG.includes(bindStatus))
    }
    this.#onEnded?.()
    this.#listener.onEvent({ kind: 'closed', reason })
    this.#listener.onChange()
  }

  #retryLater(isForLong: boolean) {
    const waitMs = backoffMs(isForLong ? Number.POSITIVE_INFINITY : this.#failures, this.#options)
    this.#failures++
    this.#nextTryAt = performance.now() + waitMs
    const connect = () => this.#connect()
    this.#retrying = setTimeout(connect, waitMs)
  }

  #keepPace(code: number) {
    if (code === status.ESME_ROK) this.#pace.accepted()
    else if (code === status.ESME_RINVBNDSTS) this.#link?.destroy('the other side forgot the bind')
    else if (THROTTLED.includes(code)) this.#slowDown()
  }

  #slowDown() {
    const now = performance.now()
    const wasPaused = this.#pace.pausedMs(now) > 0
    const pauseMs = this.#pace.throttled(now)
    if (wasPaused) return
    clearTimeout(this.#resuming)
    this.#resuming = setTimeout(() => this.#listener.onChange(), Math.ceil(pauseMs) + 1)
    const reason = `window ${this.#pace.window}, pause ${Math.round(pauseMs)} ms`
    this.#listener.onTrouble(`throttled: ${reason}`)
    this.#listener.onEvent({ kind: 'throttled', reason })
  }

  async #stop() {
    this.#state = 'stopped'
    clearTimeout(this.#retrying)
    clearTimeout(this.#resuming)
    if (!this.#link?.isUp) return this.#link?.destroy('stopped')
    const ended = new Promise<void>(resolve => {
      this.#onEnded = resolve
    })
    await this.#drained()
    this.#link?.unbind()
    await ended
  }

  /** Resolves when open requests and deliveries have their answers, or the time is over. */
  async #drained() {
    while (this.#link && this.#link.open + this.#link.unanswered > 0 && performance.now() < this.#drainUntil) {
      await new Promise(resolve => setTimeout(resolve, DRAIN_CHECK_MS))
    }
  }
}

/** The pause after so many failures: twice the last, up to the longest, and random so that binds do not retry together. */
export function backoffMs(
  failures: number,
  { firstBackoffMs, mostBackoffMs }: Pick<SessionOptions, 'firstBackoffMs' | 'mostBackoffMs'>,
): number {
  return Math.min(firstBackoffMs * 2 ** failures, mostBackoffMs) * (0.5 + Math.random() / 2)
}
