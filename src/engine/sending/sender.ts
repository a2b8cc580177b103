import type { Logger } from 'pino'
import { type Content, isFreeText } from '../../base/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { nextOpening } from '../../base/sending-window.ts'
import type { Outgoing, SendResult } from '../../channels/channel.ts'
import type { Pool } from '../../db/sql.ts'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import { foreignNames, isForeign, ownsName } from '../../domain/gateways/name-owners.ts'
import { heardWithin } from '../../domain/inbound/inbound.ts'
import { CODES, isOver, type Left, type RunnableLane } from '../../domain/lanes/lane.ts'
import type { QueuedMessage } from '../../domain/messages/message.ts'
import { takenParts } from '../../domain/sending/receipts.ts'
import { stoppedAmong } from '../../domain/sending/stopping.ts'
import { addressesByName } from '../../domain/subscribers/subscribers.ts'
import type { CodeBox } from '../../domain/verifications/code-box.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import type { Recorder } from '../recording/recorder.ts'
import { unlessSetAside } from '../recording/set-aside.ts'

const MOST_BACKOFF_MS = 60_000
/** A message that was under way when its connection broke goes out again after this at first; possibly twice. */
const LOST_RETRY_MS = 1000

/** Messages in our hands: they may go as long as their lease is ours and their lane is not held. */
export type Hand = {
  mayGo(): boolean
  /** Parts that were handed over, whatever was said to them. */
  handedParts: number
  /** Most messages of a slice: about what its gateway takes within a second. */
  sliceSize: number
  /** The slice under way: since when, and how to ask again whether its messages are still wanted. */
  slice?: { since: number; lookAgain(): Promise<void> } | undefined
}

export type SenderContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  recorder: Recorder
  /** Opens the texts of verification codes. */
  codes?: CodeBox | undefined
}

/** With the gateway that may have taken something of it before. */
export type Attempt = QueuedMessage & { attempts: number; gatewayId?: number }

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
  const work: Work = { ...context, lane, noted: new Set(), later: [], told: new Set(), open: new Set() }
  const sliceSize = sliceSizeOf(hand, gateway)
  for (let from = 0; from < messages.length && hand.mayGo(); from += sliceSize) {
    const slice = openSealed(work, messages.slice(from, from + sliceSize))
    const allowed = await refuseForbidden(work, slice, gateway)
    if (allowed.length > 0) await submitWithinWindow(work, allowed, gateway!, hand)
  }
  const untouched = messages.filter(({ uuid }) => !work.told.has(uuid))
  const left = [...work.later, ...untouched.map(message => leftOf(message, context.clock()))]
  return { recorded: Promise.all(work.noted), left }
}

/**
 * A slice keeps a place in the window of submissions for each of its messages. Five times what the gateway can have open
 * at once keeps it busy, and a gateway that does not answer keeps no more from the others. At least one: a gateway that
 * has lost its connections since it was chosen has no window.
 */
const OPEN_PER_SLICE = 5

const sliceSizeOf = (hand: Hand, gateway: LiveGateway | undefined) =>
  Math.min(hand.sliceSize, gateway ? Math.max(1, OPEN_PER_SLICE * gateway.channel.window) : Number.POSITIVE_INFINITY)

/**
 * `noted`: the batches that our findings are in; `told`: the messages we know something of; `open`: those that have a
 * place in the window of submissions, until they are noted.
 */
type Work = SenderContext & {
  lane: RunnableLane
  noted: Set<Promise<void>>
  later: Left[]
  told: Set<string>
  open: Set<string>
}

/** Verification codes are in clear here alone, on their way to the operator. Codes that cannot be opened are refused. */
function openSealed(work: Work, messages: Attempt[]): Attempt[] {
  if (!messages.some(({ sealed }) => sealed)) return messages
  return messages.flatMap(message => {
    if (!message.sealed) return [message]
    try {
      return [{ ...message, ...work.codes!.open(message.sealed) }]
    } catch {
      work.log.error({ messageUuid: message.uuid, companyId: work.lane.companyId }, 'code.unreadable')
      return refuseAll(work, [message], errorCodes.refusedByChannel)
    }
  })
}

/** Looked at again right before submission, slice by slice: what has changed since the message was accepted. */
async function refuseForbidden(work: Work, messages: Attempt[], gateway: LiveGateway | undefined): Promise<Attempt[]> {
  const now = work.clock()
  if (isOver(work.lane, now)) return refuseAll(work, messages, errorCodes.expired)
  if (['CLOSED', 'DENIED'].includes(work.lane.senderStatus))
    return refuseAll(work, messages, errorCodes.refusedByChannel)
  if (!gateway) return refuseAll(work, messages, errorCodes.noRoute)
  const own = await refuseForeign(work, messages, gateway)
  const inTime = refuse(work, own, errorCodes.expired, message => isTooLate(message, now))
  const open = postponeClosed(work, inTime, now)
  const unwanted = await unwantedAmong(work, open)
  return refuseUnasked(work, refuseUnwanted(work, open, unwanted), gateway, now)
}

/** A name that belongs to the gateway is for its owners alone; these may have changed since the message was accepted. */
async function refuseForeign(work: Work, messages: Attempt[], { gateway }: LiveGateway): Promise<Attempt[]> {
  const { channelType, companyId } = work.lane
  if (gateway.companies.includes(companyId)) return messages
  const names = new Set(messages.map(message => nameOf(work.lane, message)))
  const asked = [...names].filter(name => ownsName(gateway, name)).map(senderName => ({ channelType, senderName }))
  if (asked.length === 0) return messages
  const foreign = await foreignNames(work.sql, companyId, asked)
  const isOfOthers = (message: Attempt) => isForeign(foreign, { channelType, senderName: nameOf(work.lane, message) })
  return refuse(work, messages, errorCodes.refusedByChannel, isOfOthers)
}

function isTooLate({ expiresAt, waitsUntil }: Attempt, now: Date): boolean {
  const end = expiresAt ?? waitsUntil
  return end !== null && end <= now
}

/** Why messages are not to go: their client wants them stopped, or the subscriber is on the blacklist. */
type Unwanted = Map<string, number>

async function unwantedAmong({ sql, lane }: Work, messages: Attempt[]): Promise<Unwanted> {
  const [blacklisted, stopped] = await Promise.all([
    blacklistedAmong(
      sql,
      lane.companyId,
      messages.map(({ destination }) => destination),
    ),
    stoppedAmong(
      sql,
      lane.companyId,
      messages.map(({ uuid }) => uuid),
    ),
  ])
  const unwanted: Unwanted = new Map()
  if (blacklisted.size > 0)
    for (const { uuid, destination } of messages)
      if (blacklisted.has(destination)) unwanted.set(uuid, errorCodes.blacklisted)
  for (const uuid of stopped) unwanted.set(uuid, errorCodes.stopped)
  return unwanted
}

/** Refuses what nobody has said anything of; gives back what is wanted. */
function refuseUnwanted(work: Work, messages: Attempt[], unwanted: Unwanted): Attempt[] {
  if (unwanted.size === 0) return messages
  return messages.filter(message => {
    const errorCode = unwanted.get(message.uuid)
    if (errorCode !== undefined && !work.told.has(message.uuid)) refuseAll(work, [message], errorCode)
    return errorCode === undefined
  })
}

const ANSWER_MS = 24 * 3600_000

/** WhatsApp takes free texts only for a day after the subscriber wrote; its simulated operators insist for a test number. */
async function refuseUnasked(work: Work, messages: Attempt[], { gateway }: LiveGateway, now: Date): Promise<Attempt[]> {
  const { sql, lane } = work
  if (lane.channelType !== 'WHATSAPP' || gateway.connector === 'simulator') return messages
  const free = messages.filter(message => isFreeText(contentOf(lane, message).content))
  if (free.length === 0) return messages
  const numbers = free.map(({ destination }) => destination)
  const since = new Date(now.getTime() - ANSWER_MS)
  const heard = await heardWithin(sql, lane.companyId, lane.senderName, numbers, since)
  const unasked = new Set(free.filter(({ destination }) => !heard.has(destination)))
  return refuse(work, messages, errorCodes.refusedByChannel, message => unasked.has(message))
}

/** Refuses those that the rule speaks against; gives back the others. */
function refuse(work: Work, messages: Attempt[], errorCode: number, isForbidden: (message: Attempt) => boolean) {
  const { forbidden = [], allowed = [] } = Object.groupBy(messages, each =>
    isForbidden(each) ? 'forbidden' : 'allowed',
  )
  refuseAll(work, forbidden, errorCode)
  return allowed
}

/** A single message whose hours ended while it waited goes when they begin again; one past its completion never goes. */
function postponeClosed(work: Work, messages: Attempt[], now: Date): Attempt[] {
  return messages.filter(message => {
    if (!message.window) return true
    const { zone, endAt, ...hours } = message.window
    const opening = nextOpening({ ...hours, endAt: endAt ? new Date(endAt) : null, zone: { name: zone } }, now)
    if (opening && opening <= now) return true
    if (opening) postpone(work, message, opening)
    else refuseAll(work, [message], errorCodes.expired)
    return false
  })
}

function postpone(work: Work, message: Attempt, until: Date) {
  work.told.add(message.uuid)
  work.later.push(leftOf(message, until))
}

function refuseAll(work: Work, messages: Attempt[], errorCode: number): [] {
  for (const { uuid } of messages) note(work, { uuid, refused: { at: work.clock(), errorCode } })
  return []
}

function note(work: Work, finding: Parameters<Recorder['note']>[1]) {
  work.told.add(finding.uuid)
  const places = work.open.delete(finding.uuid) ? 1 : 0
  work.noted.add(work.recorder.note(work.lane.companyId, finding, places).catch(unlessSetAside))
}

/**
 * Messages are counted before they are handed over, until their result is recorded: what is counted is the most that
 * can go out twice after a kill. What was not handed over, or is to be tried again, gives its place back.
 */
async function submitWithinWindow(work: Work, messages: Attempt[], gateway: LiveGateway, hand: Hand) {
  const { window } = work.recorder
  const places = messages.length
  const reservation = work.lane.priority === CODES ? window.reserveAtOnce(places) : await window.reserve(places)
  const enter = ({ uuid }: Attempt) => {
    if (!window.enter(reservation)) return false
    work.open.add(uuid)
    return true
  }
  try {
    await submitSlice(work, messages, gateway, hand, enter)
  } finally {
    window.cancel(reservation)
    window.leave(work.open.size)
    work.open.clear()
  }
}

async function submitSlice(
  work: Work,
  messages: Attempt[],
  { gateway, channel }: LiveGateway,
  hand: Hand,
  enter: (message: Attempt) => boolean,
) {
  const [taken, addresses] = await Promise.all([
    takenBefore(work, messages, gateway.gatewayId),
    addressesFor(work, messages, gateway.gatewayId),
  ])
  const now = work.clock()
  const batch = messages.map(message => outgoing(work.lane, message, taken.get(message.uuid), addresses(message), now))
  const report = (index: number, result: SendResult) => noteResult(work, messages[index]!, result, gateway.gatewayId)
  const watch = watchSlice(work, messages, hand, enter)
  try {
    await channel.submit(batch, report, watch.mayGo)
    refuseUnwanted(work, messages, watch.unwanted)
  } catch (err) {
    // A channel should not throw. What it has not reported may have gone out or not, as with a lost connection.
    work.log.error({ err, gatewayId: gateway.gatewayId }, 'submission.failed')
    for (const message of messages)
      if (!work.told.has(message.uuid)) retryLater(work, { ...message, gatewayId: gateway.gatewayId }, LOST_RETRY_MS)
  } finally {
    hand.slice = undefined
  }
}

/** A slow gateway has a slice for long: what is no longer wanted meanwhile does not go. Counts what is handed over. */
function watchSlice(work: Work, messages: Attempt[], hand: Hand, enter: (message: Attempt) => boolean) {
  const unwanted: Unwanted = new Map()
  const handed = new Set<number>()
  hand.slice = {
    since: performance.now(),
    async lookAgain() {
      const open = messages.filter(({ uuid }) => !work.told.has(uuid))
      for (const [uuid, errorCode] of await unwantedAmong(work, open)) unwanted.set(uuid, errorCode)
    },
  }
  const mayGo = (index: number) => {
    const message = messages[index]!
    if (!hand.mayGo() || unwanted.has(message.uuid)) return false
    if (handed.has(index)) return true
    if (!enter(message)) return false
    hand.handedParts += message.parts
    handed.add(index)
    return true
  }
  return { mayGo, unwanted }
}

/**
 * Of long messages that were in somebody's hands before, the parts that this gateway has taken: whichever process it
 * was that handed them over, and whether it came to count the attempt or was killed. Another gateway gets the whole
 * message: it may cut it in other places.
 */
async function takenBefore(work: Work, messages: Attempt[], gatewayId: number) {
  const isNew = work.lane.leaseId === undefined
  const uuids = isNew ? [] : messages.filter(({ parts }) => parts > 1).map(({ uuid }) => uuid)
  if (uuids.length === 0) return new Map<string, Record<number, string>>()
  return takenParts(work.sql, { companyId: work.lane.companyId, gatewayId, uuids })
}

/** Channels that know their subscribers by an address of their own. */
const ADDRESSED = ['TELEGRAM', 'PUSH']

async function addressesFor({ sql, lane }: Work, messages: Attempt[], gatewayId: number) {
  if (!ADDRESSED.includes(lane.channelType)) return () => undefined
  const asked = new Map<string, { senderName: string; destination: string }>()
  for (const message of messages) {
    const senderName = nameOf(lane, message)
    asked.set(`${message.destination} ${senderName}`, { senderName, destination: message.destination })
  }
  const byName = await addressesByName(sql, gatewayId, lane, [...asked.values()])
  return (message: Attempt) => byName.get(nameOf(lane, message))?.get(message.destination)
}

/** Names without registration share a lane: each of its messages has a name of its own. */
const nameOf = (lane: RunnableLane, message: Attempt) => message.senderName ?? lane.senderName

const outgoing = (
  lane: RunnableLane,
  message: Attempt,
  taken: Record<number, string> | undefined,
  addresses: string[] | undefined,
  now: Date,
): Outgoing => ({
  companyId: lane.companyId,
  uuid: message.uuid,
  channelType: lane.channelType,
  senderName: nameOf(lane, message),
  destination: message.destination,
  text: message.text,
  parts: message.parts,
  attempts: message.attempts,
  ...contentOf(lane, message),
  ...expiryOf(lane, message, now),
  ...(addresses ? { addresses } : {}),
  ...(taken ? { taken } : {}),
})

/** The time of a cascade's step counts from now; of any other message it has counted since it might go. */
function expiryOf(lane: RunnableLane, { expiresAt, ttlSeconds }: Attempt, now: Date): { expiresAt?: Date } {
  const seconds = ttlSeconds ?? lane.ttlSeconds
  const ends = [...(expiresAt ? [expiresAt.getTime()] : []), ...(seconds ? [now.getTime() + seconds * 1000] : [])]
  return ends.length > 0 ? { expiresAt: new Date(Math.min(...ends)) } : {}
}

/** A dispatch has one content for all, with each one's own text in it. */
function contentOf({ content }: RunnableLane, message: Attempt): { content?: Content } {
  if (message.content) return { content: message.content }
  if (!content) return {}
  return { content: 'text' in content ? { ...content, text: message.text } : content }
}

function noteResult(work: Work, message: Attempt, result: SendResult, gatewayId: number) {
  const { uuid } = message
  switch (result.kind) {
    case 'accepted': {
      const at = work.clock()
      const ids = result.providerIds ? { ids: { gatewayId, providerIds: result.providerIds } } : {}
      return note(work, {
        uuid,
        sentAt: at,
        ...ids,
        ...(result.delivered ? { final: { status: 'DELIVERED', at } } : {}),
      })
    }
    case 'unknown': // handed over without an answer: it may have gone out, so it is not sent again
      return note(work, { uuid, sentAt: work.clock(), ...idsOf(message, result.taken, gatewayId) })
    case 'refused': {
      const { errorCode, operatorError } = result
      const kept = operatorError === undefined ? {} : { operatorError }
      return note(work, { uuid, refused: { at: work.clock(), errorCode, ...kept } })
    }
    case 'busy':
      noteTaken(work, message, result.taken, gatewayId)
      return retryLater(work, result.taken ? { ...message, gatewayId } : message, result.retryAfterMs)
    case 'lost':
      noteTaken(work, message, result.taken, gatewayId)
      return retryLater(work, { ...message, gatewayId }, result.retryAfterMs ?? LOST_RETRY_MS)
  }
}

/** The message is still to go; but what was taken of it has ids, and receipts to come. */
function noteTaken(work: Work, message: Attempt, taken: Record<number, string> | undefined, gatewayId: number) {
  if (taken) note(work, { uuid: message.uuid, ...idsOf(message, taken, gatewayId) })
}

function idsOf({ parts }: Attempt, taken: Record<number, string> | undefined, gatewayId: number) {
  if (!taken) return {}
  return { ids: { gatewayId, providerIds: Array.from({ length: parts }, (_, part) => taken[part]) } }
}

/** Never earlier than the operator asked for, and spread: all of a chunk would come back at once. */
const backoff = (firstMs: number, attempts: number) =>
  Math.max(firstMs, Math.min(firstMs * 2 ** Math.min(attempts, 10), MOST_BACKOFF_MS)) * (1 + Math.random() / 4)

function retryLater(work: Work, message: Attempt, firstMs: number) {
  work.told.add(message.uuid)
  const dueAt = new Date(work.clock().getTime() + Math.ceil(backoff(firstMs, message.attempts)))
  work.later.push(leftOf({ ...message, attempts: message.attempts + 1 }, dueAt))
}

const leftOf = ({ seq, attempts, gatewayId }: Attempt, dueAt: Date): Left => ({
  seq,
  attempts,
  dueAt,
  ...(gatewayId ? { gatewayId } : {}),
})
