import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import { forgetOldCallbacks } from '../domain/callbacks/callbacks.ts'
import { trimOutbox } from '../domain/gateways/gateways.ts'
import { forgetOldKeys } from '../domain/idempotency/idempotency.ts'
import { chargeDueFees } from '../domain/ledger/fees.ts'
import { removeUnusedBuckets } from '../domain/limits/limits.ts'
import { ensureMessageMonths } from '../domain/messages/messages.ts'
import { forgetOldLogins } from '../domain/partners/partners.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { type Moderation, moveDueSenders } from '../domain/senders/moderation.ts'
import { forgetGoneEngines, removeEngine, seeEngine } from '../domain/sending/engines.ts'
import { returnStrandedLeases } from '../domain/sending/leases.ts'
import { forgetOldReceipts, turnSubmissionDays } from '../domain/sending/receipts.ts'
import { type CallbackSettings, startCallbackSender } from './callback-sender.ts'
import { connectGateway } from './connectors.ts'
import { endOverdue } from './deadlines.ts'
import { feedOf, lookAtKeptReceipts } from './feed.ts'
import { type Connect, keepGateways } from './gateways.ts'
import { repeat } from './loop.ts'
import { createRecorder } from './recorder.ts'
import { startScheduler } from './scheduler.ts'

export type EngineContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  moderation: Moderation
  billingZone: string
  callbacks: CallbackSettings
  /** Texts by which a subscriber asks to be left alone. */
  stopWords?: readonly string[]
  /** How gateways are connected; by the name of their connector unless told. */
  connect?: Connect
}

/** A stop waits no longer than this for a database that does not answer. Leases run out; nothing is lost by it. */
const STOP_MS = 12_000
const HEARTBEAT_EVERY_MS = 1000
const SENDERS_EVERY_MS = 300
const KEPT_RECEIPTS_EVERY_MS = 500
const DEADLINES_EVERY_MS = 1000
const FEES_EVERY_MS = 3000
const OUTBOX_EVERY_MS = 10_000
const HOUSEKEEPING_EVERY_MS = 10 * 60_000

/** What happens without anyone asking. Any number of engines may run on one database. */
export async function startEngine(context: EngineContext): Promise<{ worker: string; stop(): Promise<void> }> {
  const { sql, clock, log, moderation, billingZone } = context
  const worker = randomUUID()
  await learnTypesOnce(sql)
  const recorder = createRecorder(context)
  const feeds = { sql, log, recorder, ...(context.stopWords ? { stopWords: context.stopWords } : {}) }
  const gateways = await keepGateways({
    sql,
    log,
    // A name of its own for every connection: a simulated operator whose settings were changed is connected anew, and
    // reports what the former connection had taken and not reported yet.
    connect: context.connect ?? ((gateway, feed) => connectGateway({ sql, log, worker: randomUUID() }, gateway, feed)),
    feedOf: ({ gatewayId }) => feedOf(feeds, gatewayId),
  })
  const callbacks = startCallbackSender({ sql, clock, log, settings: context.callbacks })
  const scheduler = startScheduler({ ...context, worker, recorder, gateways })
  const unlisten = await listen(context, scheduler.wake)
  const loops = [
    repeat('heartbeat', HEARTBEAT_EVERY_MS, log, () => seeEngine(sql, worker)),
    repeat('senders', SENDERS_EVERY_MS, log, async () => {
      const moves = await moveDueSenders(sql, moderation, await senderFeeTable(sql), clock())
      if (moves > 0) log.info({ moves }, 'senders.moved')
    }),
    repeat('kept receipts', KEPT_RECEIPTS_EVERY_MS, log, () => lookAtKeptReceipts(feeds)),
    repeat('deadlines', DEADLINES_EVERY_MS, log, async () => {
      await endOverdue({ sql, clock, recorder })
      await returnStrandedLeases(sql, { billingZone, now: clock() })
    }),
    repeat('fees', FEES_EVERY_MS, log, () => chargeDueFees(sql, { billingZone, now: clock() })),
    repeat('outbox', OUTBOX_EVERY_MS, log, () => trimOutbox(sql)),
    repeat('housekeeping', HOUSEKEEPING_EVERY_MS, log, async () => {
      await ensureMessageMonths(sql)
      await turnSubmissionDays(sql)
      await forgetOldReceipts(sql)
      await forgetOldLogins(sql, clock())
      await forgetOldKeys(sql)
      await forgetOldCallbacks(sql, clock())
      await removeUnusedBuckets(sql)
      await forgetGoneEngines(sql)
    }),
  ]

  return {
    worker,
    async stop() {
      unlisten()
      recorder.hurry()
      await inTurn(STOP_MS, [
        () => scheduler.stop(),
        () => gateways.stop(),
        () => Promise.all(loops.map(loop => loop.stop())),
        () => recorder.stop(),
        () => callbacks.stop(),
        () => removeEngine(sql, worker).catch(err => log.warn({ err }, 'engine.not_removed')),
      ])
    },
  }
}

/** One step after the other; when the time is over, those that are left are begun and not waited for. */
async function inTurn(patienceMs: number, steps: (() => Promise<unknown>)[]) {
  const patience = new AbortController()
  const over = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => {})
  for (const step of steps) await Promise.race([step(), over])
  patience.abort()
}

/**
 * The driver asks for the array types on every new connection, and a connection that is cut while it does ends our
 * process: nobody awaits that question. They do not change, so the first answer is enough.
 */
async function learnTypesOnce(sql: Pool) {
  await sql`select 1`
  sql.options.fetch_types = false
}

/** Whoever gives lanes something to do says so. It only saves time: the scheduler looks by itself, too. */
async function listen({ sql, log }: EngineContext, wake: () => void): Promise<() => void> {
  const listening = await sql.listen('tidings_lanes', wake).catch(err => {
    log.warn({ err }, 'engine.not_listening')
  })
  return () => {
    void listening?.unlisten().catch(() => {})
  }
}
