import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { VitalSigns } from '../base/vitals.ts'
import { DatabaseClock } from '../db/clock.ts'
import type { Pool } from '../db/sql.ts'
import { forgetOldCallbacks } from '../domain/callbacks/callbacks.ts'
import { callbackKey, sealPlainSecrets } from '../domain/callbacks/secrets.ts'
import { forgetOldCascades } from '../domain/cascades/cascades.ts'
import { endDueLanes } from '../domain/dispatches/ending.ts'
import { trimOutbox } from '../domain/gateways/gateways.ts'
import { forgetOldMinutes } from '../domain/gateways/minutes.ts'
import { ownedNames } from '../domain/gateways/name-owners.ts'
import { gatewayKey } from '../domain/gateways/secrets.ts'
import { forgetOldKeys } from '../domain/idempotency/idempotency.ts'
import { forgetOldStops } from '../domain/inbound/inbound.ts'
import { forgetIdleLanes } from '../domain/lanes/lanes.ts'
import { chargeDueFees } from '../domain/ledger/fees.ts'
import { removeUnusedBuckets } from '../domain/limits/limits.ts'
import { ensureMessageMonths } from '../domain/messages/messages.ts'
import { detachOldMonths } from '../domain/messages/months.ts'
import { watchNumbering } from '../domain/numbering/numbering.ts'
import { forgetOldUploads } from '../domain/numbering/uploads.ts'
import { forgetOldLogins } from '../domain/partners/partners.ts'
import { forgetOldSessions as forgetOldSignIns } from '../domain/people/sessions.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { forgetOldRequests } from '../domain/request-log/request-log.ts'
import { type Moderation, moveDueSenders } from '../domain/senders/moderation.ts'
import { forgetGoneEngines, removeEngine, seeEngine } from '../domain/sending/engines.ts'
import { forgetOldLateReceipts } from '../domain/sending/late-receipts.ts'
import { returnStrandedLeases } from '../domain/sending/leases.ts'
import { forgetOldReceipts, turnSubmissionDays } from '../domain/sending/receipts.ts'
import { endStopped } from '../domain/sending/stopping.ts'
import { forgetOldLinks } from '../domain/short-links/short-links.ts'
import { moveDueTemplates } from '../domain/templates/moderation.ts'
import { CodeBox } from '../domain/verifications/code-box.ts'
import { forgetOldVerifications } from '../domain/verifications/verifications.ts'
import { forgetOldSessions } from '../domain/widgets/housekeeping.ts'
import { type CallbackSettings, startCallbackSender } from './callbacks/sender.ts'
import { connectGateway } from './gateways/connectors.ts'
import { feedOf, lookAtKeptReceipts } from './gateways/feed.ts'
import { type Connect, keepGateways } from './gateways/gateways.ts'
import { repeat } from './loop.ts'
import { Recorder } from './recording/recorder.ts'
import { unlessSetAside } from './recording/set-aside.ts'
import { Scheduler } from './sending/scheduler.ts'
import { endOverdue } from './timers/deadlines.ts'
import { endWaiting, seeToTimers } from './timers/timers.ts'

export type EngineContext = {
  sql: Pool
  /** The database's clock unless given: tests play it. */
  clock?: () => Date
  /** The clock of this machine: nothing goes by it, but it is told when it is wrong. */
  ownClock?: () => Date
  log: Logger
  moderation: Moderation
  billingZone: string
  callbacks: CallbackSettings
  /** What the secrets of gateways and callbacks are sealed with. */
  secret?: string
  /** Where the service is reached from outside: short links lead there. */
  publicUrl?: string
  /** How many months of messages stay attached; all of them unless told. */
  keepMonths?: number | undefined
  /** Texts by which a subscriber asks to be left alone. */
  stopWords?: readonly string[]
  /** How long it waits without work until it looks by itself; whoever gives it work wakes it earlier. */
  idleMs?: number
  /** How gateways are connected; by the name of their connector unless told. */
  connect?: Connect
}

/** A stop waits no longer than this for a database that does not answer. Leases run out; nothing is lost by it. */
const STOP_MS = 12_000
const HEARTBEAT_EVERY_MS = 1000
const SENDERS_EVERY_MS = 300
const KEPT_RECEIPTS_EVERY_MS = 500
const DEADLINES_EVERY_MS = 1000
const STRANDED_EVERY_MS = 1000
const TIMERS_EVERY_MS = 300
const WAITING_EVERY_MS = 10_000
const ENDINGS_EVERY_MS = 300
const STOPS_EVERY_MS = 1000
const FEES_EVERY_MS = 3000
const OUTBOX_EVERY_MS = 10_000
const HOUSEKEEPING_EVERY_MS = 10 * 60_000
const LINKS_LIVE_MS = 365 * 24 * 3600_000

/** What happens without anyone asking. Any number of engines may run on one database. */
export async function startEngine(given: EngineContext): Promise<{ worker: string; stop(): Promise<void> }> {
  const { sql, log, moderation, billingZone } = given
  const databaseClock = await DatabaseClock.follow({ sql, log, ownClock: given.ownClock })
  const { clock = databaseClock.now } = given
  const context = { ...given, clock }
  const worker = randomUUID()
  const vitals = new VitalSigns()
  const numbering = await watchNumbering(sql, { onError: err => log.warn({ err }, 'numbering.not_read') })
  const cascades = { numbering: () => numbering.current(), linkBase: `${context.publicUrl ?? ''}/s` }
  const recorder = new Recorder({ ...context, cascades })
  const feeds = {
    sql,
    log,
    clock,
    recorder,
    numbering: cascades.numbering,
    ...(context.stopWords ? { stopWords: context.stopWords } : {}),
  }
  const gateways = await keepGateways({
    sql,
    log,
    worker,
    key: context.secret === undefined ? undefined : gatewayKey(context.secret),
    // A name of its own for every connection: a simulated operator whose settings were changed is connected anew, and
    // reports what the former connection had taken and not reported yet.
    connect: context.connect ?? ((gateway, feed) => connectGateway({ sql, log, worker: randomUUID() }, gateway, feed)),
    feedOf: ({ gatewayId }) => feedOf(feeds, gatewayId),
    now: databaseClock.now,
  })
  const signing = context.secret === undefined ? undefined : callbackKey(context.secret)
  if (signing) await sealPlainSecrets(sql, signing)
  const callbacks = startCallbackSender({ sql, clock, log, settings: context.callbacks, key: signing })
  const codes = context.secret === undefined ? undefined : new CodeBox(context.secret)
  const scheduler = new Scheduler({ ...context, worker, recorder, gateways, codes })
  const unlisten = await listen(context, { tidings_lanes: () => scheduler.wake(), tidings_gateways: gateways.hurry })
  const loops = [
    repeat('heartbeat', HEARTBEAT_EVERY_MS, log, () =>
      seeEngine(sql, worker, databaseClock.offMs(), { ...vitals.read(), unrecorded: recorder.window.open }),
    ),
    repeat('senders', SENDERS_EVERY_MS, log, async () => {
      const leftToStaff = moderation === 'auto' ? await ownedNames(sql) : []
      const moves = await moveDueSenders(sql, moderation, await senderFeeTable(sql), clock(), leftToStaff)
      if (moves > 0) log.info({ moves }, 'senders.moved')
      const templates = await moveDueTemplates(sql, moderation, clock())
      if (templates > 0) log.info({ moves: templates }, 'templates.moved')
    }),
    repeat('ending lanes', ENDINGS_EVERY_MS, log, () =>
      endDueLanes(sql, clock(), (companyId, uuids, errorCode) => {
        const refused = { at: clock(), errorCode }
        // One that can never be written must not keep its lane, and those behind it, from being ended.
        return Promise.all(uuids.map(uuid => recorder.note(companyId, { uuid, refused }).catch(unlessSetAside)))
      }),
    ),
    repeat('stops', STOPS_EVERY_MS, log, () => endStopped(sql, { billingZone, now: clock() })),
    repeat('timers', TIMERS_EVERY_MS, log, () => seeToTimers({ sql, clock, log, recorder, billingZone, cascades })),
    repeat('kept receipts', KEPT_RECEIPTS_EVERY_MS, log, () =>
      lookAtKeptReceipts({ ...feeds, onMatched: gateways.countKept }),
    ),
    repeat('deadlines', DEADLINES_EVERY_MS, log, () => endOverdue({ sql, clock, log, recorder })),
    repeat('stranded leases', STRANDED_EVERY_MS, log, () => returnStrandedLeases(sql, { billingZone, now: clock() })),
    repeat('waiting', WAITING_EVERY_MS, log, () => endWaiting({ sql, clock, recorder })),
    repeat('fees', FEES_EVERY_MS, log, () => chargeDueFees(sql, { billingZone, now: clock() })),
    repeat('outbox', OUTBOX_EVERY_MS, log, () => trimOutbox(sql)),
    repeat('housekeeping', HOUSEKEEPING_EVERY_MS, log, () => keepHouse(context)),
  ]

  return {
    worker,
    async stop() {
      unlisten()
      vitals.stop()
      recorder.hurry()
      await inTurn(STOP_MS, [
        () => scheduler.stop(),
        () => gateways.stop(),
        () => Promise.all(loops.map(loop => loop.stop())),
        () => recorder.stop(),
        () => callbacks.stop(),
        () => numbering.stop(),
        () => databaseClock.stop(),
        () => removeEngine(sql, worker).catch(err => log.warn({ err }, 'engine.not_removed')),
      ])
    },
  }
}

/** Each on its own: what one of them cannot do now keeps no other from its work, and is tried again the next time. */
async function keepHouse({ sql, clock, log, keepMonths }: EngineContext & { clock: () => Date }) {
  const steps = {
    ensureMessageMonths: () => ensureMessageMonths(sql),
    turnSubmissionDays: () => turnSubmissionDays(sql),
    forgetOldReceipts: () => forgetOldReceipts(sql),
    forgetOldLateReceipts: () => forgetOldLateReceipts(sql),
    forgetOldLogins: () => forgetOldLogins(sql, clock()),
    forgetOldSignIns: () => forgetOldSignIns(sql, clock()),
    forgetOldStops: () => forgetOldStops(sql, clock()),
    forgetOldKeys: () => forgetOldKeys(sql),
    forgetOldCallbacks: () => forgetOldCallbacks(sql, clock()),
    forgetOldRequests: () => forgetOldRequests(sql, clock()),
    removeUnusedBuckets: () => removeUnusedBuckets(sql),
    forgetGoneEngines: () => forgetGoneEngines(sql),
    forgetOldMinutes: () => forgetOldMinutes(sql),
    forgetOldCascades: () => forgetOldCascades(sql),
    forgetOldVerifications: () => forgetOldVerifications(sql),
    forgetOldSessions: () => forgetOldSessions(sql),
    forgetIdleLanes: () => forgetIdleLanes(sql),
    forgetOldUploads: () => forgetOldUploads(sql, clock()),
    forgetOldLinks: () => forgetOldLinks(sql, new Date(clock().getTime() - LINKS_LIVE_MS)),
    detachOldMonths: async () => keepMonths && detachOldMonths(sql, keepMonths, clock()),
  }
  for (const [step, work] of Object.entries<() => PromiseLike<unknown>>(steps)) {
    try {
      await work()
    } catch (err) {
      log.error({ err, step }, 'housekeeping.failed')
    }
  }
}

/** One step after the other; when the time is over, those that are left are begun and not waited for. */
async function inTurn(patienceMs: number, steps: (() => Promise<unknown>)[]) {
  const patience = new AbortController()
  const over = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => {})
  for (const step of steps) await Promise.race([step(), over])
  patience.abort()
}

/** Work for lanes and changes of gateways are announced. It only saves time: the engine looks by itself, too. */
async function listen(
  { sql, log }: Pick<EngineContext, 'sql' | 'log'>,
  reactions: Record<string, () => void>,
): Promise<() => void> {
  const listening = await Promise.all(
    Object.entries(reactions).map(([channel, react]) =>
      sql.listen(channel, react).catch(err => log.warn({ err, channel }, 'engine.not_listening')),
    ),
  )
  return () => {
    for (const each of listening) void each?.unlisten().catch(() => {})
  }
}
