import type { ChannelType } from '../../base/channel-types.ts'
import { invalid } from '../../base/errors.ts'
import { brandIds } from '../numbering/brand.ts'
import type { Classified } from '../numbering/numbering.ts'
import { isInternational, type Sender } from '../senders/sender.ts'
import type { Lane } from './store.ts'

/** Which sender of a dispatch serves which number. */
export type Routing = {
  senderFor(number: Exclude<Classified, { kind: 'refused' }>): Sender | undefined
  /** Every combination of sender and brand that a message of the dispatch can have: its lanes. */
  lanes: Pick<Lane, 'senderId' | 'brandId'>[]
}

const FOREIGN = 0

/**
 * By the recipient's operator; an INTERNATIONAL_* sender serves numbers outside Russia, whatever its brand. Channels
 * other than SMS fall back to the first sender.
 */
export function routeBy(channelType: ChannelType, senders: Sender[]): Routing {
  const fallback = channelType === 'SMS' ? undefined : senders[0]
  const byBrand: (Sender | undefined)[] = [fallback, fallback, fallback, fallback, fallback]
  let abroad = fallback
  for (const sender of senders) {
    if (isInternational(sender)) abroad = sender
    else byBrand[brandIds[sender.brand]] = sender
  }

  return {
    senderFor: number => (number.kind === 'russian' ? byBrand[number.brandId] : abroad),
    lanes: distinct([...byBrand.map((sender, brandId) => ({ sender, brandId })), { sender: abroad, brandId: FOREIGN }]),
  }
}

function distinct(pairs: { sender: Sender | undefined; brandId: number }[]) {
  const lanes = new Map<string, Pick<Lane, 'senderId' | 'brandId'>>()
  for (const { sender, brandId } of pairs) {
    if (sender) lanes.set(`${sender.senderId}/${brandId}`, { senderId: sender.senderId, brandId })
  }
  return [...lanes.values()]
}

/** The senders a dispatch names, in its order; refuses what it may not use. */
export function requireUsableSenders(found: Sender[], senderIds: number[], channelType: ChannelType): Sender[] {
  const byId = new Map(found.map(sender => [sender.senderId, sender]))
  const senders = senderIds.map((senderId, i) => {
    const sender = byId.get(senderId)
    if (!sender) throw invalid(`senderIds[${i}]: there is no sender ${senderId} in this company`)
    refuseUnusable(sender, channelType, i)
    return sender
  })
  refuseTwoOfABrand(senders)
  return senders
}

function refuseUnusable(sender: Sender, channelType: ChannelType, index: number) {
  const refuse = (why: string) => invalid(`senderIds[${index}]: sender ${sender.senderId} ${why}`)
  if (sender.channelType !== channelType) throw refuse(`is for ${sender.channelType}, not ${channelType}`)
  if (['REJECTED', 'DENIED', 'CLOSED'].includes(sender.status)) throw refuse(`is ${sender.status}`)
  if (sender.suspended) throw refuse('is suspended')
}

function refuseTwoOfABrand(senders: Sender[]) {
  const seen = new Set<string>()
  senders.forEach((sender, i) => {
    const place = isInternational(sender) ? 'numbers outside Russia' : sender.brand
    if (seen.has(place)) throw invalid(`senderIds[${i}]: a second sender for ${place}`)
    seen.add(place)
  })
}
