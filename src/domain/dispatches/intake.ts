import { setImmediate as nextTurn } from 'node:timers/promises'
import { mostCharacters, refusalOfText } from '../../base/channel-text.ts'
import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Content, TemplateContent } from '../../base/content.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import { mostSmsCharacters, smsParts } from '../../base/sms-text.ts'
import type { TextTemplate } from '../../base/text-template.ts'
import type { Lane } from '../lanes/dispatch-lanes.ts'
import { type NewMessage, rejection } from '../messages/message.ts'
import { type Classified, classify, type Numbering } from '../numbering/numbering.ts'
import type { PriceBook } from '../pricing/pricing.ts'
import { randomCode, type ShortLink, shortenLinks } from '../short-links/short-link.ts'
import type { Effort } from '../templates/effort.ts'
import { type ApprovedTemplate, fitTemplate, type Match, saidByTemplate } from '../templates/matching.ts'
import { fillTemplate, withMessengerTemplate } from '../templates/named.ts'
import { fillPlaces, placesIn } from '../templates/pattern.ts'
import { MOST_PARTS, MOST_TEMPLATE_CHARACTERS, type Recipient } from './dispatch.ts'
import { brandIdOf, type Route, type Routing } from './routing.ts'
import type { ZoneOf } from './schedule.ts'
import { type FillContent, withText } from './step-content.ts'
import { USUAL } from './traffic.ts'

/** Large requests are worked through in slices, by number and by time: between two of them the process serves others. */
const SLICE = 1000
const SLICE_MS = 10

/** Everything that decides the fate of a recipient, gathered before the first one is looked at. */
export type Intake = {
  channelType: ChannelType
  trafficType: TrafficType
  template: TextTemplate
  /** The approved template that the dispatch goes by; a text that says something else is nothing special. */
  heldTo?: ApprovedTemplate | undefined
  /** What matching the request's texts with it may take. */
  effort?: Effort | undefined
  /** What its messages show beyond their texts. */
  content?: Content | null
  /** Where each recipient has a content of its own. */
  fillContent?: FillContent | undefined
  /** The further ones of a cascade: whoever cannot get one of them gets none. */
  laterSteps: LaterStep[]
  routing: Routing
  prices: PriceBook
  blacklisted: Set<string>
  /** By whose clock a message goes, where that matters. */
  zoneOf?: ZoneOf | undefined
  /** Where short links lead through, if links are to be shortened. */
  linkBase?: string | undefined
}

export type LaterStep = {
  channelType: ChannelType
  template: TextTemplate
  content?: Content | null
  fillContent?: FillContent | undefined
  /** The registered template that the content names by its id: its values must fit. */
  named?: ApprovedTemplate | undefined
}

/** What a request came to. */
export type Tally = {
  total: number
  success: number
  parts: number
  estimate: Money
  tariffIds: Set<number>
  accepted: { uuid: string; destination: string; parts: number; senderId: number | null }[]
  links: ShortLink[]
}

export const emptyTally = (): Tally => ({
  total: 0,
  success: 0,
  parts: 0,
  estimate: 0n,
  tariffIds: new Set(),
  accepted: [],
  links: [],
})

/** Where every number leads, in slices. */
export async function classifyAll(numbering: Numbering, recipients: readonly Recipient[]): Promise<Classified[]> {
  const numbers: Classified[] = []
  while (numbers.length < recipients.length) {
    const goesOn = sliceOf(recipients.length - numbers.length)
    do numbers.push(classify(numbering, recipients[numbers.length]!.destination))
    while (goesOn())
    await nextTurn()
  }
  return numbers
}

/** The lanes that these numbers need: with zones, only those of places that are really among them. */
export function lanesFor({ routing, zoneOf }: Intake, numbers: readonly Classified[]): Omit<Lane, 'laneId' | 'tail'>[] {
  if (!zoneOf) return routing.lanes.map(lane => ({ ...lane, zone: null }))
  const brandsOf = new Map<string, Set<number>>()
  for (const number of numbers) {
    if (number.kind === 'refused') continue
    const zone = zoneOf(number)
    const known = brandsOf.get(zone)
    if (known) known.add(brandIdOf(number))
    else brandsOf.set(zone, new Set([brandIdOf(number)]))
  }
  return [...brandsOf].flatMap(([zone, brandIds]) =>
    routing.lanes.filter(({ brandId }) => brandIds.has(brandId)).map(lane => ({ ...lane, zone })),
  )
}

/** Ends after so many recipients, or when they have taken long enough: some take a hundred times as long as others. */
function sliceOf(left: number): () => boolean {
  const endsAt = performance.now() + SLICE_MS
  let room = Math.min(SLICE, left)
  return () => --room > 0 && performance.now() < endsAt
}

export type Desk = {
  intake: Intake
  recipients: readonly Recipient[]
  numbers: readonly Classified[]
  /** Key of the i-th recipient's message. */
  uuidOf: (index: number) => string
  /** Place of the first one in the dispatch. */
  firstPosition: number
  lanes: Lane[]
  /** For texts that do not say what the dispatch is about; the same lanes where none of them is special. */
  usualLanes: Lane[]
}

/**
 * Turns recipients into messages, in the order submitted, a slice at a time: each is accepted with its sender, text,
 * parts, price and place in a lane, or refused with the reason. Advances the tails of the lanes and adds to the tally.
 */
export async function* judgeRecipients(desk: Desk, tally: Tally): AsyncGenerator<NewMessage[]> {
  const judge = createJudge(desk, tally)
  for (let next = 0; next < desk.recipients.length; ) {
    const goesOn = sliceOf(desk.recipients.length - next)
    const slice: NewMessage[] = []
    do slice.push(judge(next++))
    while (goesOn())
    yield slice
    await nextTurn()
  }
}

function createJudge(desk: Desk, tally: Tally) {
  const { intake, recipients, numbers, uuidOf, firstPosition } = desk
  const special = { trafficType: intake.trafficType, laneOf: laneFinder(desk.lanes), priceOf: priceTable(intake) }
  const usual = {
    trafficType: USUAL,
    laneOf: laneFinder(desk.usualLanes),
    priceOf: priceTable({ ...intake, trafficType: USUAL }),
  }
  const { zoneOf, heldTo, content } = intake
  const isNamed = heldTo && content?.contentType === 'template' && hasPlacesFor(heldTo, content)
  const say = isNamed ? namedSayer(intake, heldTo, content) : textSayer(intake)

  return (index: number): NewMessage => {
    const recipient = recipients[index]!
    const number = numbers[index]!
    const uuid = uuidOf(index)
    const position = firstPosition + index
    tally.total += 1

    const refuse = (errorCode: number) => refused(recipient, number, { uuid, position, errorCode })
    if (number.kind === 'refused') return refuse(rejection.badNumber)
    if (intake.blacklisted.has(number.digits)) return refuse(rejection.blacklisted)
    const route = intake.routing.routeFor(number)
    if (!route) return refuse(rejection.noSender)
    const said = say(recipient)
    if (typeof said === 'number') return refuse(said)
    const wrongLater = refusalOfLater(intake, recipient)
    if (wrongLater) return refuse(wrongLater)
    const { text, links, template } = said
    const parts = partsOf(intake.channelType, text)
    if (parts === 0 || parts > MOST_PARTS) return refuse(rejection.badText)

    const brandId = brandIdOf(number)
    const { senderId } = route
    const { trafficType, laneOf, priceOf } = heldTo && !template ? usual : special
    const lane = laneOf(senderId, brandId, zoneOf ? zoneOf(number) : null)
    const price = priceOf(route, number, parts)
    for (const link of links) tally.links.push({ ...link, messageUuid: uuid })
    tally.success += 1
    tally.parts += parts
    tally.estimate += price.amount
    if (price.tariffId !== null) tally.tariffIds.add(price.tariffId)
    tally.accepted.push({ uuid, destination: number.digits, parts, senderId })
    return {
      uuid,
      position,
      laneId: lane.laneId,
      seq: lane.tail++,
      senderId,
      tariffId: price.tariffId,
      price: price.text,
      status: 'CREATED',
      errorCode: null,
      parts,
      brandId,
      destination: number.digits,
      text,
      ...(heldTo ? { matched: { trafficType, templateId: template?.templateId ?? null } } : {}),
      ...(heldTo || said.content ? { content: said.content } : {}),
    }
  }
}

/** The text and content of one recipient, and the approved template that they fit; or why the recipient gets none. */
type Said = {
  text: string
  links: { code: string; url: string }[]
  content: Content | null
  template?: ApprovedTemplate | undefined
}

/** Dispatches made before names were looked up may go by a template that only their words matched. */
const hasPlacesFor = ({ pattern }: ApprovedTemplate, { parameters }: TemplateContent) =>
  placesIn(pattern).length === (parameters ?? []).length

/** For texts that the dispatch or the recipient brings. */
function textSayer(intake: Intake): (recipient: Recipient) => Said | number {
  const { heldTo, linkBase, fillContent, effort } = intake
  const most = mostRendered(intake.channelType, linkBase)
  const sameForAll = hasOwnContents(intake) ? intake.content : undefined // but for its short links

  return ({ customText, substitutions }) => {
    const rendered = customText ?? intake.template.render(substitutions, most)
    if (rendered === undefined) return rejection.noSubstitution
    if (rendered.length > most) return rejection.badText // perhaps cut short
    const filled = fillContent ? fillContent(substitutions) : sameForAll
    if (typeof filled === 'number') return filled
    const { text, links } = linkBase ? shortenLinks(rendered, randomCode, linkBase) : { text: rendered, links: [] }
    const match = heldTo && matchOf(heldTo, text, rendered, effort)
    const own = filled && withText(linkBase ? withShortLinks(filled, links, linkBase) : filled, text)
    const content = asTemplate(own ?? intake.content, text, match) ?? own ?? null
    return { text, links, content, template: match?.template }
  }
}

/** For a first step that names a registered template: its text is the template's, filled for each recipient. */
function namedSayer(
  { fillContent, linkBase }: Intake,
  template: ApprovedTemplate,
  given: TemplateContent,
): (recipient: Recipient) => Said | number {
  return ({ customText, substitutions }) => {
    const content = fillContent ? (fillContent(substitutions) as TemplateContent | number) : given
    if (typeof content === 'number') return content
    const filled = fillTemplate(template, content.parameters ?? [])
    if (typeof customText === 'string' || 'field' in filled) return rejection.badText
    if (!filled.fits && typeof given.templateId === 'number') return rejection.badText
    const links: Said['links'] = []
    const short = linkBase ? (withShortLinks(content, links, linkBase) as TemplateContent) : content
    return {
      text: fillPlaces(template.pattern, short.parameters ?? []),
      links,
      content: withMessengerTemplate(short, template),
      template: filled.fits ? template : undefined,
    }
  }
}

/** Whether each message has a content of its own: filled for its recipient, or with short links that are its own. */
export function hasOwnContents({ fillContent, content, linkBase }: Intake): boolean {
  if (fillContent) return true
  if (!linkBase || !content) return false
  const links: { code: string; url: string }[] = []
  withShortLinks(content, links, linkBase)
  return links.length > 0
}

/** The links of a text may belong to its template, or stand at its places: there the short ones are wanted. */
function matchOf(template: ApprovedTemplate, text: string, rendered: string, effort: Effort | undefined) {
  effort?.begin(rendered.length)
  const match =
    fitTemplate(template, text, effort) ?? (text === rendered ? undefined : fitTemplate(template, rendered, effort))
  effort?.check()
  return match
}

/** Why somebody cannot get a later step of a cascade: each is held to what its own channel takes. */
function refusalOfLater({ laterSteps, linkBase }: Intake, { substitutions }: Recipient): number | undefined {
  for (const { channelType, template, content, fillContent, named } of laterSteps) {
    const most = mostRendered(channelType, linkBase)
    const rendered = template.render(substitutions, most)
    if (rendered === undefined) return rejection.noSubstitution
    if (rendered.length > most) return rejection.badText
    const parts = partsOf(channelType, linkBase ? shortenLinks(rendered, randomCode, linkBase).text : rendered)
    if (parts === 0 || parts > MOST_PARTS) return rejection.badText
    const filled = fillContent ? fillContent(substitutions) : content
    if (typeof filled === 'number') return filled
    if (named && filled?.contentType === 'template' && !fitsNamed(named, filled)) return rejection.badText
  }
}

function fitsNamed(template: ApprovedTemplate, { parameters }: TemplateContent): boolean {
  const filled = fillTemplate(template, parameters ?? [])
  return !('field' in filled) && filled.fits
}

/** Links may be longer than what is sent in their place. */
const mostRendered = (channelType: ChannelType, linkBase: string | undefined) =>
  linkBase ? MOST_TEMPLATE_CHARACTERS : longestText(channelType)

/** What fills a messenger's template has the short links of the text; one that stands there alone joins them. */
function withShortLinks(content: Content, links: { code: string; url: string }[], linkBase: string): Content {
  if (content.contentType !== 'template' || !content.parameters) return content
  const codeOf = (url: string) => {
    const link = links.find(known => known.url === url) ?? { code: randomCode(), url }
    if (!links.includes(link)) links.push(link)
    return link.code
  }
  return { ...content, parameters: content.parameters.map(text => shortenLinks(text, codeOf, linkBase).text) }
}

/** A messenger's own template goes out in place of a text that it says as well. */
function asTemplate(content: Content | null | undefined, text: string, match: Match | undefined): Content | undefined {
  if (!match) return undefined
  const given = content ?? { contentType: 'text' as const, text }
  return given.contentType === 'text' ? saidByTemplate({ ...given, text }, match) : undefined
}

/** A refused recipient is kept as it was submitted, so that its sender finds it again. */
function refused(
  recipient: Recipient,
  number: Classified,
  { uuid, position, errorCode }: { uuid: string; position: number; errorCode: number },
): NewMessage {
  return {
    uuid,
    position,
    laneId: null,
    seq: null,
    senderId: null,
    tariffId: null,
    price: '0',
    status: 'FAILED',
    errorCode,
    parts: 0,
    brandId: brandIdOf(number),
    destination: recipient.destination,
    text: null,
  }
}

/** Parts of the final text, none of what its channel does not take; more than allowed where counting is no use. */
function partsOf(channelType: ChannelType, text: string): number {
  if (refusalOfText(channelType, text)) return 0
  if (text.length > longestText(channelType)) return MOST_PARTS + 1
  return channelType === 'SMS' ? smsParts(text) : 1
}

const longestText = (channelType: ChannelType) =>
  channelType === 'SMS' ? mostSmsCharacters(MOST_PARTS) : mostCharacters(channelType)

/** The lanes of a dispatch are few: one per name, brand and, where it matters, zone. */
function laneFinder(lanes: Lane[]) {
  const byZone = new Map<string | null, Map<number, Lane>>()
  for (const lane of lanes) {
    const ofZone = byZone.get(lane.zone) ?? new Map<number, Lane>()
    byZone.set(lane.zone, ofZone.set(placeOf(lane.senderId, lane.brandId), lane))
  }
  return (senderId: number | null, brandId: number, zone: string | null): Lane =>
    byZone.get(zone)!.get(placeOf(senderId, brandId))!
}

const placeOf = (senderId: number | null, brandId: number) => (senderId ?? 0) * 8 + brandId

type PartPrice = { tariffId: number | null; amount: Money; text: string }

/** Prices by route, country and parts: few combinations, asked for every recipient. */
function priceTable({ prices, channelType, trafficType }: Intake) {
  const known = new Map<Route, Map<string, PartPrice[]>>()

  return (route: Route, number: Exclude<Classified, { kind: 'refused' }>, parts: number): PartPrice => {
    const where = number.kind === 'foreign' ? number.country : 'RU'
    const byCountry = known.get(route) ?? new Map<string, PartPrice[]>()
    const byParts = byCountry.get(where) ?? pricesByParts(route, where)
    known.set(route, byCountry.set(where, byParts))
    return byParts[parts]!
  }

  function pricesByParts({ senderType, brand }: Route, country: string): PartPrice[] {
    const { tariffId, perPart } = prices.priceOf({ channelType, country, senderType, brand: brand ?? '', trafficType })
    return Array.from({ length: MOST_PARTS + 1 }, (_, parts) => {
      const amount = perPart * BigInt(parts)
      return { tariffId, amount, text: formatMoney(amount) }
    })
  }
}
