import type { Content } from '../../base/content/content.ts'
import type { Outgoing } from '../../channels/channel.ts'
import { CODES, type RunnableLane } from '../../domain/lanes/lane.ts'
import { acceptedParts } from '../../domain/receipts/receipts.ts'
import { addressesByName } from '../../domain/subscribers/subscribers.ts'
import { type Attempt, senderNameOf, type Work } from './work.ts'

/** Builds what the channel needs to submit each message. */
export async function outgoingOf(work: Work, messages: Attempt[], gatewayId: number): Promise<Outgoing[]> {
  const [taken, addresses] = await Promise.all([
    takenBefore(work, messages, gatewayId),
    addressesFor(work, messages, gatewayId),
  ])
  const now = work.clock()
  return messages.map(message => outgoing(work.lane, message, taken.get(message.uuid), addresses(message), now))
}

/**
 * The parts of long messages that this gateway accepted in earlier attempts, also in attempts of a process that was
 * killed before it recorded them. Another gateway gets the whole message, because it may split the text differently.
 */
async function takenBefore(work: Work, messages: Attempt[], gatewayId: number) {
  const isFirstAttempt = work.lane.leaseId === undefined
  const uuids = isFirstAttempt ? [] : messages.filter(({ parts }) => parts > 1).map(({ uuid }) => uuid)
  if (uuids.length === 0) return new Map<string, Record<number, string>>()
  return acceptedParts(work.sql, { companyId: work.lane.companyId, gatewayId, uuids })
}

/** Channels that reach a subscriber by an address other than the number. */
const ADDRESSED = ['TELEGRAM', 'PUSH']

async function addressesFor({ sql, lane }: Work, messages: Attempt[], gatewayId: number) {
  if (!ADDRESSED.includes(lane.channelType)) return () => undefined
  const asked = new Map<string, { senderName: string; destination: string }>()
  for (const message of messages) {
    const senderName = senderNameOf(lane, message)
    asked.set(`${message.destination} ${senderName}`, { senderName, destination: message.destination })
  }
  const byName = await addressesByName(sql, gatewayId, lane, [...asked.values()])
  return (message: Attempt) => byName.get(senderNameOf(lane, message))?.get(message.destination)
}

function outgoing(
  lane: RunnableLane,
  message: Attempt,
  taken: Record<number, string> | undefined,
  addresses: string[] | undefined,
  now: Date,
): Outgoing {
  const built: Outgoing = {
    companyId: lane.companyId,
    uuid: message.uuid,
    channelType: lane.channelType,
    senderName: senderNameOf(lane, message),
    destination: message.destination,
    text: message.text,
    parts: message.parts,
    attempts: message.attempts,
  }
  const content = contentOf(lane, message)
  const expiresAt = expiryOf(lane, message, now)
  if (lane.priority === CODES) built.isCode = true
  if (content) built.content = content
  if (expiresAt) built.expiresAt = expiresAt
  if (addresses) built.addresses = addresses
  if (taken) built.taken = taken
  return built
}

/** The lifetime of a cascade's step begins now. Any other message has `expiresAt` since it was accepted. */
function expiryOf(lane: RunnableLane, { expiresAt, ttlSeconds }: Attempt, now: Date): Date | null {
  const seconds = ttlSeconds ?? lane.ttlSeconds
  if (!seconds) return expiresAt
  const stepEndsAt = now.getTime() + seconds * 1000
  return new Date(expiresAt ? Math.min(expiresAt.getTime(), stepEndsAt) : stepEndsAt)
}

/** All messages of a dispatch share one content, in which each has its own text. */
export function contentOf({ content }: RunnableLane, message: Attempt): Content | null {
  if (message.content || !content) return message.content
  return 'text' in content ? { ...content, text: message.text } : content
}
