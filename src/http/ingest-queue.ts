import type { FastifyReply } from 'fastify'
import { AppError } from '../base/errors.ts'
import { MIB } from './body.ts'

/** Of the database connections: every other request needs one for a moment, for its token at least. */
const LEFT_FOR_OTHERS = 4

export const MOST_WAITING = 100
const MOST_WAITING_BYTES = 64 * MIB
const RETRY_AFTER_SECONDS = 5

export type InTurn = <T>(reply: FastifyReply, work: () => Promise<T>) => Promise<T>

/**
 * A request with many recipients keeps a database connection for as long as it is worked on. So only some of them are
 * worked on at once, and the next ones wait, in the order they came and only so many of them. Who hangs up while
 * waiting gives up the place.
 */
export function createIngestQueue(connections: number): InTurn {
  const atOnce = Math.max(1, connections - LEFT_FOR_OTHERS)
  const waiting = new Set<() => void>()
  let working = 0
  let waitingBytes = 0

  async function inTurn<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    if (working < atOnce) working += 1
    else await ownTurn(reply)
    try {
      return await work()
    } finally {
      passOn()
    }
  }

  function ownTurn({ raw, request }: FastifyReply): Promise<void> {
    const sizeBytes = request.rawBody?.length ?? 0
    if (waiting.size >= MOST_WAITING || waitingBytes + sizeBytes > MOST_WAITING_BYTES) throw tooBusy()

    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(admit)
        waitingBytes -= sizeBytes
        raw.off('close', hangUp)
      }
      const hangUp = () => {
        leave()
        reject(new AppError('not_ready', 'The client has gone'))
      }
      const admit = () => {
        leave()
        resolve()
      }
      waiting.add(admit)
      waitingBytes += sizeBytes
      raw.once('close', hangUp)
    })
  }

  /** Whoever has waited longest takes over the place as it is. */
  function passOn() {
    const [admitNext] = waiting
    if (admitNext) admitNext()
    else working -= 1
  }

  return inTurn
}

const tooBusy = () =>
  new AppError('not_ready', 'Too many dispatches are being taken in: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
