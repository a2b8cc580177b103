import { callbackSecretOf, listCallbackAttempts, listCallbacks, replayCallback } from '../domain/callbacks/callbacks.ts'
import { type Command, withDatabase } from './command.ts'
import { idOption } from './command-line.ts'
import { table } from './table.ts'

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const callback = { value: 'ID', about: 'The callback: `tidings callback list` shows them', required: true }
const LISTED = 100

export const callbackCommands: Command[] = [
  {
    name: 'callback list',
    about: 'Lists the newest callbacks of a company and what became of them.',
    options: { company },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const callbacks = await listCallbacks(sql, idOption(call, 'company'), { limit: LISTED })
        const rows = callbacks.map(c => [c.callbackId, c.status, `${c.doneEvents}/${c.eventCount}`, c.attempts, c.url])
        call.print(callbacks, table(['ID', 'STATUS', 'TAKEN', 'TRIES', 'URL'], rows))
      }),
  },
  {
    name: 'callback attempts',
    about: 'Lists the newest attempts at a callback: when, how many events were taken, and what was answered.',
    options: { company, callback },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const attempts = await listCallbackAttempts(sql, idOption(call, 'company'), idOption(call, 'callback'), LISTED)
        const rows = attempts.map(a => [
          a.attemptedAt.toISOString(),
          `${a.deliveredEvents}/${a.triedEvents}`,
          a.statusCode ?? a.error,
          `${a.tookMs} ms`,
        ])
        call.print(attempts, table(['AT', 'TAKEN', 'ANSWER', 'TOOK'], rows))
      }),
  },
  {
    name: 'callback replay',
    about: 'Sends a callback again, for another day.',
    options: { company, callback },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const callbackId = idOption(call, 'callback')
        await replayCallback(sql, idOption(call, 'company'), callbackId)
        call.print({ callbackId }, `Callback ${callbackId} will be sent again.`)
      }),
  },
  {
    name: 'callback secret',
    about: "Shows the secret that a company's callbacks are signed with (Standard Webhooks).",
    options: { company },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const secret = await callbackSecretOf(sql, idOption(call, 'company'))
        call.print({ secret }, secret)
      }),
  },
]
