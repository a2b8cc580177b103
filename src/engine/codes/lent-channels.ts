import type { Channel, Health, Outgoing, SendResult } from '../../channels/channel.ts'
import { type LentState, monotonicMs, type Request, type ToCodes } from './protocol.ts'

/**
 * The main thread submits a message within this time or not at all. It is shorter than the time between the last
 * submission of a worker and the end of its lease, so another worker never has the message, too.
 */
const MOST_WAIT_MS = 1000
/** How often the time is extended while a slow operator has not got all messages. */
const EXTEND_EVERY_MS = 250
/** The pause before a message that the main thread did not submit is tried again. */
const NOT_SUBMITTED_MS = 100

type Report = (index: number, result: SendResult) => void
type Call = { report: Report; answered: () => void; failed: (error: Error) => void }

/**
 * The gateways of the main thread, in the codes thread. An operator limits the number of connections, so the two threads
 * share them: a code is submitted over the connections of the main thread.
 */
export class LentChannels {
  readonly #post: (request: Request) => void
  readonly #states = new Map<number, LentState>()
  readonly #calls = new Map<number, Call>()
  #lastCall = 0

  constructor(post: (request: Request) => void) {
    this.#post = post
  }

  channelOf(gatewayId: number): Channel {
    return new LentChannel(this, gatewayId)
  }

  stateOf(gatewayId: number): LentState | undefined {
    return this.#states.get(gatewayId)
  }

  /** Takes what the main thread tells about its gateways. */
  receive(message: Exclude<ToCodes, { kind: 'stop' }>): void {
    switch (message.kind) {
      case 'gateways':
        this.#states.clear()
        for (const state of message.states) this.#states.set(state.gatewayId, state)
        break
      case 'result':
        this.#calls.get(message.call)?.report(message.index, message.result)
        break
      case 'answered':
        this.#calls.get(message.call)?.answered()
        this.#calls.delete(message.call)
        break
      case 'failed':
        this.#calls.get(message.call)?.failed(new Error(message.error))
        this.#calls.delete(message.call)
    }
  }

  /** Resolves when the main thread has reported all results. Rejects when its connection failed. `stillGoing` tells which messages may still be submitted. */
  async submit(
    gatewayId: number,
    batch: Outgoing[],
    report: Report,
    stillGoing: (place: number) => boolean,
  ): Promise<void> {
    const call = ++this.#lastCall
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#calls.set(call, { report, answered: resolve, failed: reject })
    const latestAt = () => monotonicMs() + MOST_WAIT_MS
    this.#post({ kind: 'submit', call, gatewayId, batch, latestAt: latestAt() })
    const extending = setInterval(() => {
      const withdrawn = [...batch.keys()].filter(place => !stillGoing(place))
      this.#post({ kind: 'extend', call, latestAt: latestAt(), withdrawn })
    }, EXTEND_EVERY_MS)
    await promise.finally(() => clearInterval(extending))
  }
}

const notSubmitted: SendResult = {
  kind: 'busy',
  reason: 'the gateway was paused or not connected',
  retryAfterMs: NOT_SUBMITTED_MS,
}

class LentChannel implements Channel {
  readonly #lent: LentChannels
  readonly #gatewayId: number
  readonly #open = new Set<Promise<void>>()

  constructor(lent: LentChannels, gatewayId: number) {
    this.#lent = lent
    this.#gatewayId = gatewayId
  }

  get window(): number {
    return this.#lent.stateOf(this.#gatewayId)?.window ?? 0
  }

  health(): Health {
    const { up = false, binds } = this.#lent.stateOf(this.#gatewayId) ?? {}
    return binds ? { up, binds } : { up }
  }

  async submit(...[batch, report, mayGo]: Parameters<Channel['submit']>): Promise<void> {
    const submitted = this.#submit(batch, report, mayGo)
    this.#open.add(submitted)
    await submitted.finally(() => this.#open.delete(submitted))
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#open)
  }

  /**
   * The main thread may know earlier than this thread that a gateway is paused or gone. A message that it did not submit
   * is tried again after a moment, by which this thread knows it, too. A message that must not go any more gets no report.
   */
  async #submit(...[batch, report, mayGo]: Parameters<Channel['submit']>) {
    const going = [...batch.keys()].filter(index => mayGo(index))
    if (going.length === 0) return
    const messages = going.map(index => batch[index]!)
    const open = new Set(going.keys())
    const reportAt: Report = (place, result) => {
      open.delete(place)
      report(going[place]!, result)
    }
    await this.#lent.submit(this.#gatewayId, messages, reportAt, place => mayGo(going[place]!))
    for (const place of open) if (mayGo(going[place]!)) report(going[place]!, notSubmitted)
  }
}
