import type { ChannelType } from '../../base/channel-types.ts'
import { invalidField } from '../../base/errors.ts'
import { brandIds, brandOf, OTHER_BRAND_ID } from '../numbering/brand.ts'
import type { Classified } from '../numbering/numbering.ts'
import { isInternational, type Sender, type SenderType, senderTypeOf } from '../senders/sender.ts'

/** A number that the numbering plan accepts. */
export type KnownNumber = Exclude<Classified, { kind: 'refused' }>

/** The sender of a message, and the type and brand that its price depends on. */
export type Route = {
  /** Null for a name that needs no registration. */
  senderId: number | null
  senderType: SenderType
  brand: string | null
}

/** The routes of a dispatch. */
export type Routing = {
  routeFor(number: KnownNumber): Route | undefined
  /** Every combination of sender and brand that a message of the dispatch can have. */
  lanes: { senderId: number | null; brandId: number }[]
}

/** Every company can use this name without registration, to try the service. */
export const SHARED_NAME = 'sms_promo'
const REGISTERED: readonly ChannelType[] = ['SMS', 'VIBER', 'WHATSAPP']

export const needsNoRegistration = (channelType: ChannelType, senderName: string) =>
  !REGISTERED.includes(channelType) || (channelType === 'SMS' && senderName === SHARED_NAME)

/** Numbers outside Russia count as brand 0. */
const FOREIGN = OTHER_BRAND_ID
const brandIdsOfNumbers: number[] = [OTHER_BRAND_ID, ...Object.values(brandIds)]

export const brandIdOf = (number: Classified) => (number.kind === 'russian' ? number.brandId : FOREIGN)

/** The routes of single messages by their sender names. Each name is looked up once, because most messages share one. */
export class NameRoutes {
  readonly #senders: Sender[]
  readonly #byName = new Map<string, Registrations>()

  /** `senders`: registrations of the company, the oldest first. */
  constructor(senders: Sender[]) {
    this.#senders = senders
  }

  /** The route of one message, or the reason why its sender name cannot be used. */
  routeOf(name: SenderName, number: KnownNumber): Route | { reason: string } {
    if (needsNoRegistration(name.channelType, name.senderName)) return routeWithoutSender(brandIdOf(number))
    const { registrations, usable } = this.#registrationsOf(name)
    const sender = senderFor(name.channelType, usable, number)
    if (sender) return routeOf(sender)
    return { reason: usable.length > 0 ? notRegistered(name, number) : whyUnusable(name, registrations) }
  }

  #registrationsOf(name: SenderName): Registrations {
    const key = `${name.channelType} ${name.senderName}`
    const known = this.#byName.get(key)
    if (known) return known
    const found = registrationsOf(this.#senders, name)
    this.#byName.set(key, found)
    return found
  }
}

/** The routes of a dispatch with these senders. They serve different operators. */
export function routeBy(channelType: ChannelType, senders: Sender[]): Routing {
  const routeTo = (destination: Destination) => {
    const sender = senderFor(channelType, senders, destination)
    return sender && routeOf(sender)
  }
  const byBrand = brandIdsOfNumbers.map(brandId => routeTo({ kind: 'russian', brandId }))
  const abroad = routeTo({ kind: 'foreign' })
  return {
    routeFor: number => (number.kind === 'russian' ? byBrand[number.brandId] : abroad),
    lanes: distinct([...byBrand.map((route, brandId) => ({ route, brandId })), { route: abroad, brandId: FOREIGN }]),
  }
}

type Destination = { kind: 'russian'; brandId: number } | { kind: 'foreign' }

/** The first sender that serves the number. Channels other than SMS fall back to the first sender of all. */
const senderFor = (channelType: ChannelType, senders: Sender[], destination: Destination): Sender | undefined =>
  senders.find(sender => serves(sender, destination)) ?? (channelType === 'SMS' ? undefined : senders[0])

/** A sender serves the numbers of its operator. An INTERNATIONAL_* sender serves all numbers outside Russia. */
const serves = (sender: Sender, destination: Destination) =>
  destination.kind === 'russian'
    ? !isInternational(sender) && brandIds[sender.brand] === destination.brandId
    : isInternational(sender)

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

/** The routes of a name without registration, which serves every number. */
export function routeFreely(): Routing {
  const byBrand = brandIdsOfNumbers.map(routeWithoutSender)
  return {
    routeFor: number => byBrand[brandIdOf(number)],
    lanes: byBrand.map((_, brandId) => ({ senderId: null, brandId })),
  }
}

const routeWithoutSender = (brandId: number): Route => ({
  senderId: null,
  senderType: 'COMMON',
  brand: brandOf(brandId) ?? null,
})

type SenderName = { channelType: ChannelType; senderName: string }

/**
 * The usable registrations of a name, the oldest of each operator. Empty for a name that needs no registration. Throws
 * for a name that cannot be used. `step`: the step of a cascade with this name, from 0 on.
 */
export function requireUsableName(senders: Sender[], name: SenderName, step?: number): Sender[] {
  if (needsNoRegistration(name.channelType, name.senderName)) return []
  const { registrations, usable } = registrationsOf(senders, name)
  if (usable.length === 0) throw invalidField('senderName', whyUnusable(name, registrations), step)
  return [...Map.groupBy(usable, coverageOf).values()].flatMap(([oldest]) => oldest ?? [])
}

type Registrations = { registrations: Sender[]; usable: Sender[] }

function registrationsOf(senders: Sender[], { channelType, senderName }: SenderName): Registrations {
  const registrations = senders.filter(sender => sender.channelType === channelType && sender.senderName === senderName)
  return { registrations, usable: registrations.filter(isUsable) }
}

const isUsable = ({ status, suspended }: Sender) => status === 'APPROVED' && !suspended

/** The reason why none of the registrations of a name can be used. */
export function whyUnusable({ channelType, senderName }: SenderName, registrations: Sender[]): string {
  if (registrations.length === 0) return `there is no name ${senderName} for ${channelType}`
  return registrations.some(({ suspended }) => suspended)
    ? `${senderName} is suspended`
    : `${senderName} is not approved`
}

function notRegistered({ senderName }: SenderName, number: KnownNumber): string {
  const brand = brandOf(brandIdOf(number))
  return `${senderName} is not registered with the recipient's operator${brand ? `, ${brand}` : ''}`
}

/** The senders that a dispatch names by their ids, in the same order. Throws if one of them cannot be used. */
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
