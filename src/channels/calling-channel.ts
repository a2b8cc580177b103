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

/**
 * A channel that calls its provider once for every message, with a limit of calls at once. Batches take turns, so that a
 * single code does not wait behind a large dispatch. When the provider throttles, the channel makes no calls for as long
 * as the provider asks: waiting messages are reported as busy, and the channel is down, so that other gateways are used.
 */
export function createCallingChannel({ window, send }: CallingOptions): Channel {
  const jobs: Job[] = []
  const calls = new Set<Promise<void>>()
  let turn = 0
  let pausedUntil = 0
  let pauseReason = ''
  let failures = 0
  let downUntil = 0
  /** The last error. It stays after the provider has recovered; `lastErrorAt` shows its age. */
  let last: Pick<Health, 'lastError' | 'lastErrorAt'> = {}
  let stopping: Promise<void> | undefined

  function submit(batch: Outgoing[], report: Job['report'], mayGo: Job['mayGo']): Promise<void> {
    if (stopping || batch.length === 0) return Promise.resolve()
    return new Promise(resolve => {
      jobs.push({ batch, report, mayGo, next: 0, open: 0, resolve })
      pump()
    })
  }

  function pump() {
    while (calls.size < window && jobs.length > 0) {
      turn = (turn + 1) % jobs.length
      const job = jobs[turn]
      if (!job) return
      const index = job.next++
      if (job.next === job.batch.length) jobs.splice(turn--, 1)
      start(job, index)
    }
  }

  function start(job: Job, index: number) {
    if (!stopping && job.mayGo(index)) {
      const pausedMs = pausedUntil - performance.now()
      if (pausedMs <= 0) return handOver(job, index)
      job.report(index, { kind: 'busy', reason: pauseReason, retryAfterMs: Math.ceil(pausedMs) })
    }
    resolveIfDone(job)
  }

  function handOver(job: Job, index: number) {
    const message = job.batch[index]
    if (!message) throw new Error(`a batch of ${job.batch.length} messages has no message ${index}`)
    job.open++
    const called = sendSafely(message).then(sent => {
      calls.delete(called)
      job.open--
      job.report(index, note(sent))
      resolveIfDone(job)
      pump()
    })
    calls.add(called)
  }

  /** Only the name of the error is reported: its message could contain an address with a token. */
  async function sendSafely(message: Outgoing): Promise<Sent> {
    try {
      return await send(message)
    } catch (error) {
      return { kind: 'unknown', reason: `the connector failed: ${error instanceof Error ? error.name : typeof error}` }
    }
  }

  function note(sent: Sent): SendResult {
    if (sent.kind === 'not called') return { ...sent, kind: 'busy' }
    const isTrouble = sent.kind !== 'accepted' && sent.kind !== 'refused'
    failures = isTrouble ? failures + 1 : 0
    if (isTrouble) last = { lastError: sent.reason, lastErrorAt: new Date() }
    if (failures >= DOWN_AFTER) downUntil = performance.now() + DOWN_MS
    if (sent.kind !== 'throttled') return sent
    pausedUntil = Math.max(pausedUntil, performance.now() + sent.retryAfterMs)
    pauseReason = sent.reason
    return { kind: 'busy', reason: sent.reason, retryAfterMs: sent.retryAfterMs }
  }

  function resolveIfDone(job: Job) {
    if (job.open === 0 && job.next === job.batch.length) job.resolve()
  }

  async function end() {
    for (const job of jobs.splice(0)) {
      job.next = job.batch.length
      resolveIfDone(job)
    }
    await Promise.all(calls)
  }

  return {
    submit,
    window,
    health: () => ({
      up: !stopping && performance.now() >= Math.max(downUntil, pausedUntil),
      open: calls.size,
      ...last,
    }),
    stop() {
      stopping ??= end()
      return stopping
    },
  }
}
