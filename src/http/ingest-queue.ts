import type { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { AppError } from '../base/errors.ts'
import { MIB } from './bodies/body.ts'

/** The database connections for all other requests: each needs one for a moment, at least to check its token. */
const LEFT_FOR_OTHERS = 4

export const MOST_WAITING = 100
const MOST_WAITING_BYTES = 64 * MIB
const RETRY_AFTER_SECONDS = 5

export type InTurn = <T>(reply: FastifyReply, work: () => Promise<T>) => Promise<T>

/**
 * Limits the requests with many recipients that are processed at once, because each uses a database connection. Further
 * requests wait in the order of their arrival, up to a limit. A client that closes the connection leaves the queue.
 */
export function createIngestQueue(connections: number): InTurn {
  const queue = new IngestQueue(Math.max(1, connections - LEFT_FOR_OTHERS))
  return (reply, work) => queue.run(reply, work)
}

/** The parts of a reply that the queue uses. */
type Waiting = { raw: EventEmitter; request: Pick<FastifyReply['request'], 'rawBody'> }

export class IngestQueue {
  readonly #mostRunning: number
  #running = 0
  readonly #waiting = new Set<() => void>()
  #waitingBytes = 0

  constructor(mostRunning: number) {
    this.#mostRunning = mostRunning
  }

  async run<T>(reply: Waiting, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#mostRunning) this.#running += 1
    else await this.#turnOf(reply)
    try {
      return await work()
    } finally {
      this.#startNext()
    }
  }

  #turnOf({ raw, request }: Waiting): Promise<void> {
    const sizeBytes = request.rawBody?.length ?? 0
    if (this.#waiting.size >= MOST_WAITING || this.#waitingBytes + sizeBytes > MOST_WAITING_BYTES) throw tooBusy()

    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(start)
        this.#waitingBytes -= sizeBytes
        raw.off('close', giveUp)
      }
      const giveUp = () => {
        leave()
        reject(new AppError('not_ready', 'The client has gone'))
      }
      const start = () => {
        leave()
        resolve()
      }
      this.#waiting.add(start)
      this.#waitingBytes += sizeBytes
      raw.once('close', giveUp)
    })
  }

  /** Starts the request that has waited longest. It replaces the finished one, so the number of running requests stays. */
  #startNext() {
    const [start] = this.#waiting
    if (start) start()
    else this.#running -= 1
  }
}

const tooBusy = () =>
  new AppError('not_ready', 'Too many dispatches are being taken in: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
