import type { Logger } from 'pino'
import type { Pool } from '../../db/sql.ts'
import { type BufferLimits, type MinuteCount, RequestBuffer } from './buffer.ts'
import { KeyUses } from './key-uses.ts'
import type { LoggedRequest } from './request.ts'
import * as store from './store.ts'

const WRITE_EVERY_MS = 1000
const HOUR_MS = 3_600_000
const WARN_EVERY_MS = 60_000
const LAST_WRITE_MS = 2000

type WriterContext = {
  sql: Pool
  log: Logger
  limits?: BufferLimits
  everyMs?: number
  /** When the last uses of keys that could not be written are tried again. */
  usesAgainAfterMs?: number
}

/**
 * Writes the requests that this process answered, once a second and in one statement. A request only puts an object into
 * the buffer: it never waits for the database. During a write the next requests wait in the bounded buffer. A failed
 * write loses its requests.
 */
export class RequestWriter {
  readonly #sql: Pool
  readonly #log: Logger
  readonly #everyMs: number
  readonly #buffer: RequestBuffer
  readonly #uses: KeyUses
  #ensuredUntil = 0
  #warnedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #isStopped = false

  constructor({ sql, log, limits, everyMs = WRITE_EVERY_MS, usesAgainAfterMs }: WriterContext) {
    this.#sql = sql
    this.#log = log
    this.#everyMs = everyMs
    this.#buffer = new RequestBuffer(limits)
    this.#uses = new KeyUses({ sql, log, againAfterMs: usesAgainAfterMs })
  }

  note(request: LoggedRequest) {
    this.#buffer.add(request)
    this.#timer ??= setTimeout(() => this.#turn(), this.#everyMs).unref()
  }

  /** Writes the remaining requests and uses of keys, unless the database does not answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    const { promise, resolve } = Promise.withResolvers<void>()
    const patience = setTimeout(resolve, LAST_WRITE_MS)
    await Promise.race([promise, this.#writeLast()])
    clearTimeout(patience)
  }

  async #writeLast() {
    await this.#writing
    await this.write()
    await this.#uses.write()
  }

  /** Writes the requests of the buffer. Never throws: it drops requests that it cannot write. */
  async write(): Promise<void> {
    if (this.#buffer.isEmpty) return
    const { requests, counts } = this.#buffer.take()
    try {
      await this.#ensureHours(counts)
      await store.insertAll(this.#sql, requests, counts)
    } catch (err) {
      return this.#warn(err, requests.length)
    }
    this.#uses.note(counts)
  }

  #turn() {
    this.#timer = undefined
    if (this.#writing) return
    this.#writing = this.write().finally(() => {
      this.#writing = undefined
      if (!this.#buffer.isEmpty && !this.#isStopped)
        this.#timer ??= setTimeout(() => this.#turn(), this.#everyMs).unref()
    })
  }

  /** This hour and the next one, which may begin before the next write. */
  async #ensureHours(counts: MinuteCount[]) {
    const newest = Math.max(...counts.map(({ lastAt }) => lastAt.getTime()))
    if (newest < this.#ensuredUntil) return
    const oldest = Math.min(...counts.map(({ minute }) => minute.getTime()))
    for (const moment of [oldest, newest, newest + HOUR_MS]) await store.ensureHour(this.#sql, new Date(moment))
    this.#ensuredUntil = (Math.floor(newest / HOUR_MS) + 1) * HOUR_MS
  }

  #warn(err: unknown, lost: number) {
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn({ err, lost }, 'request_log.not_written')
  }
}
