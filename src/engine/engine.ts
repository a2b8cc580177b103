import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import { forgetOldKeys } from '../domain/idempotency/idempotency.ts'
import { ensureMessageMonths } from '../domain/messages/messages.ts'
import { forgetOldLogins } from '../domain/partners/partners.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { type Moderation, moveDueSenders } from '../domain/senders/moderation.ts'
import { repeat } from './loop.ts'

export type EngineContext = { sql: Pool; clock: () => Date; log: Logger; moderation: Moderation }

const SENDERS_EVERY_MS = 300
const HOUSEKEEPING_EVERY_MS = 10 * 60_000

/** What happens without anyone asking. Any number of engines may run on one database. */
export function startEngine({ sql, clock, log, moderation }: EngineContext): { stop(): Promise<void> } {
  const loops = [
    repeat('senders', SENDERS_EVERY_MS, log, async () => {
      const moves = await moveDueSenders(sql, moderation, await senderFeeTable(sql), clock())
      if (moves > 0) log.info({ moves }, 'senders.moved')
    }),
    repeat('housekeeping', HOUSEKEEPING_EVERY_MS, log, async () => {
      await ensureMessageMonths(sql)
      await forgetOldLogins(sql, clock())
      await forgetOldKeys(sql)
    }),
  ]
  return {
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}
