import type { TrafficType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { SenderType } from '../senders/sender.ts'

export const pricingModels = ['FIXED', 'SCALED', 'MAU'] as const

export type PricingModel = (typeof pricingModels)[number]

export type TariffStep = { from: number; price: Money; priceMauBatch: Money | null }

export type Tariff = {
  tariffId: number
  partnerId: number | null
  senderType: SenderType
  brand: string | null
  trafficType: TrafficType | null
  pricingModel: PricingModel
  currency: string
  steps: TariffStep[]
}

/** With the time in which it holds: from null on, from the beginning; until null, without an end. */
export type DatedTariff = Tariff & { validFrom: Date | null; until: Date | null }

export const holdsAt = ({ validFrom, until }: DatedTariff, moment: Date): boolean =>
  (validFrom === null || validFrom <= moment) && (until === null || until > moment)

/** The later moments at which a tariff begins or ends. */
export const changesAfter = ({ validFrom, until }: DatedTariff, moment: Date): Date[] =>
  [validFrom, until].flatMap(time => (time && time > moment ? [time] : []))

/** What a tariff is for; without a brand or a traffic type, for any of them. */
export type TariffPlace = Pick<Tariff, 'senderType' | 'brand' | 'trafficType'>

export const placeKey = ({ senderType, brand, trafficType }: TariffPlace) =>
  `${senderType}/${brand ?? '*'}/${trafficType ?? '*'}`

export type TariffQuestion = { senderType: SenderType; brand: string; trafficType: TrafficType }

/**
 * The most specific row wins: one of the partner's own before a general one, then one with the brand, then one with
 * the traffic type.
 */
export function pickTariff<T extends Tariff>(tariffs: readonly T[], question: TariffQuestion): T | undefined {
  return tariffs.filter(tariff => applies(tariff, question)).sort((a, b) => weight(b) - weight(a))[0]
}

const applies = (tariff: Tariff, question: TariffQuestion) =>
  tariff.senderType === question.senderType &&
  (tariff.brand === null || tariff.brand === question.brand) &&
  (tariff.trafficType === null || tariff.trafficType === question.trafficType)

const weight = (tariff: Tariff) =>
  (tariff.partnerId === null ? 0 : 4) + (tariff.brand === null ? 0 : 2) + (tariff.trafficType === null ? 0 : 1)

/** What a part is reserved at: never less than it can cost in the end. */
export function reservedPrice(tariff: Tariff): Money {
  const [highest] = tariff.steps.map(step => step.price).sort((a, b) => Number(b - a))
  return highest!
}

/** The price of a part when the count that decides it stands at `count`. */
export function priceAt(tariff: Tariff, count: number): Money {
  const reached = tariff.steps.filter(({ from }) => from <= count)
  return (reached.at(-1) ?? tariff.steps[0]!).price
}

export type Package = { tariffId: number; from: number; amount: Money }

/**
 * The packages that become due when the unique recipients of a month go from one count to another. A step from 0 is
 * reached, like one from 1, with the first of them.
 */
export const packagesBetween = ({ tariffId, steps }: Tariff, before: number, after: number): Package[] =>
  steps
    .filter(({ from, priceMauBatch }) => priceMauBatch && Math.max(from, 1) > before && Math.max(from, 1) <= after)
    .map(({ from, priceMauBatch }) => ({ tariffId, from, amount: priceMauBatch! }))
