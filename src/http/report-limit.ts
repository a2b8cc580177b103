import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AppError } from '../base/errors.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Limits the reports that a process sends at a time, in all and for one partner (or, in the cabinet, one person). A report
 * reads the database and uses the event loop until its client has read it.
 */
export class ReportLimit {
  readonly #most: number
  readonly #mostOfPartner: number
  readonly #byPartner = new Map<number, number>()
  #open = 0

  constructor(most: number, mostOfPartner: number) {
    this.#most = most
    this.#mostOfPartner = mostOfPartner
  }

  /** Counts the report until its stream is closed, or refuses it. */
  admit<T extends Readable>(partnerId: number, open: () => T): T {
    const ofPartner = this.#byPartner.get(partnerId) ?? 0
    if (ofPartner >= this.#mostOfPartner) throw tooManyOfPartner(this.#mostOfPartner)
    if (this.#open >= this.#most) throw tooManyInAll()
    const stream = open()
    this.#open += 1
    this.#byPartner.set(partnerId, ofPartner + 1)
    stream.once('close', () => this.#leave(partnerId))
    return stream
  }

  #leave(partnerId: number) {
    this.#open -= 1
    const left = (this.#byPartner.get(partnerId) ?? 0) - 1
    if (left > 0) this.#byPartner.set(partnerId, left)
    else this.#byPartner.delete(partnerId)
  }
}

const tooManyOfPartner = (limit: number) =>
  new AppError('too_many_requests', `At most ${limit} reports can be read at a time`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    limit,
  })

const tooManyInAll = () =>
  new AppError('not_ready', 'Too many reports are being read: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/**
 * Sends a file while it is read. HEAD needs no line of it. A text instead of the stream would have a Content-Length of
 * zero.
 */
export const sendFile = (method: string, reply: FastifyReply, open: () => Readable): FastifyReply =>
  reply.send(method === 'HEAD' ? Readable.from([]) : open())

/** Ends the report if its client reads nothing for this long. A stalled client must not use up the limit for ever. */
export function streamOf(pieces: AsyncIterable<string | Buffer>, stallMs: number): Readable {
  async function* watched() {
    clearTimeout(unread)
    for await (const piece of pieces) {
      const stalled = setTimeout(() => stream.destroy(), stallMs)
      try {
        yield piece
      } finally {
        clearTimeout(stalled)
      }
    }
  }
  const stream = Readable.from(watched(), { highWaterMark: 1 })
  const unread = setTimeout(() => stream.destroy(), stallMs)
  return stream
}
