import type { ChannelType } from '../../../base/channel-types.ts'
import { invalidField } from '../../../base/errors.ts'
import { brandIds, brandOf } from '../../numbering/brand.ts'
import type { Classified } from '../../numbering/numbering.ts'
import { isInternational, type Sender, type SenderType, senderTypeOf } from '../../senders/sender.ts'

/** A number that the numbering plan accepts. */
export type KnownNumber = Exclude<Classified, { kind: 'refused' }>

/** The sender of a message, and the fields that its price depends on. */
export type Route = {
  /** Null for a sender name that needs no registration. */
  senderId: number | null
  senderType: SenderType
  brand: string | null
}

/** Chooses the sender of a dispatch for each number. */
export type Routing = {
  routeFor(number: KnownNumber): Route | undefined
  /** All combinations of sender and brand that messages of the dispatch can have. */
  lanes: { senderId: number | null; brandId: number }[]
}

/** A sender name that needs no registration, for trying the service. */
export const SHARED_NAME = 'sms_promo'
const REGISTERED: readonly ChannelType[] = ['SMS', 'VIBER', 'WHATSAPP']

export const needsNoRegistration = (channelType: ChannelType, senderName: string) =>
  !REGISTERED.includes(channelType) || (channelType === 'SMS' && senderName === SHARED_NAME)

const FOREIGN = 0

export const brandIdOf = (number: Classified) => (number.kind === 'russian' ? number.brandId : FOREIGN)

/**
 * Chooses the sender by the operator of the recipient. An INTERNATIONAL_* sender serves all numbers outside Russia. In
 * channels other than SMS the first sender serves the numbers without a sender of their own.
 */
export function routeBy(channelType: ChannelType, senders: Sender[]): Routing {
  const [first] = senders
  const fallback = channelType === 'SMS' || !first ? undefined : routeOf(first)
  const byBrand: (Route | undefined)[] = [fallback, fallback, fallback, fallback, fallback]
  let abroad = fallback
  for (const sender of senders) {
    if (isInternational(sender)) abroad = routeOf(sender)
    else byBrand[brandIds[sender.brand]] = routeOf(sender)
  }

  return {
    routeFor: number => (number.kind === 'russian' ? byBrand[number.brandId] : abroad),
    lanes: distinct([...byBrand.map((route, brandId) => ({ route, brandId })), { route: abroad, brandId: FOREIGN }]),
  }
}

const routeOf = (sender: Sender): Route => ({
  senderId: sender.senderId,
  senderType: senderTypeOf(sender),
  brand: sender.brand,
})

function distinct(pairs: { route: Route | undefined; brandId: number }[]) {
  const lanes = new Map<string, Routing['lanes'][number]>()
  for (const { route, brandId } of pairs) {
    if (route) lanes.set(`${route.senderId}/${brandId}`, { senderId: route.senderId, brandId })
  }
  return [...lanes.values()]
}

/** A sender name without registration serves all numbers. */
export function routeFreely(): Routing {
  const byBrand = [FOREIGN, ...Object.values(brandIds)].map(
    (brandId): Route => ({ senderId: null, senderType: 'COMMON', brand: brandOf(brandId) ?? null }),
  )
  return {
    routeFor: number => byBrand[brandIdOf(number)],
    lanes: byBrand.map((_, brandId) => ({ senderId: null, brandId })),
  }
}

/**
 * Returns the usable registrations of a sender name, the oldest for each operator, and an empty list for a name that
 * needs no registration. Throws if the name is not usable. `step` is the index of the cascade step with the name.
 */
export function requireUsableName(
  ofName: Sender[],
  { channelType, senderName }: { channelType: ChannelType; senderName: string },
  step?: number,
): Sender[] {
  if (needsNoRegistration(channelType, senderName)) return []
  const ofChannel = ofName.filter(sender => sender.channelType === channelType && sender.senderName === senderName)
  const usable = ofChannel.filter(({ status, suspended }) => status === 'APPROVED' && !suspended)
  if (usable.length === 0) throw invalidField('senderName', whyUnusable({ channelType, senderName }, ofChannel), step)
  return [...Map.groupBy(usable, coverageOf).values()].flatMap(([oldest]) => oldest ?? [])
}

/** The reason why no registration of a sender name is usable. */
export function whyUnusable(
  { channelType, senderName }: { channelType: ChannelType; senderName: string },
  registrations: Sender[],
): string {
  if (registrations.length === 0) return `there is no name ${senderName} for ${channelType}`
  return registrations.some(({ suspended }) => suspended)
    ? `${senderName} is suspended`
    : `${senderName} is not approved`
}

/** Returns the senders of a dispatch in its order. Throws if one of them is not usable. */
export function requireUsableSenders(found: Sender[], senderIds: number[], channelType: ChannelType): Sender[] {
  const byId = new Map(found.map(sender => [sender.senderId, sender]))
  const senders = senderIds.map((senderId, i) => {
    const sender = byId.get(senderId)
    if (!sender) throw invalidField(`senderIds[${i}]`, `there is no sender ${senderId} in this company`)
    refuseUnusable(sender, channelType, i)
    return sender
  })
  refuseTwoOfABrand(senders)
  return senders
}

function refuseUnusable(sender: Sender, channelType: ChannelType, index: number) {
  const refuse = (why: string) =>
    invalidField(`senderIds[${index}]`, `sender ${sender.senderId} (${sender.senderName}) ${why}`)
  if (sender.channelType !== channelType) throw refuse(`is for ${sender.channelType}, not ${channelType}`)
  if (['REJECTED', 'DENIED', 'CLOSED'].includes(sender.status)) throw refuse(`is ${sender.status}`)
  if (sender.suspended) throw refuse('is suspended')
}

function refuseTwoOfABrand(senders: Sender[]) {
  const seen = new Set<string>()
  senders.forEach((sender, i) => {
    const coverage = coverageOf(sender)
    if (seen.has(coverage)) throw invalidField(`senderIds[${i}]`, `a second sender for ${coverage}`)
    seen.add(coverage)
  })
}

const coverageOf = (sender: Sender) => (isInternational(sender) ? 'numbers outside Russia' : sender.brand)
