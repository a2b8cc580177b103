import { errorCodes } from '../../base/error-codes.ts'
import type { SendResult } from '../../channels/channel.ts'
import { CODES, type RunnableLane, type UnsentMessage } from '../../domain/lanes/lane.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import { PendingReports } from '../recording/pending-reports.ts'
import { outgoingOf } from './outgoing.ts'
import { findUnwanted, refuseForbidden, refuseUnwanted, type Unwanted } from './refusals.ts'
import { SendSpans } from './send-spans.ts'
import { type Attempt, record, refuseAll, type SenderContext, sendLater, unsentMessageOf, type Work } from './work.ts'

const MOST_BACKOFF_MS = 60_000
/** First pause before a message is sent again whose connection broke while it was submitted. It may arrive twice. */
const LOST_RETRY_MS = 1000

/** The chunk whose messages are being sent. */
export type ChunkInProgress = {
  /** True as long as the lease is ours and the lane is not blocked. */
  mayContinue(): boolean
  /** Parts submitted so far, with any result. */
  submittedParts: number
  /** Most messages of a slice: about what its gateway takes within a second. */
  sliceSize: number
  /** Which messages must not be sent, if that was read together with the lease. It counts for the first slice. */
  unwanted?: Unwanted | undefined
  /** The slice that is being submitted. `checkAgain` repeats the checks for messages that were not submitted yet. */
  slice?: { startedAt: number; checkAgain(): Promise<void> } | undefined
}

/**
 * Sends the messages of a chunk through a gateway, slice by slice: refuses messages that may not be sent, submits the rest
 * and records every result. Resolves when the gateway has answered. `recorded` resolves when all results are committed,
 * so that the next chunk can be sent meanwhile. `left` are the messages to be sent later.
 */
export async function sendMessages(
  context: SenderContext,
  lane: RunnableLane,
  messages: Attempt[],
  gateway: LiveGateway | undefined,
  chunk: ChunkInProgress,
): Promise<{ recorded: Promise<unknown>; left: UnsentMessage[] }> {
  const work: Work = {
    ...context,
    lane,
    pending: new PendingReports(),
    later: [],
    decided: new Set(),
    submitted: new Set(),
    spans: context.tracer && new SendSpans(context.tracer, context.clock),
  }
  const sliceSize = sliceSizeOf(chunk, gateway)
  for (let from = 0; from < messages.length && chunk.mayContinue(); from += sliceSize) {
    const slice = decryptCodes(work, messages.slice(from, from + sliceSize))
    const allowed = await refuseForbidden(work, slice, gateway, from === 0 ? chunk.unwanted : undefined)
    if (gateway && allowed.length > 0) await submitWithinWindow(work, allowed, gateway, chunk)
  }
  const untouched = messages.filter(({ uuid }) => !work.decided.has(uuid))
  const left = [...work.later, ...untouched.map(message => unsentMessageOf(message, context.clock()))]
  const recorded = work.pending.recorded()
  recorded.catch(() => {}) // the caller may still wait for something else when it is rejected
  return { recorded, left }
}

/**
 * A slice reserves a place in the submission window for each of its messages. Five times the gateway's own window keeps
 * the gateway busy, and limits how many places a gateway without answers takes from the others. At least one message: a
 * gateway that has just lost its connections has a window of 0.
 */
const WINDOWS_PER_SLICE = 5

const sliceSizeOf = ({ sliceSize }: ChunkInProgress, gateway: LiveGateway | undefined) =>
  gateway ? Math.min(sliceSize, Math.max(1, WINDOWS_PER_SLICE * gateway.channel.window)) : sliceSize

/** Verification codes are decrypted only here, right before submission. Codes that cannot be decrypted are refused. */
function decryptCodes(work: Work, messages: Attempt[]): Attempt[] {
  if (!messages.some(({ sealed }) => sealed)) return messages
  return messages.flatMap(message => {
    if (!message.sealed) return [message]
    try {
      if (!work.codes) throw new Error('Without the secret of the installation no code can be decrypted')
      return [{ ...message, ...work.codes.open(message.sealed) }]
    } catch {
      work.log.error({ messageUuid: message.uuid, companyId: work.lane.companyId }, 'code.unreadable')
      return refuseAll(work, [message], errorCodes.refusedByChannel)
    }
  })
}

/**
 * A message occupies a place in the submission window from before it is submitted until its result is recorded. After a
 * crash only these messages may be sent twice. Messages that were not submitted, or are sent again, free their place.
 */
async function submitWithinWindow(work: Work, messages: Attempt[], gateway: LiveGateway, chunk: ChunkInProgress) {
  const { window } = work.recorder
  const places = messages.length
  const reservation = work.lane.priority === CODES ? window.reserveAtOnce(places) : await window.reserve(places)
  const enter = ({ uuid }: Attempt) => {
    if (!window.enter(reservation)) return false
    work.submitted.add(uuid)
    return true
  }
  try {
    await submitSlice(work, messages, gateway, chunk, enter)
  } finally {
    window.cancel(reservation)
    window.leave(work.submitted.size)
    work.submitted.clear()
  }
}

async function submitSlice(
  work: Work,
  messages: Attempt[],
  { gateway, channel }: LiveGateway,
  chunk: ChunkInProgress,
  enter: (message: Attempt) => boolean,
) {
  const { gatewayId } = gateway
  const batch = await outgoingOf(work, messages, gatewayId)
  const report = (index: number, result: SendResult) => recordResult(work, messages[index]!, result, gatewayId)
  const watch = watchSlice(work, messages, chunk, enter)
  try {
    await channel.submit(batch, report, watch.mayGo)
    refuseUnwanted(work, messages, watch.unwanted)
  } catch (err) {
    // A channel should not throw. Messages without a result may have been sent or not, as after a lost connection.
    work.log.error({ err, gatewayId }, 'submission.failed')
    for (const message of messages)
      if (!work.decided.has(message.uuid)) retry(work, { ...message, gatewayId }, LOST_RETRY_MS)
  } finally {
    chunk.slice = undefined
  }
}

/**
 * Decides message by message whether the channel may still submit it, and counts the submitted parts. A slow gateway
 * needs long for a slice: messages that were stopped or blacklisted meanwhile are not submitted.
 */
function watchSlice(
  work: Work,
  messages: Attempt[],
  chunk: ChunkInProgress,
  enter: (message: Attempt) => boolean,
): { mayGo(index: number): boolean; unwanted: Unwanted } {
  const unwanted: Unwanted = new Map()
  const submitted = new Array<boolean>(messages.length).fill(false)
  chunk.slice = {
    startedAt: performance.now(),
    async checkAgain() {
      const open = messages.filter(({ uuid }) => !work.decided.has(uuid))
      for (const [uuid, errorCode] of await findUnwanted(work, open)) unwanted.set(uuid, errorCode)
    },
  }
  const mayGo = (index: number) => {
    const message = messages[index]!
    if (!chunk.mayContinue() || unwanted.has(message.uuid)) return false
    if (submitted[index]) return true
    if (!enter(message)) return false
    chunk.submittedParts += message.parts
    work.spans?.begin(message.uuid)
    submitted[index] = true
    return true
  }
  return { mayGo, unwanted }
}

function recordResult(work: Work, message: Attempt, result: SendResult, gatewayId: number) {
  const { uuid } = message
  work.spans?.end(uuid, result, gatewayId)
  switch (result.kind) {
    case 'accepted': {
      const at = work.clock()
      const report: StatusReport = { uuid, sentAt: at }
      if (result.providerIds) report.ids = { gatewayId, providerIds: result.providerIds }
      if (result.delivered) report.final = { status: 'DELIVERED', at }
      return record(work, report)
    }
    case 'unknown': // submitted without an answer: the message may have been sent, so it is not sent again
      return record(work, { uuid, sentAt: work.clock(), ...idsOf(message, result.taken, gatewayId) })
    case 'refused': {
      const { errorCode, operatorError } = result
      const kept = operatorError === undefined ? {} : { operatorError }
      return record(work, { uuid, refused: { at: work.clock(), errorCode, ...kept } })
    }
    case 'busy':
      recordTaken(work, message, result.taken, gatewayId)
      return retry(work, result.taken ? { ...message, gatewayId } : message, result.retryAfterMs)
    case 'lost':
      recordTaken(work, message, result.taken, gatewayId)
      return retry(work, { ...message, gatewayId }, result.retryAfterMs ?? LOST_RETRY_MS)
  }
}

/** The message is sent again, but the gateway accepted some of its parts: their ids are needed for their receipts. */
function recordTaken(work: Work, message: Attempt, taken: Record<number, string> | undefined, gatewayId: number) {
  if (taken) record(work, { uuid: message.uuid, ...idsOf(message, taken, gatewayId) })
}

function idsOf({ parts }: Attempt, taken: Record<number, string> | undefined, gatewayId: number) {
  if (!taken) return {}
  return { ids: { gatewayId, providerIds: Array.from({ length: parts }, (_, part) => taken[part]) } }
}

function retry(work: Work, message: Attempt, firstMs: number) {
  const dueAt = new Date(work.clock().getTime() + Math.ceil(backoff(firstMs, message.attempts)))
  sendLater(work, { ...message, attempts: message.attempts + 1 }, dueAt)
}

/** Not before the time that the operator asked for, and with a random share, so that a chunk does not return at once. */
const backoff = (firstMs: number, attempts: number) =>
  Math.max(firstMs, Math.min(firstMs * 2 ** Math.min(attempts, 10), MOST_BACKOFF_MS)) * (1 + Math.random() / 4)
