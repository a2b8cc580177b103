import type { ClientChannel, TrafficType } from '../../../base/channel-types.ts'
import { formatMoney } from '../../../base/money.ts'
import type { Sql } from '../../../db/sql.ts'
import type { Company } from '../../../domain/companies/company.ts'
import type { Gateway } from '../../../domain/gateways/gateway.ts'
import { listGateways } from '../../../domain/gateways/gateways.ts'
import type { Account } from '../../../domain/ledger/account.ts'
import { freeOf } from '../../../domain/ledger/spending.ts'
import { type Brand, brands } from '../../../domain/numbering/brand.ts'
import { openPriceBook, type PriceBook } from '../../../domain/pricing/pricing.ts'
import type { ReviewStatus } from '../../../domain/review/review.ts'
import { SHARED_NAME } from '../../../domain/routing/routing.ts'
import { isInternational, type Sender, senderTypeOf } from '../../../domain/senders/sender.ts'
import { pageOfSenders } from '../../../domain/senders/senders.ts'
import { fillPlaces, placesIn } from '../../../domain/templates/pattern.ts'
import type { Template } from '../../../domain/templates/template.ts'
import { listTemplates } from '../../../domain/templates/templates.ts'

/** What a person can choose for a new dispatch: sender names, templates, prices. The page imports the types. */

export type Registration = {
  brand: Brand
  isInternational: boolean
  status: ReviewStatus
  isUsable: boolean
  /** The price of advertising. A text that fits an approved template may have another price. */
  partPrice: string | null
}
export type OfferedName = { channelType: ClientChannel; senderName: string; registrations: Registration[] }
export type OfferedTemplate = {
  templateId: number
  channelType: ClientChannel
  trafficType: TrafficType
  senderName: string | null
  text: string
}
export type BudgetAnswer = {
  month: string
  budget: string | null
  spent: string
  reserved: string
  free: string | null
}
export type OfferAnswer = {
  company: { companyId: number; name: string; currency: string }
  names: OfferedName[]
  /** The price of a part by operator under the common sender name. The operator null stands for all other operators. */
  shared: { senderName: string; prices: { brand: Brand | null; partPrice: string }[] }
  channelPrices: Partial<Record<ClientChannel, string>>
  /**
   * The parts per second that the limits of the company and of its gateways allow. A channel without a known limit is
   * missing.
   */
  speeds: Partial<Record<ClientChannel, number>>
  templates: OfferedTemplate[]
  /** Only for a viewer with the right to see money. */
  budget: BudgetAnswer | null
}
const MOST_NAMES = 1000
const MOST_TEMPLATES = 200
const PRICED_CHANNELS = ['VIBER', 'WHATSAPP', 'VK', 'TELEGRAM', 'TEXT_TO_SPEECH', 'WEASY', 'PUSH'] as const

export async function offerFor(sql: Sql, company: Company): Promise<Omit<OfferAnswer, 'budget'>> {
  const { companyId, partnerId, name, currency } = company
  const [prices, gateways, senders, templates] = await Promise.all([
    openPriceBook(sql, partnerId),
    listGateways(sql),
    pageOfSenders(sql, companyId, {}, { page: 1, perPage: MOST_NAMES }),
    listTemplates(sql, companyId, { status: ['APPROVED'] }, { page: 1, perPage: MOST_TEMPLATES }),
  ])
  return {
    company: { companyId, name, currency },
    names: namesOf(senders.items, prices),
    shared: { senderName: SHARED_NAME, prices: sharedPrices(prices) },
    channelPrices: Object.fromEntries(PRICED_CHANNELS.map(channel => [channel, priceOfChannel(prices, channel)])),
    speeds: speedsOf(company, gateways),
    templates: templates.items.map(presentTemplate),
  }
}

function presentTemplate({ templateId, channelType, trafficType, senderName, pattern }: Template): OfferedTemplate {
  const values = placesIn(pattern).map((_, i) => `{value${i + 1}}`)
  return { templateId, channelType, trafficType, senderName, text: fillPlaces(pattern, values) }
}

function speedsOf({ partsPerSecond }: Company, gateways: Gateway[]): OfferAnswer['speeds'] {
  const byChannel = Map.groupBy(
    gateways.filter(({ paused }) => !paused),
    ({ channelType }) => channelType,
  )
  const known = (['SMS', ...PRICED_CHANNELS] as const).map(channel => {
    const limits = [sumOfRates(byChannel.get(channel) ?? []), partsPerSecond].filter(limit => limit !== null)
    return [channel, limits.length === 0 ? undefined : Math.min(...limits)] as const
  })
  return Object.fromEntries(known.filter(([, speed]) => speed !== undefined))
}

/** Null if a gateway has no limit, or if there is no gateway. */
function sumOfRates(gateways: Gateway[]): number | null {
  const rates = gateways.map(({ partsPerSecond }) => partsPerSecond)
  const known = rates.filter(rate => rate !== null)
  return rates.length === 0 || known.length < rates.length ? null : known.reduce((sum, rate) => sum + rate, 0)
}

/** Leaves out names that were finally refused. */
function namesOf(senders: Sender[], prices: PriceBook): OfferedName[] {
  const offered = senders.filter(({ status }) => status !== 'DENIED' && status !== 'CLOSED')
  const byName = Map.groupBy(offered, ({ channelType, senderName }) => `${channelType} ${senderName}`)
  return [...byName.values()].flatMap(registrations => {
    const [first] = registrations
    if (!first) return []
    const { channelType, senderName } = first
    return { channelType, senderName, registrations: registrations.map(sender => presentRegistration(sender, prices)) }
  })
}

const presentRegistration = (sender: Sender, prices: PriceBook): Registration => ({
  brand: sender.brand,
  isInternational: isInternational(sender),
  status: sender.status,
  isUsable: sender.status === 'APPROVED' && !sender.suspended,
  partPrice: isInternational(sender)
    ? null
    : partPrice(prices, sender.channelType, { senderType: senderTypeOf(sender), brand: sender.brand }),
})

const sharedPrices = (prices: PriceBook) =>
  [...brands, null].map(brand => ({
    brand,
    partPrice: partPrice(prices, 'SMS', { senderType: 'COMMON', brand: brand ?? '' }),
  }))

const priceOfChannel = (prices: PriceBook, channelType: ClientChannel) =>
  partPrice(prices, channelType, { senderType: 'COMMON', brand: '' })

const partPrice = (
  prices: PriceBook,
  channelType: ClientChannel,
  name: { senderType: ReturnType<typeof senderTypeOf>; brand: string },
) => formatMoney(prices.priceOf({ channelType, country: 'RU', trafficType: 'PROMO', ...name }).perPart)

export function presentBudget(account: Account, month: string): BudgetAnswer {
  const { budget, spent, reserved } = account
  const free = freeOf(account)
  return {
    month,
    budget: budget === null ? null : formatMoney(budget),
    spent: formatMoney(spent),
    reserved: formatMoney(reserved),
    free: free === null ? null : formatMoney(free),
  }
}
