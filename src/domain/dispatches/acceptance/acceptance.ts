import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TrafficType } from '../../../base/channel-types.ts'
import type { Lane } from '../../lanes/dispatch-lanes.ts'
import { type NewMessage, rejection } from '../../messages/message.ts'
import { type Classified, classify, type Numbering } from '../../numbering/numbering.ts'
import { brandIdOf, type Route } from '../../routing/routing.ts'
import type { Recipient } from '../dispatch.ts'
import type { AcceptanceRules } from './acceptance-rules.ts'
import { refuseLaterSteps } from './later-steps.ts'
import { type MessagePrice, PriceTable } from './price-table.ts'
import { DEFAULT_TRAFFIC_TYPE } from './purpose.ts'
import { LaneTable } from './recipient-lanes.ts'
import { createRenderer, type Render, type Rendered } from './rendering.ts'
import type { Tally } from './tally.ts'
import { isAllowedPartCount, partsOf } from './text-limits.ts'

/** A slice ends after this many recipients or milliseconds. Between two slices the process serves other requests. */
const SLICE = 1000
const SLICE_MS = 10

/** Classifies the numbers of all recipients, in slices. */
export async function classifyAll(numbering: Numbering, recipients: readonly Recipient[]): Promise<Classified[]> {
  const numbers: Classified[] = []
  let hasRoom = sliceOf()
  for (const { destination } of recipients) {
    numbers.push(classify(numbering, destination))
    if (hasRoom()) continue
    await nextTurn()
    hasRoom = sliceOf()
  }
  return numbers
}

export type AcceptanceInput = {
  rules: AcceptanceRules
  recipients: readonly Recipient[]
  /** The classified destinations, in the order of the recipients. */
  numbers: readonly Classified[]
  /** Key of the message for the recipient with this index. */
  uuidOf: (index: number) => string
  /** Position of the first recipient in the dispatch. */
  firstPosition: number
  lanes: Lane[]
  /** Lanes for texts of the default traffic type. They are `lanes` itself unless their priority differs. */
  defaultLanes: Lane[]
}

/**
 * Turns recipients into messages, slice by slice, in the order of the request. An accepted recipient gets sender, text,
 * parts, price and a place in a lane. A rejected recipient gets an error code. The tails of the lanes and the tally grow.
 */
export async function* acceptRecipients(input: AcceptanceInput, tally: Tally): AsyncGenerator<NewMessage[]> {
  const acceptor = new RecipientAcceptor(input, tally)
  const count = input.recipients.length
  for (let next = 0; next < count; ) {
    const hasRoom = sliceOf()
    const slice: NewMessage[] = []
    do slice.push(acceptor.messageFor(next++))
    while (next < count && hasRoom())
    yield slice
    await nextTurn()
  }
}

/** The time is limited as well as the count, because some recipients take a hundred times as long as others. */
function sliceOf(): () => boolean {
  const endsAt = performance.now() + SLICE_MS
  let room = SLICE
  return () => --room > 0 && performance.now() < endsAt
}

/** A recipient during its checks. The checks fill in the last three fields. */
type Candidate = {
  recipient: Recipient
  number: Classified
  uuid: string
  position: number
  route: Route | undefined
  rendered: Rendered | undefined
  parts: number
}

/** The traffic type of a message, with the lanes and prices that belong to it. */
type Terms = { trafficType: TrafficType; lanes: LaneTable; prices: PriceTable }

class RecipientAcceptor {
  readonly #input: AcceptanceInput
  readonly #rules: AcceptanceRules
  readonly #tally: Tally
  readonly #render: Render
  readonly #terms: Terms
  readonly #defaultTerms: Terms

  constructor(input: AcceptanceInput, tally: Tally) {
    this.#input = input
    this.#rules = input.rules
    this.#tally = tally
    this.#render = createRenderer(input.rules)
    this.#terms = termsOf(input.rules, input.rules.trafficType, input.lanes)
    this.#defaultTerms = termsOf(input.rules, DEFAULT_TRAFFIC_TYPE, input.defaultLanes)
  }

  /** The message is CREATED, or FAILED with the error code of the first check that refuses the recipient. */
  messageFor(index: number): NewMessage {
    const candidate = this.#candidateAt(index)
    this.#tally.total += 1
    const errorCode =
      refuseInvalidNumber(candidate) ??
      refuseBlacklisted(candidate, this.#rules) ??
      refuseWithoutSender(candidate, this.#rules) ??
      refuseUnrenderable(candidate, this.#render) ??
      refuseLaterSteps(candidate.recipient, this.#rules) ??
      refusePartCount(candidate, this.#rules)
    return errorCode === undefined ? this.#accept(candidate) : rejectedMessage(candidate, errorCode)
  }

  #candidateAt(index: number): Candidate {
    const { recipients, numbers, uuidOf, firstPosition } = this.#input
    const recipient = recipients[index]
    const number = numbers[index]
    if (!recipient || !number) throw new RangeError(`The request has no recipient ${index}`)
    const position = firstPosition + index
    return { recipient, number, uuid: uuidOf(index), position, route: undefined, rendered: undefined, parts: 0 }
  }

  #accept({ number, uuid, position, route, rendered, parts }: Candidate): NewMessage {
    if (number.kind === 'refused' || !route || !rendered) throw new Error('The recipient is not checked')
    const { approvedTemplate, zoneOf } = this.#rules
    const { trafficType, lanes, prices } = approvedTemplate && !rendered.template ? this.#defaultTerms : this.#terms
    const { senderId } = route
    const brandId = brandIdOf(number)
    const lane = lanes.laneOf(senderId, brandId, zoneOf ? zoneOf(number) : null)
    const price = prices.priceOf(route, number, parts)
    const message: NewMessage = {
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
      text: rendered.text,
    }
    if (approvedTemplate) message.matched = { trafficType, templateId: rendered.template?.templateId ?? null }
    if (approvedTemplate || rendered.content) message.content = rendered.content
    countAccepted(this.#tally, message, rendered, price)
    return message
  }
}

const termsOf = (rules: AcceptanceRules, trafficType: TrafficType, lanes: readonly Lane[]): Terms => ({
  trafficType,
  lanes: new LaneTable(lanes),
  prices: new PriceTable({ prices: rules.prices, channelType: rules.channelType, trafficType }),
})

function refuseInvalidNumber({ number }: Candidate): number | undefined {
  if (number.kind === 'refused') return rejection.badNumber
}

function refuseBlacklisted({ number }: Candidate, { blacklisted }: AcceptanceRules): number | undefined {
  if (number.kind !== 'refused' && blacklisted.has(number.digits)) return rejection.blacklisted
}

function refuseWithoutSender(candidate: Candidate, { routing }: AcceptanceRules): number | undefined {
  const { number } = candidate
  if (number.kind !== 'refused') candidate.route = routing.routeFor(number)
  if (!candidate.route) return rejection.noSender
}

function refuseUnrenderable(candidate: Candidate, render: Render): number | undefined {
  const rendered = render(candidate.recipient)
  if (typeof rendered === 'number') return rendered
  candidate.rendered = rendered
}

function refusePartCount(candidate: Candidate, { channelType }: AcceptanceRules): number | undefined {
  candidate.parts = partsOf(channelType, candidate.rendered?.text ?? '')
  if (!isAllowedPartCount(candidate.parts)) return rejection.badText
}

/** Stores the destination as the client sent it, so that the client finds it again. */
const rejectedMessage = ({ recipient, number, uuid, position }: Candidate, errorCode: number): NewMessage => ({
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
})

function countAccepted(tally: Tally, message: NewMessage, { links }: Rendered, price: MessagePrice) {
  const { uuid, destination, parts, senderId } = message
  for (const link of links) tally.links.push({ ...link, messageUuid: uuid })
  tally.success += 1
  tally.parts += parts
  tally.estimate += price.amount
  if (price.tariffId !== null) tally.tariffIds.add(price.tariffId)
  tally.accepted.push({ uuid, destination, parts, senderId })
}
