import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { within } from '../../base/concurrency/within.ts'
import type { Gateways } from '../gateways/gateways.ts'
import { type FromCodes, type LentState, monotonicMs, type Request, type ToCodes } from './protocol.ts'
import { RequestReceiver } from './requests.ts'

/** How often the thread learns which gateways are up. */
const STATES_EVERY_MS = 100
/** A thread that has said nothing for so many of these times, ten seconds, hangs. It speaks every second. */
const MOST_SILENT_TURNS = 100
/** After a failure the main thread sends the codes for this long, before another thread is started. */
const PAUSE_MS = 10_000
/** A thread that is still starting has no codes to finish. */
const STOP_STARTING_MS = 2000

export type CodesThreadContext = {
  log: Logger
  /** Starts the thread. It calls `serveCodes`. */
  start: () => Worker
  gateways: Pick<Gateways, 'connections' | 'isPaused' | 'addStatesOfThread'>
  /** A code waits for this limit. */
  onWanted(subject: string, forMs: number): void
}

type Submit = Extract<Request, { kind: 'submit' }>
/** Messages of the thread that are being submitted. */
type Call = { latestAt: number; withdrawn: Set<number> }

/**
 * The thread that sends the verification codes of an engine. A code needs several answers of the database before it is
 * submitted. In the main thread each answer waits behind the work for thousands of other messages. The thread has an event
 * loop and connections of its own. It is started with the first code, and the main thread sends codes until it is ready.
 *
 * When the thread fails, the main thread sends codes again, and the leases of the thread expire as after a kill.
 */
export class CodesThread {
  readonly #context: CodesThreadContext
  #running: RunningThread | undefined
  #isStopping = false
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(context: CodesThreadContext) {
    this.#context = context
  }

  /** True while the thread sends the codes. */
  get isServing(): boolean {
    return this.#running?.isReady ?? false
  }

  /** The codes that the thread has submitted and not recorded. */
  get unrecorded(): number {
    return this.#running?.unrecorded ?? 0
  }

  /** There are codes to send. */
  start(): void {
    if (this.#running || this.#isStopping || performance.now() < this.#failedAt + PAUSE_MS) return
    try {
      this.#running = new RunningThread(this.#context, () => this.#forget())
    } catch (err) {
      this.#context.log.error({ err }, 'codes_thread.failed')
      this.#forget()
    }
  }

  /** Submits the codes that the thread asks for. Long work of the main thread calls it, because codes must not wait for its end. */
  submitCodes(): void {
    this.#running?.submitCodes()
  }

  /** Resolves when the thread has sent and recorded its codes, at the latest after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true
    await this.#running?.stop(limitMs)
  }

  #forget() {
    this.#running = undefined
    this.#failedAt = performance.now()
    this.#context.gateways.addStatesOfThread(undefined)
  }
}

/** One thread, from its start to its end. */
class RunningThread {
  readonly #context: CodesThreadContext
  readonly #worker: Worker
  readonly #ended = Promise.withResolvers<void>()
  readonly #calls = new Map<number, Call>()
  readonly #telling: NodeJS.Timeout
  #requests: RequestReceiver | undefined
  #states = ''
  #silentTurns = 0
  isReady = false
  unrecorded = 0

  constructor(context: CodesThreadContext, onEnd: () => void) {
    this.#context = context
    this.#worker = context.start()
    this.#worker.on('message', (message: FromCodes) => this.#take(message))
    this.#worker.on('error', err => context.log.error({ err }, 'codes_thread.failed'))
    this.#telling = setInterval(() => this.#turn(), STATES_EVERY_MS)
    this.#worker.on('exit', () => {
      clearInterval(this.#telling)
      this.#requests?.close()
      onEnd()
      this.#ended.resolve()
    })
  }

  submitCodes(): void {
    this.#requests?.takeWaiting()
  }

  async stop(limitMs: number): Promise<void> {
    this.#post({ kind: 'stop' })
    const mostMs = this.isReady ? limitMs : Math.min(limitMs, STOP_STARTING_MS)
    await within(mostMs, this.#ended.promise).catch(() => this.#worker.terminate())
  }

  #take(message: FromCodes): void {
    this.#silentTurns = 0
    switch (message.kind) {
      case 'request_port':
        this.#requests = new RequestReceiver(message.receiving, request => this.#takeRequest(request))
        break
      case 'ready':
        this.#tellStates()
        this.isReady = true
        this.#context.log.info('codes_thread.ready')
        break
      case 'states':
        this.unrecorded = message.unrecorded
        this.#context.gateways.addStatesOfThread(message.states)
        break
      case 'wanted':
        this.#context.onWanted(message.subject, message.forMs)
    }
  }

  #takeRequest(request: Request): void {
    this.#silentTurns = 0
    if (request.kind === 'submit') void this.#submit(request)
    else this.#extend(request)
  }

  /** The connection of the gateway may be gone by now. Then no result is reported. */
  async #submit({ call, gatewayId, batch, latestAt }: Submit) {
    const { gateways } = this.#context
    const open: Call = { latestAt, withdrawn: new Set() }
    this.#calls.set(call, open)
    try {
      await gateways
        .connections()
        .get(gatewayId)
        ?.submit(
          batch,
          (index, result) => this.#post({ kind: 'result', call, index, result }),
          index => monotonicMs() < open.latestAt && !open.withdrawn.has(index) && !gateways.isPaused(gatewayId),
        )
      this.#post({ kind: 'answered', call })
    } catch (err) {
      this.#post({ kind: 'failed', call, error: String(err) }) // the thread logs it and decides what becomes of the messages
    }
    this.#calls.delete(call)
  }

  #extend({ call, latestAt, withdrawn }: Extract<Request, { kind: 'extend' }>) {
    const open = this.#calls.get(call)
    if (!open) return // its answer is on its way
    open.latestAt = latestAt
    for (const place of withdrawn) open.withdrawn.add(place)
  }

  /** Counts its own turns instead of the time: after a freeze of the whole process the thread speaks again, too. */
  #turn() {
    this.#tellStates()
    this.#silentTurns += 1
    if (!this.isReady || this.#silentTurns !== MOST_SILENT_TURNS) return
    this.#context.log.error({ reason: 'the thread does not answer' }, 'codes_thread.failed')
    void this.#worker.terminate()
  }

  #tellStates() {
    const states: LentState[] = [...this.#context.gateways.connections()].map(([gatewayId, connection]) => {
      const { up, binds } = connection.health()
      return { gatewayId, window: connection.window, up, ...(binds ? { binds } : {}) }
    })
    const text = JSON.stringify(states)
    if (text === this.#states) return
    this.#states = text
    this.#post({ kind: 'gateways', states })
  }

  #post(message: ToCodes) {
    this.#worker.postMessage(message)
  }
}
