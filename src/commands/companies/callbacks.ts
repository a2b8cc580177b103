import type { BoxKey } from '../../base/secret-box.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import { listCallbackAttempts, listCallbacks, replayCallback } from '../../domain/callbacks/callbacks.ts'
import { callbackKey, callbackSecretOf, replaceCallbackSecret } from '../../domain/callbacks/secrets.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

const LISTED = 100

export async function listNewest(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const callbacks = await listCallbacks(sql, idOption(call, 'company'), { limit: LISTED })
    const rows = callbacks.map(c => [c.callbackId, c.status, `${c.doneEvents}/${c.eventCount}`, c.attempts, c.url])
    call.print(callbacks, table(['ID', 'STATUS', 'TAKEN', 'TRIES', 'URL'], rows))
  })
}

export async function listAttempts(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const attempts = await listCallbackAttempts(sql, idOption(call, 'company'), idOption(call, 'callback'), LISTED)
    const rows = attempts.map(a => [
      a.attemptedAt.toISOString(),
      `${a.deliveredEvents}/${a.triedEvents}`,
      a.statusCode ?? a.error,
      `${a.tookMs} ms`,
    ])
    call.print(attempts, table(['AT', 'TAKEN', 'ANSWER', 'TOOK'], rows))
  })
}

export async function replayOne(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const callbackId = idOption(call, 'callback')
    const companyId = idOption(call, 'company')
    await recorded(sql, async (tx, record) => {
      await replayCallback(tx, companyId, callbackId, await databaseNow(tx))
      await record({ what: 'callback.replayed', subject: { kind: 'callback', id: callbackId }, companyId })
    })
    call.print({ callbackId }, `Callback ${callbackId} will be sent again.`)
  })
}

export async function showSecret(call: Call) {
  await withDatabase(call.config, async database => {
    const key = callbackKey(database.secret)
    const companyId = idOption(call, 'company')
    const secret = await (call.switches.new
      ? replaceSecret(database.sql, companyId, key)
      : callbackSecretOf(database.sql, companyId, key))
    call.print({ secret }, secret)
  })
}

const replaceSecret = (sql: Pool, companyId: number, key: BoxKey) =>
  recorded(sql, async (tx, record) => {
    const secret = await replaceCallbackSecret(tx, companyId, key)
    await record({ what: 'callback.secret_replaced', subject: { kind: 'company', id: companyId }, companyId })
    return secret
  })
