import { setTimeout as pause } from 'node:timers/promises'
import { VitalSigns } from '../base/process/vitals.ts'
import { newestVersion } from '../db/migrate.ts'
import { callbackKey, sealPlainSecrets } from '../domain/callbacks/secrets.ts'
import { endDueLanes } from '../domain/dispatches/ending.ts'
import { recordEngine, removeEngine } from '../domain/engines/engines.ts'
import { trimOutbox } from '../domain/gateways/gateways.ts'
import { ownedNames } from '../domain/gateways/name-owners.ts'
import { readAnnouncement } from '../domain/lanes/announcements.ts'
import { returnExpiredLeases } from '../domain/leases/leases.ts'
import { chargeDueFees } from '../domain/ledger/fees.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { advanceDueSenders } from '../domain/senders/moderation.ts'
import { endStopped } from '../domain/stopping/stopping.ts'
import { advanceDueTemplates } from '../domain/templates/moderation.ts'
import { CallbackSender } from './callbacks/sender.ts'
import { CodesThread } from './codes/codes-thread.ts'
import type { EngineContext, EngineOptions } from './context.ts'
import { matchReceiptInbox } from './gateways/feed.ts'
import { runHousekeeping } from './housekeeping.ts'
import { type Loop, repeat } from './loop.ts'
import type { Recorder } from './recording/recorder.ts'
import { ignoreSetAside } from './recording/set-aside.ts'
import { Scheduler } from './sending/scheduler.ts'
import { listen, openSendingParts } from './sending-parts.ts'
import { failOverdue } from './timers/deadlines.ts'
import { failOverdueWaiting, runDueExpiries, runDueTimers } from './timers/timers.ts'

/** A stop takes at most this long, also if the database does not answer. Leases expire, so nothing is lost. */
export const STOP_MS = 15_000
/** The codes thread is ended after this time. The engine then still records its own results. */
const STOP_CODES_MS = 12_000
/** How long a stop waits for the answers of operators before it closes the connections to them. */
const ANSWERS_MS = 6000

export type Engine = { worker: string; stop(): Promise<void> }

/**
 * Starts the engine: it sends messages, records status reports, delivers callbacks and does the work that is due at a
 * certain time. Any number of engines can run on one database.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const parts = await startParts(options)
  const stopListening = await listen(parts.context, {
    tidings_lanes: announcement => parts.scheduler.wake(readAnnouncement(announcement)),
    tidings_gateways: () => parts.gateways.hurry(),
  })
  const heartbeat = startHeartbeat(parts)
  const jobs = startJobs(parts)
  return {
    worker: parts.worker,
    async stop() {
      stopListening()
      await stopParts(parts, jobs, heartbeat)
    },
  }
}

type Parts = Awaited<ReturnType<typeof startParts>>

async function startParts(options: EngineOptions) {
  let codesThread: CodesThread | undefined
  const submitCodes = () => codesThread?.submitCodes()
  const parts = await openSendingParts(options, options.startCodesThread ? { submitCodes } : {})
  const { context, gateways } = parts
  const callbacks = await startCallbacks(context)
  codesThread =
    options.startCodesThread &&
    new CodesThread({
      log: options.log,
      start: options.startCodesThread,
      gateways,
      onWanted: (subject, forMs) => scheduler.leaveToCodes(subject, forMs),
    })
  const scheduler: Scheduler = new Scheduler({ ...context, ...parts, codesThread })
  const vitals = new VitalSigns()
  const schemaVersion = await newestVersion()
  return { ...parts, callbacks, codesThread, scheduler, vitals, schemaVersion }
}

async function startCallbacks({ sql, clock, log, callbacks: settings, secret, tracer }: EngineContext) {
  const key = secret === undefined ? undefined : callbackKey(secret)
  if (key) await sealPlainSecrets(sql, key)
  return new CallbackSender({ sql, clock, log, settings, key, tracer })
}

/** Other processes count the engine as running until its last work is done. */
const startHeartbeat = ({
  context: { sql, log },
  worker,
  databaseClock,
  vitals,
  schemaVersion,
  recorder,
  codesThread,
}: Parts) =>
  repeat('heartbeat', 1000, log, () =>
    recordEngine(sql, worker, databaseClock.offMs(), {
      ...vitals.read(),
      schemaVersion,
      unrecorded: recorder.unrecorded + (codesThread?.unrecorded ?? 0),
    }),
  )

/** The work that the engine repeats, each with its interval. */
function startJobs({ context, recorder, feeds, gateways, cascades }: Parts): Loop[] {
  const { sql, log, clock, billingZone } = context
  const now = () => ({ billingZone, now: clock() })
  return [
    repeat('senders', 300, log, () => moveDueReviews(context)),
    repeat('ending lanes', 300, log, () => failLanesThatEnd(context, recorder)),
    repeat('stops', 1000, log, () => endStopped(sql, now())),
    repeat('timers', 300, log, () => runDueTimers({ sql, clock, log, recorder, billingZone, cascades })),
    repeat('expiries', 300, log, () => runDueExpiries({ sql, clock, log, recorder, billingZone, cascades })),
    repeat('kept receipts', 500, log, () =>
      matchReceiptInbox({ ...feeds, onMatched: (gatewayId, receipts) => gateways.countKept(gatewayId, receipts) }),
    ),
    repeat('deadlines', 1000, log, () => failOverdue({ sql, clock, log, recorder })),
    repeat('stranded leases', 1000, log, () => returnExpiredLeases(sql, now())),
    repeat('waiting', 10_000, log, () => failOverdueWaiting({ sql, clock, recorder })),
    repeat('fees', 3000, log, () => chargeDueFees(sql, now())),
    repeat('outbox', 10_000, log, () => trimOutbox(sql)),
    repeat('housekeeping', 10 * 60_000, log, isStopping => runHousekeeping(context, isStopping)),
  ]
}

/** Moves the reviews of senders and templates that are due on to their next status. */
async function moveDueReviews({ sql, log, moderation, clock }: EngineContext): Promise<void> {
  const leftToStaff = moderation === 'auto' ? await ownedNames(sql) : []
  const senders = await advanceDueSenders(sql, moderation, await senderFeeTable(sql), clock(), leftToStaff)
  if (senders > 0) log.info({ moves: senders }, 'senders.moved')
  const templates = await advanceDueTemplates(sql, moderation, clock())
  if (templates > 0) log.info({ moves: templates }, 'templates.moved')
}

/**
 * Fails the messages of lanes whose end has come. A message that the recorder set aside (it can never be written) must not
 * keep the lane open.
 */
const failLanesThatEnd = ({ sql, clock }: EngineContext, recorder: Recorder) =>
  endDueLanes(sql, clock(), (companyId, uuids, errorCode) => {
    const refused = { at: clock(), errorCode }
    return Promise.all(uuids.map(uuid => recorder.noteSoon(companyId, { uuid, refused }).catch(ignoreSetAside)))
  })

/**
 * Takes no new work, finishes the open work and records it. Leases, binds and receivers are given back as soon as their work
 * is finished, so that other engines continue at once. The recorder stops after all sources of results.
 */
async function stopParts(parts: Parts, jobs: Loop[], heartbeat: Loop): Promise<void> {
  const { context, worker, vitals, recorder, callbacks, numbering, databaseClock } = parts
  recorder.hurry()
  await inTurn(STOP_MS, [
    () => Promise.all([stopSending(parts), callbacks.stop(), ...jobs.map(job => job.stop())]),
    () => recorder.stop(),
    () => numbering.stop(),
    () => databaseClock.stop(),
    () => heartbeat.stop(),
    () => removeEngine(context.sql, worker).catch(err => context.log.warn({ err }, 'engine.not_removed')),
  ])
  vitals.stop()
}

/**
 * Waits for the answers to submitted messages. After a while the gateways end submissions without an answer, so that the
 * leases of their chunks are closed, too.
 */
async function stopSending({ scheduler, codesThread, gateways }: Parts): Promise<void> {
  const stopped = Promise.all([scheduler.stop(), codesThread?.stop(STOP_CODES_MS)])
  await inTurn(ANSWERS_MS, [() => stopped])
  await gateways.stop()
  await stopped
}

/** Runs the steps one after another. After the time limit it starts the remaining steps without waiting for them. */
async function inTurn(limitMs: number, steps: (() => Promise<unknown>)[]): Promise<void> {
  const timer = new AbortController()
  const over = pause(limitMs, undefined, { signal: timer.signal }).catch(() => {})
  for (const step of steps) await Promise.race([step(), over])
  timer.abort()
}
