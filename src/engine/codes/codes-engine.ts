import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
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
import { RequestSender } from './requests.ts'

const SPEAK_EVERY_MS = 1000

/**
 * The work of the codes thread: sends verification codes and records the results, over connections of its own to the
 * database. The main thread lends its connections to the operators. Resolves when the main thread stops it and everything
 * is recorded.
 */
export async function serveCodes(options: EngineOptions, port: MessagePort): Promise<void> {
  const post = (message: FromCodes) => port.postMessage(message)
  const requests = new RequestSender()
  const { receiving } = requests
  port.postMessage({ kind: 'request_port', receiving } satisfies FromCodes, [receiving.port])
  const lent = new LentChannels(request => requests.post(request))
  const stopping = new AbortController()
  port.on('message', (message: ToCodes) => {
    if (message.kind === 'stop') stopping.abort()
    else lent.receive(message)
  })
  const speaking = setInterval(() => post({ kind: 'alive' }), SPEAK_EVERY_MS)
  const recording = connectBeside(options.sql, CONNECTIONS_FOR_RECORDING)
  const giveStates = (states: ThreadState[], unrecorded: number) => post({ kind: 'states', states, unrecorded })
  const connected = { ...options, connect: connectThrough(options, lent) }
  const parts = await openSendingParts(connected, { giveStates, recording })
  if (!stopping.signal.aborted) await sendUntil(stopping.signal, parts, post)
  await stopParts(parts)
  await recording.end({ timeout: 1 })
  clearInterval(speaking)
  requests.close()
  port.close()
}

async function sendUntil(stopping: AbortSignal, parts: SendingParts, post: (message: FromCodes) => void) {
  const onWanted = (subject: string, forMs: number) => post({ kind: 'wanted', subject, forMs })
  const scheduler = new Scheduler({ ...parts.context, ...parts, onlyCodes: true, onWanted })
  post({ kind: 'ready' })
  const stopListening = await listen(parts.context, {
    tidings_lanes: announcement => wakeForCodes(scheduler, announcement),
    tidings_gateways: () => parts.gateways.hurry(),
  })
  if (!stopping.aborted) await once(stopping, 'abort')
  stopListening()
  parts.recorder.hurry()
  await scheduler.stop()
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
async function stopParts({ gateways, recorder, numbering, databaseClock }: SendingParts) {
  await gateways.stop()
  await recorder.stop()
  await numbering.stop()
  await databaseClock.stop()
}
