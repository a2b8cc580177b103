import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Pool } from '../../db/sql.ts'
import { type BatchResult, FAILURES_UNTIL_PROBE, requestBodyOf, requestIdOf } from '../../domain/callbacks/callback.ts'
import { blockedMessages, nextBatches, saveResults } from '../../domain/callbacks/callbacks.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { signedHeaders, signerOf } from '../../domain/callbacks/signature.ts'
import { type Chain, chainsOf } from './chains.ts'
import type { Poster, PostResult } from './request.ts'
import {
  type CallbackRequest,
  FIRST_ROUND_EVENTS,
  openBatch,
  postpone,
  recordAccepted,
  recordRefused,
  resultOf,
  type Session,
  shownOf,
} from './session.ts'

/** Requests that one receiver gets at the same time. */
const REQUESTS_AT_ONCE = 4
/**
 * A round ends when its slowest request ends, and only then the database learns what to try again. So a slow receiver
 * gets small rounds.
 */
const MOST_ROUND_EVENTS = 1000
const SLOW_ROUND_REQUESTS = 20
const FAST_ROUND_MS = 1000
const SLOW_ROUND_MS = 5000
const SAVE_ATTEMPTS = 60
const SAVE_PAUSE_MS = 500

export type RoundContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  poster: Poster
  /** Decrypts the signing secrets of companies. */
  key: BoxKey | undefined
  worker: string
  retryMs: number
  /** Checked before every request. */
  mayContinue(session: Session): boolean
  isStopping(): boolean
  /** Resolves when the progress that is being saved is written. */
  progressSaved(): Promise<unknown>
  tracer?: Tracer | undefined
}

/** Reads the next batches of a receiver, sends them and writes the results. Returns false when there was none to send. */
export async function sendRound(context: RoundContext, session: Session): Promise<boolean> {
  const { sql, clock } = context
  const probe = session.failures >= FAILURES_UNTIL_PROBE
  const batches = await nextBatches(sql, session, clock(), { mostEvents: session.roundEvents, probe })
  if (batches.length === 0) return false
  const begun = performance.now()
  const holders = await blockedMessages(sql, session, batches)
  const sign = signerOf(await callbackSecretOf(sql, session.companyId, context.key))
  session.batches = batches.map(batch => openBatch(batch, session, sign))
  const chains = chainsOf(session.batches, holders)
  await sendChains(context, session, chains, probe)
  session.roundEvents = nextRoundEvents(performance.now() - begun, chains)
  await endRound(context, session)
  return true
}

/** A probe is sent alone. The other chains follow when the receiver accepted it. */
async function sendChains(context: RoundContext, session: Session, chains: Chain[], probe: boolean) {
  const [first, ...others] = chains
  if (!first) return
  const waiting = probe ? others : chains.slice()
  const sendWaiting = async () => {
    while (context.mayContinue(session)) {
      const chain = waiting.shift()
      if (!chain) return
      await sendChain(context, session, chain)
    }
  }
  if (probe) await sendChain(context, session, first)
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, sendWaiting))
}

/** Sends the requests one after another. After a refused request the rest of the chain is postponed. */
async function sendChain(context: RoundContext, session: Session, chain: Chain) {
  for (const [place, request] of chain.entries()) {
    if (place > 0 && !context.mayContinue(session)) return
    const now = context.clock()
    if (request.some(({ batch }) => batch.expiresAt <= now)) return // the events that have not expired are sent in the next round
    const begun = performance.now()
    const result = await send(context, request, now)
    if (result.kind === 'abandoned') return
    const tookMs = Math.round(performance.now() - begun)
    if (context.tracer) traceRequest(context.tracer, request, result, now, context.clock())
    if (isTaken(result)) {
      if (session.beganPaused) context.log.info(shownOf(session), 'receiver.recovered')
      recordAccepted(session, request, result, tookMs)
    } else {
      recordRefused(session, request, result, tookMs)
      for (const { batch, messageUuid } of chain.slice(place).flat()) postpone(batch, messageUuid)
      return
    }
  }
}

function send({ poster }: RoundContext, request: CallbackRequest, now: Date): Promise<PostResult> {
  const { target, sign } = request[0].batch
  if (!target) return Promise.resolve({ kind: 'failed', error: 'no http or https address' })
  const body = requestBodyOf(request)
  return poster.post(target, signedHeaders(sign, requestIdOf(request), body, now), body)
}

/** The path may contain secrets of the receiver. */
function hostOf(request: CallbackRequest): string | undefined {
  const { target } = request[0].batch
  return target && new URL(target.origin).hostname
}

/** One span for each message of the request. */
function traceRequest(tracer: Tracer, request: CallbackRequest, result: PostResult, startedAt: Date, endedAt: Date) {
  const answer = result.kind === 'answered' ? { 'http.response.status_code': result.statusCode } : {}
  const attributes = { 'server.address': hostOf(request), ...answer }
  const step = { kind: 'client' as const, startedAt, endedAt, attributes, isFailed: !isTaken(result) }
  for (const messageUuid of new Set(request.map(event => event.messageUuid))) tracer.step(messageUuid, 'callback', step)
}

const isTaken = (result: PostResult): result is Extract<PostResult, { kind: 'answered' }> =>
  result.kind === 'answered' && result.statusCode >= 200 && result.statusCode < 300

/** The number of requests decides how long a round takes. An array is one request. */
function nextRoundEvents(lastMs: number, chains: Chain[]): number {
  if (lastMs < FAST_ROUND_MS || chains.length === 0) return MOST_ROUND_EVENTS
  const requests = chains.flat()
  const eventsPerRequest = requests.flat().length / requests.length
  const slowEvents = Math.min(MOST_ROUND_EVENTS, Math.ceil(SLOW_ROUND_REQUESTS * eventsPerRequest))
  return lastMs < SLOW_ROUND_MS ? Math.max(FIRST_ROUND_EVENTS, slowEvents) : slowEvents
}

async function endRound(context: RoundContext, session: Session) {
  const now = context.clock()
  const retryAt = new Date(now.getTime() + context.retryMs)
  const passes = session.batches.map(batch => resultOf(batch, now, retryAt))
  session.batches = []
  await context.progressSaved() // it is older than these results and must not be written after them
  await persistently(context, () => saveResults(context.sql, context.worker, session, passes))
  for (const pass of passes) logAttempt(context, session, pass)
}

/** Tries again when the database cannot be reached, because events whose result is not written are sent twice. */
async function persistently({ isStopping }: RoundContext, write: () => Promise<void>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt === SAVE_ATTEMPTS || isStopping()) throw error
    }
    await pause(SAVE_PAUSE_MS)
  }
}

function logAttempt({ log }: RoundContext, session: Session, { batch, attempt }: BatchResult) {
  if (!attempt) return
  const { attemptedAt, answer, ...rest } = attempt
  const line = { ...shownOf(session), callbackId: batch.callbackId, ...rest }
  if (attempt.deliveredEvents < attempt.triedEvents) log.info(line, 'callback.attempted')
  else log.debug(line, 'callback.attempted')
}
