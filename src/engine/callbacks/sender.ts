import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import {
  type CallbackBatch,
  type CallbackPass,
  eventIdOf,
  FAILURES_UNTIL_PROBE,
  partnerBody,
  type Receiver,
  type ReceiverKey,
} from '../domain/callbacks/callback.ts'
import {
  callbackSecretOf,
  claimReceivers,
  expireCallbacks,
  findDueReceivers,
  holdersOf,
  nextBatches,
  releaseReceiver,
  renewReceivers,
  savePasses,
  saveProgress,
} from '../domain/callbacks/callbacks.ts'
import { type Signer, signerOf } from '../domain/callbacks/signature.ts'
import { type Answer, createPoster, type RequestSettings, type Target, targetOf } from './callback-request.ts'
import { repeat } from './loop.ts'

export type CallbackSettings = RequestSettings & {
  /** The pause between two tries. */
  retrySeconds?: number
  /** How long a receiver stays ours without being renewed; who holds it stops asking when three quarters are over. */
  leaseSeconds?: number
}

export type CallbackSenderContext = { sql: Pool; clock: () => Date; log: Logger; settings: CallbackSettings }

const RETRY_SECONDS = 300
const LEASE_SECONDS = 8
const POLL_MS = 200
const SAVE_PROGRESS_EVERY_MS = 300
const EXPIRE_EVERY_MS = 1000
const STOP_GRACE_MS = 3000

/** Requests at once to one receiver, each message's events one after another. */
const LANES = 4
/** Events of one receiver in memory at once. A round ends with its slowest request, and only then is it known what to
 * try again and when: one who is slow gets small rounds. */
const ROUND_EVENTS = { first: 250, fast: 1000, slow: 20 }
const FAST_ROUND_MS = 1000
const SLOW_ROUND_MS = 5000
/** Receivers served at once by one process, and of these so many whose last request failed. */
const MOST_SESSIONS = 128
const MOST_DOUBTFUL = 64
/** How long one that others wait for may go on. */
const SLICE_MS = 5000

/** A receiver in our hands. */
type Session = Receiver & {
  /** By performance.now(): until when nobody else can have taken it over. */
  safeUntil: number
  sliceEnd: number
  /** It failed too often: a probe later, nothing now. */
  paused: boolean
  roundEvents: number
  batches: OpenBatch[]
}

type OpenBatch = CallbackBatch & {
  receiver: string
  target: Target | undefined
  sign: Signer
  /** Something was taken that the database does not know yet. */
  unsaved: boolean
  /** A message is left behind in this pass. */
  refused: boolean
  tried: number
  taken: number
  slowestMs: number
  lastStatusCode?: number
  failure?: { statusCode?: number; error?: string; tookMs: number }
}

/** An event on its way: a place in a batch. */
type Item = { batch: OpenBatch; index: number }

/**
 * Delivers callbacks. A receiver is served by one engine at a time, in rounds: its next batches are read, sent over a
 * few lanes and written back with one statement. Any number of engines may run on one database.
 *
 * Nobody waits for a bad receiver: each has lanes of its own, and the receivers that fail may take no more than half
 * of the sessions. Those that are merely slow give theirs up after a while when others wait, and the one served
 * longest ago is next.
 */
export function startCallbackSender({ sql, clock, log, settings }: CallbackSenderContext): { stop(): Promise<void> } {
  const worker = randomUUID()
  const retryMs = (settings.retrySeconds ?? RETRY_SECONDS) * 1000
  const leaseSeconds = settings.leaseSeconds ?? LEASE_SECONDS
  const poster = createPoster(settings)
  const sessions = new Map<string, Session>()
  const ended = new Set<Promise<void>>()
  let stopping = false
  let crowded = false
  let savingProgress: Promise<unknown> = Promise.resolve()
  let wake = () => {}

  const scheduling = schedule()
  const loops = [
    repeat('callback leases', leaseSeconds * 250, log, renewLeases),
    repeat('callback progress', SAVE_PROGRESS_EVERY_MS, log, noteProgress),
    repeat('callback expiry', EXPIRE_EVERY_MS, log, () => expireCallbacks(sql, clock())),
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
    const session = {
      ...receiver,
      safeUntil: safeFrom(askedAt),
      sliceEnd: performance.now() + SLICE_MS,
      paused: false,
      roundEvents: ROUND_EVENTS.first,
      batches: [],
    }
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
      while (mayGoOn(session) && (await sendRound(session)));
    } catch (err) {
      log.error({ err, companyId: session.companyId, receiver: session.receiver }, 'callback.failed')
    }
    const probeAt = session.paused ? new Date(clock().getTime() + retryMs) : undefined
    if (probeAt) log.warn({ ...shownOf(session), probeAt }, 'receiver.paused')
    await releaseReceiver(sql, session, worker, probeAt).catch(err => log.error({ err }, 'callback.failed'))
  }

  function mayGoOn(session: Session): boolean {
    if (stopping || session.paused || performance.now() >= session.safeUntil) return false
    if (session.failures > 0 && doubtful() > MOST_DOUBTFUL) return false
    return !(crowded && performance.now() >= session.sliceEnd)
  }

  /** Says whether there was anything to send. */
  async function sendRound(session: Session): Promise<boolean> {
    const probe = session.failures >= FAILURES_UNTIL_PROBE
    const batches = await nextBatches(sql, session, clock(), { mostEvents: session.roundEvents, probe })
    if (batches.length === 0) return false
    const begun = performance.now()
    const holders = await holdersOf(sql, session, batches)
    const sign = signerOf(await callbackSecretOf(sql, session.companyId))
    session.batches = batches.map(batch => openBatch(batch, session, sign))
    await sendChains(session, chainsOf(session.batches, holders), probe)
    session.roundEvents = nextRoundEvents(performance.now() - begun)
    await endRound(session)
    return true
  }

  /** A probe goes alone; the rest follows when it was taken. */
  async function sendChains(session: Session, chains: Item[][], probe: boolean) {
    let next = 0
    const lane = async () => {
      while (next < chains.length && mayGoOn(session)) await sendChain(session, chains[next++]!)
    }
    if (probe && chains.length > 0) await sendChain(session, chains[next++]!)
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** One message's events in their order: behind one that was refused the others stay. */
  async function sendChain(session: Session, chain: Item[]) {
    for (const [place, item] of chain.entries()) {
      if (place > 0 && !mayGoOn(session)) return
      const now = clock()
      if (item.batch.expiresAt <= now) return
      const begun = performance.now()
      const answer = await send(item, now)
      if (answer.kind === 'abandoned') return
      const tookMs = Math.round(performance.now() - begun)
      if (isTaken(answer)) {
        noteTaken(session, item, answer, tookMs)
      } else {
        noteRefused(session, item, answer, tookMs)
        for (const { batch, index } of chain.slice(place)) hold(batch, batch.events[index]!.messageUuid)
        return
      }
    }
  }

  async function send({ batch, index }: Item, now: Date): Promise<Answer> {
    if (!batch.target) return { kind: 'failed', error: 'no http or https address' }
    const body = partnerBody(batch.events[index]!)
    const id = eventIdOf(batch, index)
    const timestamp = Math.floor(now.getTime() / 1000)
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': batch.sign(id, timestamp, body),
    }
    return poster.post(batch.target, headers, body)
  }

  function noteTaken(session: Session, { batch, index }: Item, answer: { statusCode: number }, tookMs: number) {
    if (session.failures >= FAILURES_UNTIL_PROBE && !session.paused) log.info(shownOf(session), 'receiver.resumed')
    session.failures = 0
    batch.done[index] = true
    batch.unsaved = true
    batch.tried += 1
    batch.taken += 1
    batch.lastStatusCode = answer.statusCode
    batch.slowestMs = Math.max(batch.slowestMs, tookMs)
  }

  function noteRefused(session: Session, { batch }: Item, answer: Answer, tookMs: number) {
    session.failures += 1
    session.paused ||= session.failures >= FAILURES_UNTIL_PROBE
    batch.tried += 1
    batch.failure ??= {
      tookMs,
      ...(answer.kind === 'answered' && { statusCode: answer.statusCode }),
      ...(answer.kind === 'failed' && { error: answer.error }),
    }
  }

  async function endRound(session: Session) {
    const passes = session.batches.map(passOf)
    session.batches = []
    await savingProgress // what it had collected is older than this
    await persistently(() => savePasses(sql, worker, session, passes))
    for (const pass of passes) logAttempt(session, pass)
  }

  function passOf(batch: OpenBatch): CallbackPass {
    const now = clock()
    return {
      batch,
      ...(batch.refused && { retryAt: new Date(now.getTime() + retryMs) }),
      ...((batch.failure || (batch.tried > 0 && batch.done.every(Boolean))) && {
        attempt: {
          attemptedAt: now,
          triedEvents: batch.tried,
          deliveredEvents: batch.taken,
          ...(batch.failure ?? { statusCode: batch.lastStatusCode!, tookMs: batch.slowestMs }),
        },
      }),
    }
  }

  /** A database that is away for a moment must not make us repeat what was taken. */
  async function persistently(write: () => Promise<void>) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write()
      } catch (error) {
        if (attempt === SAVE_ATTEMPTS || stopping) throw error
      }
      await pause(SAVE_PAUSE_MS)
    }
  }

  function logAttempt(session: Session, { batch, attempt }: CallbackPass) {
    if (!attempt) return
    const { attemptedAt, ...rest } = attempt
    const line = { ...shownOf(session), callbackId: batch.callbackId, ...rest }
    if (attempt.deliveredEvents < attempt.triedEvents) log.info(line, 'callback.attempted')
    else log.debug(line, 'callback.attempted')
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
    },
  }
}

const SAVE_ATTEMPTS = 60
const SAVE_PAUSE_MS = 500

const keyOf = ({ companyId, receiver }: ReceiverKey) => `${companyId} ${receiver}`
const shownOf = ({ companyId, receiver }: ReceiverKey) => ({ companyId, receiver })

const nextRoundEvents = (lastMs: number) =>
  lastMs < FAST_ROUND_MS ? ROUND_EVENTS.fast : lastMs < SLOW_ROUND_MS ? ROUND_EVENTS.first : ROUND_EVENTS.slow

const isTaken = (answer: Answer): answer is { kind: 'answered'; statusCode: number } =>
  answer.kind === 'answered' && answer.statusCode >= 200 && answer.statusCode < 300

const openBatch = (batch: CallbackBatch, { receiver }: Session, sign: Signer): OpenBatch => ({
  ...batch,
  receiver,
  target: targetOf(batch.url),
  sign,
  unsaved: false,
  refused: false,
  tried: 0,
  taken: 0,
  slowestMs: 0,
})

/**
 * What is left of the batches by message: chains may go in any order and at once, the events of one in sequence.
 * A message that an earlier batch holds is left behind.
 */
function chainsOf(batches: OpenBatch[], holders: Map<string, number>): Item[][] {
  const chains = new Map<string, Item[]>()
  for (const batch of batches) {
    for (const [index, { messageUuid }] of batch.events.entries()) {
      if (batch.done[index]) continue
      const chain = chains.get(messageUuid)
      if (holders.size > 0 && holders.get(messageUuid)! < batch.callbackId) hold(batch, messageUuid)
      else if (chain) chain.push({ batch, index })
      else chains.set(messageUuid, [{ batch, index }])
    }
  }
  return [...chains.values()]
}

function hold(batch: OpenBatch, messageUuid: string) {
  batch.held.add(messageUuid)
  batch.refused = true
}
