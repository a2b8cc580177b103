import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { allChannelTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { formatMoney, type Money, moneyToNumber } from '../../../base/money.ts'
import { countries } from '../../../base/phone/countries.ts'
import type { Sql } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { brands } from '../../../domain/numbering/brand.ts'
import { MOST_FOR_PART, readAmount } from '../../../domain/pricing/amount.ts'
import {
  type NewPrice,
  type PricePlace,
  pricePlaceKey,
  readPlace,
  writePriceFile,
} from '../../../domain/pricing/other-price.ts'
import {
  changePrices,
  type ListedPrice,
  listPrices,
  type PriceDifference,
  versionOfPrices,
  withdrawPrice,
} from '../../../domain/pricing/other-prices.ts'
import { listSenderFees } from '../../../domain/pricing/pricing.ts'
import { Nullable, OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { asFile } from '../reports/file-sender.ts'
import { AmountText, asked, Day, firstDay } from './tariff-schemas.ts'

const Place = {
  channelType: OneOf(allChannelTypes),
  /** For SMS: a code of two letters, or `*` for all countries without their own price. */
  country: Nullable(Type.String({ maxLength: 2 })),
  /** The versions of this price that the person saw. Empty if there was no price. */
  version: Type.String({ maxLength: 40 }),
}
const Change = Type.Object({
  ...Place,
  /** Null for a change at once. */
  from: Nullable(Day),
  /** Null removes the country's own price. */
  price: Type.Union([Type.Null(), AmountText]),
})
const Withdrawal = Type.Object(Place)

/** Types of requests and answers, which the page imports. */
export type OtherPriceChange = Type.Static<typeof Change>
export type OtherPriceWithdrawal = Type.Static<typeof Withdrawal>
export type ListedOtherPrice = ReturnType<typeof presentPrice>
export type PriceImport = ReturnType<typeof presentPriceDifference>

/** Prices of other channels and of SMS to other countries, for staff. They are the same for every partner. */
export const otherPriceRoutes =
  ({ sql, clock, billingZone }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.post(
      '/tariffs/prices/changes',
      { config: { needs: 'tariffs.change' }, schema: { body: Change } },
      async ({ actor, body }, reply) => {
        const place = placeIn(body)
        const price = body.price === null ? null : asked(() => readAmount(body.price!, MOST_FOR_PART, 'price'))
        const from = firstDay(body.from, clock(), billingZone)
        await sql.begin(async tx => {
          const wanted = {
            prices: [{ ...place, price }],
            from,
            version: body.version || versionOfPrices([]),
            versionPlace: place,
          }
          const { added, changed, ended } = await changePrices(tx, wanted)
          const before = [...changed.map(one => one.before), ...ended][0]
          if (added.length + changed.length + ended.length === 0) throw invalid('The price is the same as before')
          await recordChange(tx, actor, {
            what: price === null ? 'tariffs.ended' : 'tariffs.changed',
            subject: subjectOf(place),
            ...(before ? { before: fieldsOf(before) } : {}),
            after: { ...(price === null ? {} : fieldsOf({ price })), ...(from ? { from } : {}) },
          })
        })
        return reply.code(204).send()
      },
    )

    /** Cancels a planned change before its day. */
    api.post(
      '/tariffs/prices/withdrawals',
      { config: { needs: 'tariffs.change' }, schema: { body: Withdrawal } },
      async ({ actor, body }, reply) => {
        const place = placeIn(body)
        await sql.begin(async tx => {
          const planned = await withdrawPrice(tx, place, body.version)
          await recordChange(tx, actor, {
            what: 'tariffs.withdrawn',
            subject: subjectOf(place),
            before: { ...fieldsOf(planned), from: planned.validFrom },
          })
        })
        return reply.code(204).send()
      },
    )

    /** The current prices, as a file that can be imported again. */
    api.get('/tariffs/prices/export', { config: { needs: 'tariffs.see' } }, async (_, reply) =>
      asFile(reply, 'prices', 'csv').send(writePriceFile(await listPrices(sql))),
    )
  }

const placeIn = ({ channelType, country }: { channelType: string; country: string | null }): PricePlace =>
  asked(() => readPlace(channelType, country ?? '', 'country'))

const subjectOf = (place: PricePlace) => ({ kind: 'price', id: pricePlaceKey(place) })

const fieldsOf = ({ price }: { price: Money | null }) => ({ price: price === null ? null : formatMoney(price) })

/** The prices that are the same for every partner, with their planned changes. */
export async function otherPrices(sql: Sql) {
  const prices = await listPrices(sql)
  return {
    fees: (await listSenderFees(sql)).map(({ brand, value, currency }) => ({
      brand: brand as (typeof brands)[number],
      value: moneyToNumber(value),
      currency,
    })),
    channels: prices.filter(({ country }) => country === null).map(presentPrice),
    countries: prices.filter(({ country }) => country !== null).map(presentPrice),
  }
}

/** Countries that can have their own price. */
export const pricedCountries = countries.map(({ code }) => code).filter(code => code !== 'RU')

const amountOf = (price: Money | null) => (price === null ? null : moneyToNumber(price))

const presentPrice = ({ channelType, country, price, next, version }: ListedPrice) => ({
  channelType,
  country,
  price: amountOf(price),
  next: next && { price: amountOf(next.price), from: next.from },
  version,
})

const presentNew = ({ channelType, country, price }: NewPrice) => ({ channelType, country, price: amountOf(price) })

export const presentPriceDifference = ({ added, changed, ended, unchanged }: PriceDifference) => ({
  kind: 'prices' as const,
  added: added.map(presentNew),
  changed: changed.map(({ before, after }) => ({ before: presentNew(before), after: presentNew(after) })),
  ended: ended.map(presentNew),
  unchanged,
})
