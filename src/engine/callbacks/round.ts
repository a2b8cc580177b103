import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Pool } from '../../db/sql.ts'
import { type CallbackPass, FAILURES_UNTIL_PROBE, requestBodyOf, requestIdOf } from '../../domain/callbacks/callback.ts'
import { holdersOf, nextBatches, savePasses } from '../../domain/callbacks/callbacks.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { signedHeaders, signerOf } from '../../domain/callbacks/signature.ts'
import { type Chain, chainsOf } from './chains.ts'
import type { Answer, Poster } from './request.ts'
import {
  FIRST_ROUND_EVENTS,
  hold,
  noteRefused,
  noteTaken,
  openBatch,
  type Parcel,
  passOf,
  type Session,
  shownOf,
} from './session.ts'

/** Requests at once to one receiver, each message's events one after another. */
const LANES = 4
/** A round ends with its slowest request, and only then is it known what to try again and when: one who is slow gets
 * small rounds. */
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
  /** Opens the signing secrets of companies. */
  key: BoxKey | undefined
  worker: string
  retryMs: number
  /** Asked before every request. */
  mayGoOn(session: Session): boolean
  isStopping(): boolean
  /** Resolves when progress that is being noted is written. */
  progressNoted(): Promise<unknown>
}

/** Reads a receiver's next batches, sends them and writes the results. Says whether there was anything to send. */
export async function sendRound(context: RoundContext, session: Session): Promise<boolean> {
  const { sql, clock } = context
  const probe = session.failures >= FAILURES_UNTIL_PROBE
  const batches = await nextBatches(sql, session, clock(), { mostEvents: session.roundEvents, probe })
  if (batches.length === 0) return false
  const begun = performance.now()
  const holders = await holdersOf(sql, session, batches)
  const sign = signerOf(await callbackSecretOf(sql, session.companyId, context.key))
  session.batches = batches.map(batch => openBatch(batch, session, sign))
  const chains = chainsOf(session.batches, holders)
  await sendChains(context, session, chains, probe)
  session.roundEvents = nextRoundEvents(performance.now() - begun, chains)
  await endRound(context, session)
  return true
}

/** A probe goes alone; the rest follows when it was taken. */
async function sendChains(context: RoundContext, session: Session, chains: Chain[], probe: boolean) {
  let next = 0
  const lane = async () => {
    while (next < chains.length && context.mayGoOn(session)) await sendChain(context, session, chains[next++]!)
  }
  if (probe && chains.length > 0) await sendChain(context, session, chains[next++]!)
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** One request after another: behind one that was refused the others stay. */
async function sendChain(context: RoundContext, session: Session, chain: Chain) {
  for (const [place, parcel] of chain.entries()) {
    if (place > 0 && !context.mayGoOn(session)) return
    const now = context.clock()
    if (parcel.some(({ batch }) => batch.expiresAt <= now)) return // the others of it go in the next round
    const begun = performance.now()
    const answer = await send(context, parcel, now)
    if (answer.kind === 'abandoned') return
    const tookMs = Math.round(performance.now() - begun)
    if (isTaken(answer)) {
      if (session.cameToUsPaused) context.log.info(shownOf(session), 'receiver.recovered')
      noteTaken(session, parcel, answer, tookMs)
    } else {
      noteRefused(session, parcel, answer, tookMs)
      for (const { batch, index } of chain.slice(place).flat()) hold(batch, batch.events[index]!.messageUuid)
      return
    }
  }
}

async function send({ poster }: RoundContext, parcel: Parcel, now: Date): Promise<Answer> {
  const { target, sign } = parcel[0]!.batch
  if (!target) return { kind: 'failed', error: 'no http or https address' }
  const body = requestBodyOf(parcel)
  return poster.post(target, signedHeaders(sign, requestIdOf(parcel), body, now), body)
}

const isTaken = (answer: Answer): answer is Extract<Answer, { kind: 'answered' }> =>
  answer.kind === 'answered' && answer.statusCode >= 200 && answer.statusCode < 300

/** What takes long is the number of requests; an array counts as one. */
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
  const passes = session.batches.map(batch => passOf(batch, now, retryAt))
  session.batches = []
  await context.progressNoted() // what it had collected is older than this
  await persistently(context, () => savePasses(context.sql, context.worker, session, passes))
  for (const pass of passes) logAttempt(context, session, pass)
}

/** A database that is away for a moment must not make us repeat what was taken. */
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

function logAttempt({ log }: RoundContext, session: Session, { batch, attempt }: CallbackPass) {
  if (!attempt) return
  const { attemptedAt, answer, ...rest } = attempt
  const line = { ...shownOf(session), callbackId: batch.callbackId, ...rest }
  if (attempt.deliveredEvents < attempt.triedEvents) log.info(line, 'callback.attempted')
  else log.debug(line, 'callback.attempted')
}
