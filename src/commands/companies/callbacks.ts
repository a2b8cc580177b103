import { databaseNow } from '../../db/clock.ts'
import { listCallbackAttempts, listCallbacks, replayCallback } from '../../domain/callbacks/callbacks.ts'
import { callbackKey, callbackSecretOf, replaceCallbackSecret } from '../../domain/callbacks/secrets.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
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
    await replayCallback(sql, idOption(call, 'company'), callbackId, await databaseNow(sql))
    call.print({ callbackId }, `Callback ${callbackId} will be sent again.`)
  })
}

export async function showSecret(call: Call) {
  await withDatabase(call.config, async database => {
    const key = callbackKey(database.secret)
    const secretOf = call.switches.new ? replaceCallbackSecret : callbackSecretOf
    const secret = await secretOf(database.sql, idOption(call, 'company'), key)
    call.print({ secret }, secret)
  })
}
