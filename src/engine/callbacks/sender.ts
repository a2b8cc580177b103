import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Pool } from '../../db/sql.ts'
import type { Receiver } from '../../domain/callbacks/callback.ts'
import {
  claimReceivers,
  expireCallbacks,
  findDueReceivers,
  releaseReceiver,
  renewReceivers,
  saveProgress,
} from '../../domain/callbacks/callbacks.ts'
import { repeat } from '../loop.ts'
import { createPoster, type RequestSettings } from './request.ts'
import { type RoundContext, sendRound } from './round.ts'
import { keyOf, newSession, type Session, shownOf } from './session.ts'
import { TestCalls } from './test-calls.ts'

export type CallbackSettings = RequestSettings & {
  /** The pause between two tries. */
  retrySeconds?: number
  /** How long a receiver stays ours without being renewed; who holds it stops asking when three quarters are over. */
  leaseSeconds?: number
}

export type CallbackSenderContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  settings: CallbackSettings
  /** Opens the signing secrets of companies. */
  key?: BoxKey | undefined
}

const RETRY_SECONDS = 300
const LEASE_SECONDS = 8
const POLL_MS = 200
const SAVE_PROGRESS_EVERY_MS = 300
const EXPIRE_EVERY_MS = 1000
const TESTS_EVERY_MS = 500
const STOP_GRACE_MS = 3000

/** Receivers served at once by one process, and of these so many whose last request failed. */
const MOST_SESSIONS = 128
const MOST_DOUBTFUL = 64
/** How long one that others wait for may go on. */
const SLICE_MS = 5000

/**
 * Delivers callbacks. A receiver is served by one engine at a time, in rounds: its next batches are read, sent over a
 * few lanes and written back with one statement. Any number of engines may run on one database.
 *
 * Nobody waits for a bad receiver: each has lanes of its own, and the receivers that fail may take no more than half
 * of the sessions. Those that are merely slow give theirs up after a while when others wait, and the one served
 * longest ago is next.
 */
export function startCallbackSender({ sql, clock, log, settings, key }: CallbackSenderContext): {
  stop(): Promise<void>
} {
  const worker = randomUUID()
  const retryMs = (settings.retrySeconds ?? RETRY_SECONDS) * 1000
  const leaseSeconds = settings.leaseSeconds ?? LEASE_SECONDS
  const poster = createPoster(settings)
  const tests = new TestCalls({ sql, clock, log, poster, key })
  const sessions = new Map<string, Session>()
  const ended = new Set<Promise<void>>()
  let stopping = false
  let crowded = false
  let savingProgress: Promise<unknown> = Promise.resolve()
  let wake = () => {}

  const rounds: RoundContext = {
    sql,
    clock,
    log,
    poster,
    key,
    worker,
    retryMs,
    mayGoOn,
    isStopping: () => stopping,
    progressNoted: () => savingProgress,
  }
  const scheduling = schedule()
  const loops = [
    repeat('callback leases', leaseSeconds * 250, log, renewLeases),
    repeat('callback progress', SAVE_PROGRESS_EVERY_MS, log, noteProgress),
    repeat('callback expiry', EXPIRE_EVERY_MS, log, () => expireCallbacks(sql, clock())),
    repeat('callback tests', TESTS_EVERY_MS, log, () => tests.sendNext()),
  ]

  async function schedule() {
    while (!stopping) {
      const woken = new Promise<void>(resolve => {
        wake = resolve
      })
      await takeReceivers().catch(err => log.error({ err, loop: 'callbacks' }, 'loop.failed'))
      const timer = new AbortController()
      // Somebody waits: the next session that ends makes room. Nobody does: it is enough to look now and then.
      await Promise.race([
        pause(POLL_MS, undefined, { signal: timer.signal }).catch(() => {}),
        ...(crowded ? [woken] : []),
      ])
      timer.abort()
    }
  }

  async function takeReceivers() {
    const room = MOST_SESSIONS - sessions.size
    const found = await findDueReceivers(sql, clock(), room + 1, Math.max(0, MOST_DOUBTFUL - doubtful()))
    const free = found.filter(key => !sessions.has(keyOf(key)))
    crowded = free.length > room
    if (room === 0 || free.length === 0 || stopping) return
    const askedAt = performance.now()
    const claimed = await claimReceivers(sql, free.slice(0, room), worker, leaseSeconds, clock())
    for (const receiver of claimed) begin(receiver, askedAt)
  }

  function doubtful(): number {
    return [...sessions.values()].filter(session => session.failures > 0).length
  }

  function begin(receiver: Receiver, askedAt: number) {
    const session = newSession(receiver, safeFrom(askedAt), performance.now() + SLICE_MS)
    sessions.set(keyOf(session), session)
    const end = serve(session).finally(() => {
      sessions.delete(keyOf(session))
      ended.delete(end)
      wake()
    })
    ended.add(end)
  }

  function safeFrom(askedAt: number): number {
    return askedAt + leaseSeconds * 750
  }

  async function serve(session: Session) {
    try {
      while (mayGoOn(session) && (await sendRound(rounds, session)));
    } catch (err) {
      log.error({ err, companyId: session.companyId, receiver: session.receiver }, 'callback.failed')
    }
    const probeAt = session.paused ? new Date(clock().getTime() + retryMs) : undefined
    if (probeAt && !session.cameToUsPaused) log.warn({ ...shownOf(session), probeAt }, 'receiver.paused')
    await releaseReceiver(sql, session, worker, probeAt).catch(err => log.error({ err }, 'callback.failed'))
  }

  function mayGoOn(session: Session): boolean {
    if (stopping || session.paused || performance.now() >= session.safeUntil) return false
    if (session.failures > 0 && doubtful() > MOST_DOUBTFUL) return false
    return !(crowded && performance.now() >= session.sliceEnd)
  }

  async function renewLeases() {
    if (sessions.size === 0) return
    const held = [...sessions.values()]
    const askedAt = performance.now()
    const renewed = new Set((await renewReceivers(sql, held, worker, leaseSeconds)).map(keyOf))
    for (const session of held) session.safeUntil = renewed.has(keyOf(session)) ? safeFrom(askedAt) : 0
  }

  /** Between the ends of rounds, so that a crash repeats little. */
  function noteProgress() {
    const unsaved = [...sessions.values()].flatMap(session => session.batches.filter(batch => batch.unsaved))
    for (const batch of unsaved) batch.unsaved = false
    const saving = saveProgress(sql, worker, unsaved)
    savingProgress = saving.catch(() => {})
    return saving
  }

  return {
    /** Requests under way may end; after a while they are broken off, and are sent again by the next engine. */
    async stop() {
      stopping = true
      wake()
      const patience = setTimeout(() => poster.close(), STOP_GRACE_MS)
      await scheduling
      await Promise.all(ended)
      clearTimeout(patience)
      poster.close()
      await Promise.all(loops.map(loop => loop.stop()))
      await tests.ended()
    },
  }
}
