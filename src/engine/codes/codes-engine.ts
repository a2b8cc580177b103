import { randomUUID } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import type { Feed } from '../../channels/channel.ts'
import { connectBeside } from '../../db/sql.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { readAnnouncement } from '../../domain/lanes/announcements.ts'
import { CODES } from '../../domain/lanes/lane.ts'
import type { EngineOptions } from '../context.ts'
import { openSimulator } from '../gateways/connectors.ts'
import type { ThreadState } from '../gateways/gateways.ts'
import { Scheduler } from '../sending/scheduler.ts'
import { listen, openSendingParts, type SendingParts } from '../sending-parts.ts'
import { CONNECTIONS_FOR_RECORDING } from './connections.ts'
import { LentChannels } from './lent-channels.ts'
import type { FromCodes, ToCodes } from './protocol.ts'

/**
 * The work of the codes thread: sends verification codes and records the results, over connections of its own to the
 * database. The main thread lends its connections to the operators. Resolves when the main thread stops it and everything
 * is recorded.
 */
export async function serveCodes(options: EngineOptions, port: MessagePort): Promise<void> {
  const post = (message: FromCodes) => port.postMessage(message)
  const lent = new LentChannels(post)
  const stopping = Promise.withResolvers<void>()
  port.on('message', (message: ToCodes) => {
    if (message.kind === 'stop') stopping.resolve()
    else lent.receive(message)
  })
  const recording = connectBeside(options.sql, CONNECTIONS_FOR_RECORDING)
  const giveStates = (states: ThreadState[], unrecorded: number) => post({ kind: 'states', states, unrecorded })
  const connected = { ...options, connect: connectThrough(options, lent) }
  const parts = await openSendingParts(connected, { giveStates, recording })
  const onWanted = (subject: string, forMs: number) => post({ kind: 'wanted', subject, forMs })
  const scheduler = new Scheduler({ ...parts.context, ...parts, onlyCodes: true, onWanted })
  post({ kind: 'ready' })
  const stopListening = await listen(parts.context, {
    tidings_lanes: announcement => wakeForCodes(scheduler, announcement),
    tidings_gateways: () => parts.gateways.hurry(),
  })
  await stopping.promise
  stopListening()
  await stopParts(parts, scheduler)
  await recording.end({ timeout: 1 })
  port.close()
}

function wakeForCodes(scheduler: Scheduler, announcement: string) {
  const read = readAnnouncement(announcement)
  if (!read || read.priority === CODES) scheduler.wake(read)
}

/** Simulated operators limit no connections, so the thread has its own. */
function connectThrough({ sql, log }: EngineOptions, lent: LentChannels) {
  return (gateway: Gateway, feed: Feed) =>
    gateway.connector === 'simulator'
      ? openSimulator({ sql, log, worker: randomUUID() }, gateway, feed)
      : lent.channelOf(gateway.gatewayId)
}

/** The recorder stops after all sources of results. */
async function stopParts({ gateways, recorder, numbering, databaseClock }: SendingParts, scheduler: Scheduler) {
  recorder.hurry()
  await scheduler.stop()
  await gateways.stop()
  await recorder.stop()
  await numbering.stop()
  await databaseClock.stop()
}
