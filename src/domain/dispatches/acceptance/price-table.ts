import { formatMoney, type Money } from '../../../base/money.ts'
import type { KnownNumber, Route } from '../../routing/routing.ts'
import { MOST_PARTS } from '../dispatch.ts'
import type { AcceptanceRules } from './acceptance-rules.ts'

export type MessagePrice = { tariffId: number | null; amount: Money; text: string }

/** Prices by route, country and number of parts. The combinations are few, and every recipient needs one. */
export class PriceTable {
  readonly #rules: Pick<AcceptanceRules, 'prices' | 'channelType' | 'trafficType'>
  readonly #known = new Map<Route, Map<string, MessagePrice[]>>()

  constructor(rules: Pick<AcceptanceRules, 'prices' | 'channelType' | 'trafficType'>) {
    this.#rules = rules
  }

  priceOf(route: Route, number: KnownNumber, parts: number): MessagePrice {
    const price = this.#pricesByParts(route, number.kind === 'foreign' ? number.country : 'RU')[parts]
    if (!price) throw new RangeError(`A message cannot have ${parts} parts`)
    return price
  }

  #pricesByParts(route: Route, country: string): MessagePrice[] {
    const known = this.#known.get(route)?.get(country)
    if (known) return known
    const computed = this.#computePrices(route, country)
    const byCountry = this.#known.get(route) ?? new Map<string, MessagePrice[]>()
    this.#known.set(route, byCountry.set(country, computed))
    return computed
  }

  #computePrices({ senderType, brand }: Route, country: string): MessagePrice[] {
    const { prices, channelType, trafficType } = this.#rules
    const { tariffId, perPart } = prices.priceOf({ channelType, country, senderType, brand: brand ?? '', trafficType })
    return Array.from({ length: MOST_PARTS + 1 }, (_, parts) => {
      const amount = perPart * BigInt(parts)
      return { tariffId, amount, text: formatMoney(amount) }
    })
  }
}
