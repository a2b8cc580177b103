import type { Logger } from 'pino'
import { errorCodes } from '../base/error-codes.ts'
import type { Outgoing, SendResult } from '../channels/channel.ts'
import type { Pool } from '../db/sql.ts'
import { blacklistedAmong } from '../domain/blacklist/blacklist.ts'
import type { RunnableLane } from '../domain/lanes/lane.ts'
import type { QueuedMessage } from '../domain/messages/message.ts'
import type { LiveGateway } from './gateways.ts'
import type { Recorder } from './recorder.ts'

/** Handed over at once; between two of these the process looks whether it may go on. */
const SLICE = 1000
const MOST_BACKOFF_MS = 60_000
/** A message that was under way when its connection broke goes out again after this; possibly twice. */
const LOST_RETRY_MS = 1000

/** Messages in our hands: they may go as long as their lease is ours and their lane is not held. */
export type Hand = { mayGo(): boolean }

export type SenderContext = { sql: Pool; clock: () => Date; log: Logger; recorder: Recorder }

export type Attempt = QueuedMessage & { attempts: number }

/** A message that is still to be sent: the operator was busy, or our hand had to stop. */
export type Left = { seq: number; attempts: number; dueAt: Date }

/**
 * Takes messages to their gateway: those that may not go any more are refused, the rest is handed over slice by
 * slice, and every result is noted. Resolves when the gateway is done with them; `recorded` when all of it is
 * committed, so that the next chunk can go out meanwhile. `left` is to be sent later.
 */
export async function sendMessages(
  context: SenderContext,
  lane: RunnableLane,
  messages: Attempt[],
  gateway: LiveGateway | undefined,
  hand: Hand,
): Promise<{ recorded: Promise<unknown>; left: Left[] }> {
  const work: Work = { ...context, lane, noted: new Set(), later: [], told: new Set() }
  for (let from = 0; from < messages.length && hand.mayGo(); from += SLICE) {
    await context.recorder.room()
    const allowed = await refuseForbidden(work, messages.slice(from, from + SLICE), gateway)
    if (allowed.length > 0) await submitSlice(work, allowed, gateway!, hand)
  }
  const untouched = messages.filter(({ uuid }) => !work.told.has(uuid))
  const left = [...work.later, ...untouched.map(({ seq, attempts }) => ({ seq, attempts, dueAt: context.clock() }))]
  return { recorded: Promise.all(work.noted), left }
}

/** `noted`: the batches that our findings are in; `told`: the messages we know something of. */
type Work = SenderContext & { lane: RunnableLane; noted: Set<Promise<void>>; later: Left[]; told: Set<string> }

/** Looked at again right before submission, slice by slice: what has changed since the message was accepted. */
async function refuseForbidden(work: Work, messages: Attempt[], gateway: LiveGateway | undefined): Promise<Attempt[]> {
  if (['CLOSED', 'DENIED'].includes(work.lane.senderStatus))
    return refuseAll(work, messages, errorCodes.refusedByChannel)
  if (!gateway) return refuseAll(work, messages, errorCodes.noRoute)
  const blacklisted = await blacklistedAmong(
    work.sql,
    work.lane.companyId,
    messages.map(({ destination }) => destination),
  )
  if (blacklisted.size === 0) return messages
  refuseAll(
    work,
    messages.filter(({ destination }) => blacklisted.has(destination)),
    errorCodes.blacklisted,
  )
  return messages.filter(({ destination }) => !blacklisted.has(destination))
}

function refuseAll(work: Work, messages: Attempt[], errorCode: number): [] {
  for (const { uuid } of messages) note(work, { uuid, refused: { at: work.clock(), errorCode } })
  return []
}

function note(work: Work, finding: Parameters<Recorder['note']>[1]) {
  work.told.add(finding.uuid)
  work.noted.add(work.recorder.note(work.lane.companyId, finding))
}

async function submitSlice(work: Work, messages: Attempt[], { gateway, channel }: LiveGateway, hand: Hand) {
  const batch = messages.map(message => outgoing(work.lane, message))
  const report = (index: number, result: SendResult) => noteResult(work, messages[index]!, result, gateway.gatewayId)
  try {
    await channel.submit(batch, report, hand.mayGo)
  } catch (err) {
    // A channel should not throw. What it has not reported may have gone out or not, as with a lost connection.
    work.log.error({ err, gatewayId: gateway.gatewayId }, 'submission.failed')
    for (const message of messages) if (!work.told.has(message.uuid)) retryLater(work, message, LOST_RETRY_MS)
  }
}

const outgoing = (lane: RunnableLane, message: Attempt): Outgoing => ({
  companyId: lane.companyId,
  uuid: message.uuid,
  channelType: lane.channelType,
  senderName: lane.senderName,
  destination: message.destination,
  text: message.text,
  parts: message.parts,
  attempts: message.attempts,
})

function noteResult(work: Work, message: Attempt, result: SendResult, gatewayId: number) {
  const { uuid } = message
  switch (result.kind) {
    case 'accepted': {
      const ids = result.providerIds ? { ids: { gatewayId, providerIds: result.providerIds } } : {}
      return note(work, { uuid, sentAt: work.clock(), ...ids })
    }
    case 'unknown': // handed over without an answer: it may have gone out, so it is not sent again
      return note(work, { uuid, sentAt: work.clock() })
    case 'refused':
      return note(work, { uuid, refused: { at: work.clock(), errorCode: result.errorCode } })
    case 'busy':
      return retryLater(work, message, backoff(result.retryAfterMs, message.attempts))
    case 'lost':
      return retryLater(work, message, LOST_RETRY_MS)
  }
}

const backoff = (firstMs: number, attempts: number) =>
  Math.min(firstMs * 2 ** Math.min(attempts, 10), MOST_BACKOFF_MS) * (0.75 + Math.random() / 2)

function retryLater(work: Work, { uuid, seq, attempts }: Attempt, afterMs: number) {
  work.told.add(uuid)
  work.later.push({ seq, attempts: attempts + 1, dueAt: new Date(work.clock().getTime() + afterMs) })
}
