import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { within } from '../../base/concurrency/within.ts'
import type { Gateways } from '../gateways/gateways.ts'
import { type FromCodes, type LentState, monotonicMs, type ToCodes } from './protocol.ts'

/** How often the thread learns which gateways are up. */
const STATES_EVERY_MS = 100
/** After a failure the main thread sends the codes for this long, before another thread is started. */
const PAUSE_MS = 10_000

export type CodesThreadContext = {
  log: Logger
  /** Starts the thread. It calls `serveCodes`. */
  start: () => Worker
  gateways: Pick<Gateways, 'connections' | 'addStatesOfThread'>
  /** A code waits for this limit. */
  onWanted(subject: string, forMs: number): void
}

/**
 * The thread that sends the verification codes of an engine. A code needs several answers of the database before it is
 * submitted. In the main thread each answer waits behind the work for thousands of other messages. The thread has an event
 * loop and connections of its own. It is started with the first code, and the main thread sends codes until it is ready.
 *
 * When the thread fails, the main thread sends codes again, and the leases of the thread expire as after a kill.
 */
export class CodesThread {
  readonly #context: CodesThreadContext
  #worker: Worker | undefined
  #ended = Promise.resolve()
  #isReady = false
  #isStopping = false
  #failedAt = Number.NEGATIVE_INFINITY
  #states = ''
  #telling: NodeJS.Timeout | undefined

  constructor(context: CodesThreadContext) {
    this.#context = context
  }

  /** True while the thread sends the codes. */
  get isServing(): boolean {
    return this.#isReady
  }

  /** There are codes to send. */
  start(): void {
    if (this.#worker || this.#isStopping || performance.now() < this.#failedAt + PAUSE_MS) return
    const worker = this.#context.start()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#worker = worker
    this.#ended = promise
    worker.on('message', (message: FromCodes) => void this.#take(message, worker))
    worker.on('error', err => this.#context.log.error({ err }, 'codes_thread.failed'))
    worker.on('exit', () => {
      this.#forget()
      resolve()
    })
    this.#telling = setInterval(() => this.#tellStates(), STATES_EVERY_MS)
  }

  /** Resolves when the thread has sent and recorded its codes, at the latest after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true
    const worker = this.#worker
    if (!worker) return
    this.#post({ kind: 'stop' })
    await within(limitMs, this.#ended).catch(() => worker.terminate())
  }

  #forget() {
    clearInterval(this.#telling)
    this.#worker = undefined
    this.#isReady = false
    this.#states = ''
    this.#context.gateways.addStatesOfThread(undefined)
    if (!this.#isStopping) this.#failedAt = performance.now()
  }

  async #take(message: FromCodes, worker: Worker) {
    switch (message.kind) {
      case 'ready':
        this.#tellStates()
        this.#isReady = true
        this.#context.log.info('codes_thread.ready')
        return
      case 'states':
        return this.#context.gateways.addStatesOfThread(message.states)
      case 'wanted':
        return this.#context.onWanted(message.subject, message.forMs)
      case 'submit':
        await this.#submit(message).catch(err => this.#context.log.error({ err }, 'codes_thread.not_submitted'))
        if (worker === this.#worker) this.#post({ kind: 'answered', call: message.call })
    }
  }

  /** The connection of the gateway may be gone by now. Then no result is reported. */
  async #submit({ call, gatewayId, batch, latestAt }: Extract<FromCodes, { kind: 'submit' }>) {
    const connection = this.#context.gateways.connections().get(gatewayId)
    await connection?.submit(
      batch,
      (index, result) => this.#post({ kind: 'result', call, index, result }),
      () => monotonicMs() < latestAt,
    )
  }

  #tellStates() {
    const states: LentState[] = [...this.#context.gateways.connections()].map(([gatewayId, connection]) => ({
      gatewayId,
      up: connection.health().up,
      window: connection.window,
    }))
    const text = JSON.stringify(states)
    if (text === this.#states) return
    this.#states = text
    this.#post({ kind: 'gateways', states })
  }

  #post(message: ToCodes) {
    this.#worker?.postMessage(message)
  }
}
