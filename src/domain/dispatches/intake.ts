import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import { mostSmsCharacters, smsParts } from '../../base/sms-text.ts'
import type { TextTemplate } from '../../base/text-template.ts'
import { type NewMessage, rejection } from '../messages/message.ts'
import { type Classified, classify, type Numbering } from '../numbering/numbering.ts'
import type { PriceBook } from '../pricing/pricing.ts'
import { type Sender, senderTypeOf } from '../senders/sender.ts'
import { MOST_PARTS, type Recipient } from './dispatch.ts'
import type { Routing } from './routing.ts'
import type { Lane } from './store.ts'

/** Large requests are worked through in slices, by number and by time: between two of them the process serves others. */
const SLICE = 1000
const SLICE_MS = 10

/** Everything that decides the fate of a recipient, gathered before the first one is looked at. */
export type Intake = {
  channelType: ChannelType
  trafficType: TrafficType
  template: TextTemplate
  routing: Routing
  prices: PriceBook
  blacklisted: Set<string>
}

/** What a request came to. */
export type Tally = {
  total: number
  success: number
  parts: number
  estimate: Money
  tariffIds: Set<number>
  accepted: { uuid: string; destination: string; parts: number; senderId: number }[]
}

export const emptyTally = (): Tally => ({
  total: 0,
  success: 0,
  parts: 0,
  estimate: 0n,
  tariffIds: new Set(),
  accepted: [],
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

function createJudge({ intake, recipients, numbers, uuidOf, firstPosition, lanes }: Desk, tally: Tally) {
  const laneOf = laneFinder(lanes)
  const priceOf = priceTable(intake)
  const most = longestText(intake.channelType)

  return (index: number): NewMessage => {
    const recipient = recipients[index]!
    const number = numbers[index]!
    const uuid = uuidOf(index)
    const position = firstPosition + index
    tally.total += 1

    const refuse = (errorCode: number) => refused(recipient, number, { uuid, position, errorCode })
    if (number.kind === 'refused') return refuse(rejection.badNumber)
    if (intake.blacklisted.has(number.digits)) return refuse(rejection.blacklisted)
    const sender = intake.routing.senderFor(number)
    if (!sender) return refuse(rejection.noSender)
    const text = recipient.customText ?? intake.template.render(recipient.substitutions, most)
    if (text === undefined) return refuse(rejection.noSubstitution)
    const parts = partsOf(intake.channelType, text)
    if (parts === 0 || parts > MOST_PARTS) return refuse(rejection.badText)

    const brandId = brandIdOf(number)
    const lane = laneOf(sender.senderId, brandId)
    const price = priceOf(sender, number, parts)
    tally.success += 1
    tally.parts += parts
    tally.estimate += price.amount
    if (price.tariffId !== null) tally.tariffIds.add(price.tariffId)
    tally.accepted.push({ uuid, destination: number.digits, parts, senderId: sender.senderId })
    return {
      uuid,
      position,
      laneId: lane.laneId,
      seq: lane.tail++,
      senderId: sender.senderId,
      tariffId: price.tariffId,
      price: price.text,
      status: 'CREATED',
      errorCode: null,
      parts,
      brandId,
      destination: number.digits,
      text,
    }
  }
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

const brandIdOf = (number: Classified) => (number.kind === 'russian' ? number.brandId : 0)

/** Parts of the final text; over the limit without counting when no counting could bring it under. */
function partsOf(channelType: ChannelType, text: string): number {
  if (text === '') return 0
  if (text.length > longestText(channelType)) return MOST_PARTS + 1
  return channelType === 'SMS' ? smsParts(text) : 1
}

const longestText = (channelType: ChannelType) =>
  channelType === 'SMS' ? mostSmsCharacters(MOST_PARTS) : MOST_CHARACTERS

const MOST_CHARACTERS = 4096 // of the channels that know no parts

/** The lanes of a dispatch are few: one per sender and brand. */
function laneFinder(lanes: Lane[]) {
  const byKey = new Map(lanes.map(lane => [lane.senderId * 8 + lane.brandId, lane]))
  return (senderId: number, brandId: number): Lane => byKey.get(senderId * 8 + brandId)!
}

type PartPrice = { tariffId: number | null; amount: Money; text: string }

/** Prices by sender, brand or country, and parts: few combinations, asked for every recipient. */
function priceTable({ prices, channelType, trafficType }: Intake) {
  const known = new Map<string, PartPrice[]>()

  return (sender: Sender, number: Exclude<Classified, { kind: 'refused' }>, parts: number): PartPrice => {
    const where = number.kind === 'foreign' ? number.country : 'RU'
    const key = `${sender.senderId}/${where}`
    const byParts = known.get(key) ?? pricesByParts(sender, where)
    known.set(key, byParts)
    return byParts[parts]!
  }

  function pricesByParts(sender: Sender, country: string): PartPrice[] {
    const question = { channelType, country, senderType: senderTypeOf(sender), brand: sender.brand, trafficType }
    const { tariffId, perPart } = prices.priceOf(question)
    return Array.from({ length: MOST_PARTS + 1 }, (_, parts) => {
      const amount = perPart * BigInt(parts)
      return { tariffId, amount, text: formatMoney(amount) }
    })
  }
}
