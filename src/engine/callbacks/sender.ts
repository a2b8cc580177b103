import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Pool } from '../../db/sql.ts'
import type { Receiver } from '../../domain/callbacks/callback.ts'
import { expireCallbacks, releaseReceiver, saveProgress } from '../../domain/callbacks/callbacks.ts'
import { claimReceivers, findDueReceivers, renewReceivers } from '../../domain/callbacks/receivers.ts'
import { type Loop, repeat } from '../loop.ts'
import { Poster, type RequestSettings } from './request.ts'
import { type RoundContext, sendRound } from './round.ts'
import { keyOf, newSession, type Session, shownOf } from './session.ts'
import { TestCalls } from './test-calls.ts'

export type CallbackSettings = RequestSettings & {
  /** The pause between two attempts. */
  retrySeconds?: number
  /** How long the lease of a receiver is valid. An engine that cannot renew it stops sending after three quarters of it. */
  leaseSeconds?: number
}

export type CallbackSenderContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  settings: CallbackSettings
  /** Decrypts the signing secrets of companies. */
  key?: BoxKey | undefined
  tracer?: Tracer | undefined
}

const RETRY_SECONDS = 300
const LEASE_SECONDS = 8
const POLL_MS = 200
/** After a search the engine rests for this many times its duration, but not longer than a second. */
const RESTS = 4
const MOST_REST_MS = 1000
const SAVE_PROGRESS_EVERY_MS = 300
const EXPIRE_EVERY_MS = 1000
const TESTS_EVERY_MS = 500
const STOP_GRACE_MS = 3000

/** Most receivers that one engine serves at once, and how many of them may be failing receivers. */
const MOST_SESSIONS = 128
const MOST_FAILING = 64
/** After this time a session ends if other receivers wait for a session. */
const SLICE_MS = 5000

/**
 * Delivers callbacks, from its construction until `stop`. One engine at a time serves a receiver, in rounds: it reads the
 * next batches, sends a few requests at once, and writes the results with one statement. Any number of engines may run on
 * one database.
 *
 * A bad receiver does not delay the others. Each receiver has its own concurrent requests, and receivers that fail get at
 * most half of the sessions. The session of a slow receiver ends after a while if other receivers wait. The receiver that
 * was served longest ago is next.
 */
export class CallbackSender {
  readonly #context: CallbackSenderContext
  readonly #worker = randomUUID()
  readonly #retryMs: number
  readonly #leaseSeconds: number
  readonly #poster: Poster
  readonly #tests: TestCalls
  readonly #rounds: RoundContext
  readonly #sessions = new Map<string, Session>()
  readonly #running = new Set<Promise<void>>()
  readonly #scheduling: Promise<void>
  readonly #loops: Loop[]
  #isStopping = false
  /** More receivers are due than this engine has free sessions. */
  #isCrowded = false
  #savingProgress: Promise<unknown> = Promise.resolve()
  #sessionEnded = Promise.withResolvers<void>()

  constructor(context: CallbackSenderContext) {
    const { sql, clock, log, settings, key } = context
    this.#context = context
    this.#retryMs = (settings.retrySeconds ?? RETRY_SECONDS) * 1000
    this.#leaseSeconds = settings.leaseSeconds ?? LEASE_SECONDS
    this.#poster = new Poster(settings)
    this.#tests = new TestCalls({ sql, clock, log, poster: this.#poster, key })
    this.#rounds = this.#roundContext()
    this.#scheduling = this.#schedule()
    this.#loops = [
      repeat('callback leases', this.#leaseSeconds * 250, log, () => this.#renewLeases()),
      repeat('callback progress', SAVE_PROGRESS_EVERY_MS, log, () => this.#saveProgress()),
      repeat('callback expiry', EXPIRE_EVERY_MS, log, () => expireCallbacks(sql, clock())),
      repeat('callback tests', TESTS_EVERY_MS, log, () => this.#tests.sendNext()),
    ]
  }

  /** Waits a few seconds for open requests. Then it breaks them off, and the next engine sends their events again. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#sessionEnded.resolve()
    const grace = setTimeout(() => this.#poster.close(), STOP_GRACE_MS)
    await this.#scheduling
    await Promise.all(this.#running)
    clearTimeout(grace)
    this.#poster.close()
    await Promise.all(this.#loops.map(loop => loop.stop()))
    await this.#tests.ended()
  }

  #roundContext(): RoundContext {
    const { sql, clock, log, key, tracer } = this.#context
    return {
      sql,
      clock,
      log,
      poster: this.#poster,
      key,
      worker: this.#worker,
      retryMs: this.#retryMs,
      mayContinue: session => this.#mayContinue(session),
      isStopping: () => this.#isStopping,
      progressSaved: () => this.#savingProgress,
      tracer,
    }
  }

  async #schedule() {
    const { log } = this.#context
    while (!this.#isStopping) {
      this.#sessionEnded = Promise.withResolvers()
      const begunAt = performance.now()
      await this.#claimReceivers().catch(err => log.error({ err, loop: 'callbacks' }, 'loop.failed'))
      await this.#rest(Math.min(MOST_REST_MS, RESTS * (performance.now() - begunAt)))
      const timer = new AbortController()
      // When receivers wait for a session, the end of a session is the moment to look again. Otherwise polling is enough.
      await Promise.race([
        pause(POLL_MS, undefined, { signal: timer.signal }).catch(() => {}),
        ...(this.#isCrowded ? [this.#sessionEnded.promise] : []),
      ])
      timer.abort()
    }
  }

  /** While many companies wait for callbacks, a search takes long. It takes at most a part of the time of the database. */
  async #rest(ms: number) {
    if (!this.#isStopping) await pause(ms)
  }

  async #claimReceivers() {
    const { sql, clock } = this.#context
    const room = MOST_SESSIONS - this.#sessions.size
    const roomForFailing = Math.max(0, MOST_FAILING - this.#countFailing())
    const found = await findDueReceivers(sql, clock(), room + 1, roomForFailing)
    const due = found.filter(key => !this.#sessions.has(keyOf(key)))
    this.#isCrowded = due.length > room
    if (room === 0 || due.length === 0 || this.#isStopping) return
    const askedAt = performance.now()
    const claimed = await claimReceivers(sql, due.slice(0, room), this.#worker, this.#leaseSeconds, clock())
    for (const receiver of claimed) this.#begin(receiver, askedAt)
  }

  #countFailing(): number {
    return [...this.#sessions.values()].filter(session => session.failures > 0).length
  }

  #begin(receiver: Receiver, askedAt: number) {
    const session = newSession(receiver, this.#safeUntil(askedAt), performance.now() + SLICE_MS)
    this.#sessions.set(keyOf(session), session)
    const end = this.#serve(session).finally(() => {
      this.#sessions.delete(keyOf(session))
      this.#running.delete(end)
      this.#sessionEnded.resolve()
    })
    this.#running.add(end)
  }

  /** The lease counts from the moment it was requested: the process may have been frozen before it got the answer. */
  #safeUntil(askedAt: number): number {
    return askedAt + this.#leaseSeconds * 750
  }

  async #serve(session: Session) {
    const { sql, clock, log } = this.#context
    try {
      while (this.#mayContinue(session) && (await sendRound(this.#rounds, session)));
    } catch (err) {
      log.error({ err, companyId: session.companyId, receiver: session.receiver }, 'callback.failed')
    }
    const probeAt = session.paused ? new Date(clock().getTime() + this.#retryMs) : undefined
    if (probeAt && !session.beganPaused) log.warn({ ...shownOf(session), probeAt }, 'receiver.paused')
    await releaseReceiver(sql, session, this.#worker, probeAt).catch(err => log.error({ err }, 'callback.failed'))
  }

  #mayContinue(session: Session): boolean {
    if (this.#isStopping || session.paused || performance.now() >= session.safeUntil) return false
    if (session.failures > 0 && this.#countFailing() > MOST_FAILING) return false
    return !(this.#isCrowded && performance.now() >= session.sliceEnd)
  }

  async #renewLeases() {
    if (this.#sessions.size === 0) return
    const sessions = [...this.#sessions.values()]
    const askedAt = performance.now()
    const answered = await renewReceivers(this.#context.sql, sessions, this.#worker, this.#leaseSeconds)
    for (const { key: session, isOurs } of answered) session.safeUntil = isOurs ? this.#safeUntil(askedAt) : 0
  }

  /** Saves which events were accepted also during a round, so that few events are sent twice after a crash. */
  #saveProgress() {
    const batches = [...this.#sessions.values()].flatMap(session => session.batches.filter(batch => batch.unsaved))
    for (const batch of batches) batch.unsaved = false
    const saving = saveProgress(this.#context.sql, this.#worker, batches)
    this.#savingProgress = saving.catch(() => {})
    return saving
  }
}
