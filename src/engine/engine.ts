import { randomUUID } from 'node:crypto'
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
import { returnStrandedLeases } from '../domain/sending/leases.ts'
import { turnSubmissionDays, forgetOldReceipts } from '../domain/sending/receipts.ts'
import { type CallbackSettings, startCallbackSender } from './callback-sender.ts'
import { connectGateway } from './connectors.ts'
import { endOverdue } from './deadlines.ts'
import { feedOf, lookAtKeptReceipts } from './feed.ts'
import { keepGateways } from './gateways.ts'
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
}

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
  const recorder = createRecorder(context)
  const feeds = { sql, log, recorder }
  const gateways = await keepGateways({
    sql,
    log,
    connect: (gateway, feed) => connectGateway({ sql, log, worker }, gateway, feed),
    feedOf: ({ gatewayId }) => feedOf(feeds, gatewayId),
  })
  const callbacks = startCallbackSender({ sql, clock, log, settings: context.callbacks })
  const scheduler = startScheduler({ ...context, worker, recorder, gateways })
  const loops = [
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
    }),
  ]

  return {
    worker,
    async stop() {
      await scheduler.stop()
      await gateways.stop()
      await Promise.all(loops.map(loop => loop.stop()))
      await recorder.stop()
      await callbacks.stop()
    },
  }
}
