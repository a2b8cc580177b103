import type { Channel, Health, Outgoing, SendResult } from './channel.ts'

/**
 * `throttled`: the provider takes no messages at all for a while. `not called`: the message must wait, and the provider
 * was not called, so the result says nothing about the state of the provider.
 */
export type Sent = SendResult | PutOff<'throttled'> | PutOff<'not called'>
type PutOff<K> = { kind: K; reason: string; retryAfterMs: number }

/** For providers that repeat our uuid in their receipts: the receipt finds a message even if its call had no answer. */
export const underOwnId = (sent: Sent, { uuid }: Outgoing): Sent =>
  sent.kind === 'unknown' ? { ...sent, taken: { 0: uuid } } : sent

export type CallingOptions = {
  /** The most calls at once. */
  window: number
  /** Sends one message. It does not throw. */
  send(message: Outgoing): Promise<Sent>
  /** The result of a call that has no answer when the channel has to stop. By default the message is not sent again. */
  unanswered?: (message: Outgoing, reason: string) => Sent
  /** How long a stop waits for answers. */
  drainMs?: number
}

type Job = {
  batch: Outgoing[]
  report: (index: number, result: SendResult) => void
  mayGo: (index: number) => boolean
  next: number
  open: number
  resolve: () => void
}

/** After so many failures in a row the channel is down for a while, so that other gateways are preferred. */
const DOWN_AFTER = 5
const DOWN_MS = 2000
const DRAIN_MS = 5000
const NO_CALLS_MS = 500

/**
 * A channel that calls its provider once for every message, with a limit of calls at once. Batches take turns, so that a
 * single code does not wait behind a large dispatch. When the provider throttles, the channel makes no calls for as long
 * as the provider asks: waiting messages are reported as busy, and the channel is down, so that other gateways are used.
 */
export class CallingChannel implements Channel {
  #window: number
  readonly #send: CallingOptions['send']
  readonly #unanswered: NonNullable<CallingOptions['unanswered']>
  readonly #drainMs: number
  /** End the open calls without their answers. */
  readonly #giveUps = new Set<() => void>()
  readonly #jobs: Job[] = []
  readonly #calls = new Set<Promise<void>>()
  #turn = 0
  #pausedUntil = 0
  #pauseReason = ''
  #failures = 0
  #downUntil = 0
  /** The last error. It stays after the provider has recovered; `lastErrorAt` shows its age. */
  #last: Pick<Health, 'lastError' | 'lastErrorAt'> = {}
  #stopping: Promise<void> | undefined

  constructor({ window, send, unanswered, drainMs = DRAIN_MS }: CallingOptions) {
    this.#window = window
    this.#send = send
    this.#unanswered = unanswered ?? ((_, reason) => ({ kind: 'unknown', reason }))
    this.#drainMs = drainMs
  }

  get window(): number {
    return this.#window
  }

  /** Changes the limit of calls at once. Resolves when no more calls than that are open. With 0, waiting messages are busy. */
  async setWindow(calls: number): Promise<void> {
    this.#window = calls
    this.#startCalls()
    if (calls === 0) for (const job of this.#jobs.splice(0)) delayRest(job)
    while (this.#calls.size > calls && this.#window === calls) await Promise.race(this.#calls)
  }

  submit(batch: Outgoing[], report: Job['report'], mayGo: Job['mayGo']): Promise<void> {
    if (this.#stopping || batch.length === 0) return Promise.resolve()
    return new Promise(resolve => {
      const job = { batch, report, mayGo, next: 0, open: 0, resolve }
      if (this.#window === 0) return delayRest(job)
      this.#jobs.push(job)
      this.#startCalls()
    })
  }

  health(): Health {
    const isUp = !this.#stopping && performance.now() >= Math.max(this.#downUntil, this.#pausedUntil)
    return { up: isUp, open: this.#calls.size, ...this.#last }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop() {
    for (const job of this.#jobs.splice(0)) {
      job.next = job.batch.length
      resolveIfDone(job)
    }
    const givingUp = setTimeout(() => this.#giveUps.forEach(giveUp => void giveUp()), this.#drainMs)
    await Promise.all(this.#calls)
    clearTimeout(givingUp)
  }

  #startCalls() {
    while (this.#calls.size < this.#window && this.#jobs.length > 0) {
      this.#turn = this.#nextTurn()
      const job = this.#jobs[this.#turn]
      if (!job) return
      const index = job.next++
      if (job.next === job.batch.length) this.#jobs.splice(this.#turn--, 1)
      this.#start(job, index)
    }
  }

  /** Jobs take turns, and codes go before all others. */
  #nextTurn(): number {
    const ofCodes = this.#jobs.findIndex(({ batch }) => batch[0]?.isCode)
    return ofCodes >= 0 ? ofCodes : (this.#turn + 1) % this.#jobs.length
  }

  #start(job: Job, index: number) {
    if (!this.#stopping && job.mayGo(index)) {
      const pausedMs = this.#pausedUntil - performance.now()
      if (pausedMs <= 0) return this.#call(job, index)
      job.report(index, { kind: 'busy', reason: this.#pauseReason, retryAfterMs: Math.ceil(pausedMs) })
    }
    resolveIfDone(job)
  }

  #call(job: Job, index: number) {
    const message = job.batch[index]
    if (!message) throw new Error(`a batch of ${job.batch.length} messages has no message ${index}`)
    job.open++
    const called = this.#sendSafely(message).then(sent => {
      this.#calls.delete(called)
      job.open--
      job.report(index, this.#resultOf(sent))
      resolveIfDone(job)
      this.#startCalls()
    })
    this.#calls.add(called)
  }

  /** Only the name of the error is reported: its message could contain an address with a token. */
  async #sendSafely(message: Outgoing): Promise<Sent> {
    const { promise, resolve } = Promise.withResolvers<Sent>()
    const giveUp = () => resolve(this.#unanswered(message, 'no answer before the stop'))
    this.#giveUps.add(giveUp)
    try {
      return await Promise.race([this.#send(message), promise])
    } catch (error) {
      return { kind: 'unknown', reason: `the connector failed: ${error instanceof Error ? error.name : typeof error}` }
    } finally {
      this.#giveUps.delete(giveUp)
    }
  }

  #resultOf(sent: Sent): SendResult {
    if (sent.kind === 'not called') return { ...sent, kind: 'busy' }
    this.#noteHealth(sent)
    if (sent.kind !== 'throttled') return sent
    this.#pause(sent)
    return { ...sent, kind: 'busy' }
  }

  #noteHealth(sent: Exclude<Sent, PutOff<'not called'>>) {
    if (sent.kind === 'accepted' || sent.kind === 'refused') {
      this.#failures = 0
      return
    }
    this.#failures += 1
    this.#last = { lastError: sent.reason, lastErrorAt: new Date() }
    if (this.#failures >= DOWN_AFTER) this.#downUntil = performance.now() + DOWN_MS
  }

  #pause({ reason, retryAfterMs }: PutOff<'throttled'>) {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + retryAfterMs)
    this.#pauseReason = reason
  }
}

function resolveIfDone(job: Job) {
  if (job.open === 0 && job.next === job.batch.length) job.resolve()
}

/** No call may be made now: another engine makes them, or this one a little later. */
function delayRest(job: Job) {
  const busy: SendResult = { kind: 'busy', reason: 'other engines make all calls', retryAfterMs: NO_CALLS_MS }
  while (job.next < job.batch.length) job.report(job.next++, busy)
  resolveIfDone(job)
}
