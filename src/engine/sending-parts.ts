import { randomUUID } from 'node:crypto'
import { DatabaseClock } from '../db/clock.ts'
import type { Pool } from '../db/sql.ts'
import { gatewayKey } from '../domain/gateways/secrets.ts'
import { watchNumbering } from '../domain/numbering/numbering.ts'
import { CodeBox } from '../domain/verifications/code-box.ts'
import type { EngineContext, EngineOptions } from './context.ts'
import { connectGateway } from './gateways/connectors.ts'
import { feedOf } from './gateways/feed.ts'
import { Gateways, type ThreadState } from './gateways/gateways.ts'
import { Recorder } from './recording/recorder.ts'

export type SendingParts = Awaited<ReturnType<typeof openSendingParts>>

/** What only the codes thread has. `recording`: connections for its recorder alone. */
type OfThread = { giveStates?: (states: ThreadState[], unrecorded: number) => void; recording?: Pool }
/** What only an engine with a codes thread has. */
type OfEngine = { submitCodes?: () => void }

/** What an engine and its codes thread need alike to send messages and to record the results. */
export async function openSendingParts(options: EngineOptions, own: OfThread & OfEngine = {}) {
  const { sql, log, secret } = options
  const { giveStates, submitCodes, recording = sql } = own
  const databaseClock = await DatabaseClock.follow({ sql, log, ownClock: options.ownClock })
  const context: EngineContext = { ...options, clock: options.clock ?? databaseClock.now }
  const worker = randomUUID()
  const numbering = await watchNumbering(sql, { onError: err => log.warn({ err }, 'numbering.not_read') })
  const cascades = { numbering: () => numbering.current(), linkBase: `${options.publicUrl ?? ''}/s` }
  const recorder = new Recorder({ ...context, sql: recording, cascades })
  const feeds = { ...context, recorder, numbering: cascades.numbering, submitCodes }
  const gateways = await Gateways.open({
    sql,
    log,
    worker,
    key: secret === undefined ? undefined : gatewayKey(secret),
    // Each connection has its own worker id. When the settings of a simulated operator change, the new connection reports the
    // messages that the former one took and did not report yet.
    connect: options.connect ?? ((gateway, feed) => connectGateway({ sql, log, worker: randomUUID() }, gateway, feed)),
    feedOf: ({ gatewayId }) => feedOf(feeds, gatewayId),
    now: databaseClock.now,
    giveStates: giveStates && (states => giveStates(states, recorder.unrecorded)),
  })
  const codes = secret === undefined ? undefined : new CodeBox(secret)
  return { context, worker, databaseClock, numbering, cascades, recorder, feeds, gateways, codes }
}

/**
 * Reacts to announcements of the database: new work for lanes, changed gateways. Announcements only save time, because
 * the engine also polls. An engine that cannot listen works on.
 */
export async function listen(
  { sql, log }: EngineContext,
  reactions: Record<string, (payload: string) => void>,
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
