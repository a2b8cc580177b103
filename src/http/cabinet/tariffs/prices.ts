import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { allChannelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { notFound } from '../../../base/errors.ts'
import { type Money, moneyToNumber } from '../../../base/money.ts'
import type { Sql } from '../../../db/sql.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import { monthOf } from '../../../domain/ledger/account.ts'
import { brands } from '../../../domain/numbering/brand.ts'
import { requirePartner } from '../../../domain/partners/partners.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { type Cost, costOf, findPricing, type Pricing, volumeOf } from '../../../domain/pricing/calculation.ts'
import { listTariffs } from '../../../domain/pricing/pricing.ts'
import type { Tariff } from '../../../domain/pricing/tariff.ts'
import { senderTypes } from '../../../domain/senders/sender.ts'
import { Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { OfCompany } from '../company-scope.ts'
import { otherPrices } from './other-prices.ts'
import { type ListedTariff, present } from './tariffs.ts'

const Count = (most: number, least = 1) => Type.Integer({ minimum: least, maximum: most })

const Question = Type.Object({
  companyId: Type.Optional(Id),
  /** For staff: the partner, if no company is chosen. */
  partnerId: Type.Optional(Id),
  channelType: OneOf(allChannelTypes),
  /** A code of two letters, or `*` for all countries without their own price. */
  country: Defaulted(Type.String({ pattern: '^([A-Z]{2}|\\*)$', default: 'RU' })),
  senderType: Defaulted(OneOf(senderTypes, { default: 'COMMON' })),
  brand: Defaulted(OneOf([...brands, 'OTHER'], { default: 'MTS' })),
  trafficType: Defaulted(OneOf(trafficTypes, { default: 'PROMO' })),
  messages: Count(1_000_000_000),
  parts: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 1 })),
  /** The volume of the month before these messages. By default the counted volume of the company. */
  volume: Type.Optional(Count(1_000_000_000, 0)),
})

/** Types of answers, which the page imports. */
export type PricesAnswer = { tariffs: ListedTariff[]; zone: string } & Awaited<ReturnType<typeof otherPrices>>
export type CalculatedCost = ReturnType<typeof presentCost>
/** `next`: the price after the next planned change. A new tariff begins with the volume zero. */
export type CalculationAnswer = {
  now: CalculatedCost
  next: (CalculatedCost & { from: Date }) | null
  currency: string
  zone: string
}

/** The prices of the viewer, and the calculator for the price of messages. */
export const priceRoutes =
  ({ sql, clock, billingZone }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/prices',
      { config: { needs: 'money.see' }, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<PricesAnswer> => {
        const { partnerId } = await payerOf(sql, viewer, query)
        const tariffs = (await listTariffs(sql, partnerId, {})).map(present)
        return { tariffs, zone: billingZone, ...(await otherPrices(sql)) }
      },
    )

    api.get(
      '/prices/calculation',
      { config: { needs: 'money.see' }, schema: { querystring: Question } },
      async ({ viewer, query }): Promise<CalculationAnswer> => {
        const { partnerId, companyId, currency } = await payerOf(sql, viewer, query)
        const month = monthOf(clock(), billingZone)
        const { now, next } = await findPricing(sql, partnerId, query)
        const counted = async (tariff: Tariff) =>
          companyId === undefined ? 0 : await volumeOf(sql, companyId, tariff, month)
        const cost = async (pricing: Pricing, volume: number | undefined) => {
          const tariff = pricing.tariff ?? fixed(pricing.perPart, currency)
          const amount = { ...query, volume: volume ?? (await counted(tariff)) }
          return presentCost(pricing, amount.volume, costOf(tariff, amount))
        }
        return {
          now: await cost(now, query.volume),
          next: next && { ...(await cost(next, undefined)), from: next.from },
          currency,
          zone: billingZone,
        }
      },
    )
  }

/** The payer: the chosen company, the viewer's own company, or a partner. */
async function payerOf(
  sql: Sql,
  viewer: Viewer,
  query: { companyId?: number; partnerId?: number },
): Promise<{ partnerId: number; companyId?: number; currency: string }> {
  const companyId = query.companyId ?? viewer.companyId
  if (companyId !== null) return requireCompanyWithin(sql, viewer, companyId)
  const partnerId = query.partnerId ?? viewer.partnerId
  if (partnerId === null) return { partnerId: NO_PARTNER, currency: 'RUB' }
  if (viewer.kind !== 'STAFF' && partnerId !== viewer.partnerId) throw notFound('Partner')
  return requirePartner(sql, partnerId)
}

/** A payer without tariffs of its own, so that the general tariffs apply. */
const NO_PARTNER = 0

const fixed = (price: Money, currency: string): Tariff => ({
  tariffId: 0,
  partnerId: null,
  senderType: 'COMMON',
  brand: null,
  trafficType: null,
  pricingModel: 'FIXED',
  currency,
  steps: [{ from: 0, price, priceMauBatch: null }],
})

const presentCost = ({ tariff }: Pricing, volume: number, { lines, packages, total }: Cost) => ({
  tariff: tariff && present(tariff),
  volume,
  lines: lines.map(({ perPart, amount, ...line }) => ({
    ...line,
    perPart: moneyToNumber(perPart),
    amount: moneyToNumber(amount),
  })),
  packages: packages.map(({ from, amount }) => ({ from, amount: moneyToNumber(amount) })),
  total: moneyToNumber(total),
})
