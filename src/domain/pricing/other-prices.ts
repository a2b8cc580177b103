import { createHash } from 'node:crypto'
import { invalid } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import {
  type DatedPrice,
  type NewPrice,
  OTHER_COUNTRIES,
  ownPriceAt,
  type PricePlace,
  pricePlaceKey,
} from './other-price.ts'
import * as store from './store.ts'

export { openPrices } from './store.ts'

/** Prices of other channels and of countries: they are the same for every partner. */

export type PriceChange = {
  prices: NewPrice[]
  /** From when on; unless given, at once. */
  from?: Date | undefined
  /** What the caller saw (`versionOfPrices`): refused when something was changed since. */
  version: string
  /** The version is that of one place, not of all of them. */
  versionPlace?: PricePlace | undefined
}

export type PriceDifference = {
  added: NewPrice[]
  changed: { before: NewPrice; after: NewPrice }[]
  ended: NewPrice[]
  unchanged: number
}

export function versionOfPrices(prices: readonly DatedPrice[], place?: PricePlace): string {
  const seen = place ? prices.filter(one => pricePlaceKey(one) === pricePlaceKey(place)) : prices
  const rows = seen.map(one => `${pricePlaceKey(one)} ${one.price} ${one.validFrom.getTime()}`).sort()
  return createHash('sha256').update(rows.join()).digest('base64url').slice(0, 16)
}

/** What a change would do. With `replaces`, countries that it does not name lose their price; channels keep theirs. */
export function priceDifference(
  known: readonly DatedPrice[],
  wanted: NewPrice[],
  from: Date,
  replaces = false,
): PriceDifference {
  const pairs = wanted.map(after => ({ before: { ...after, price: ownPriceAt(known, after, from) }, after }))
  const differ = pairs.filter(({ before, after }) => before.price !== after.price)
  return {
    added: differ.filter(({ before }) => before.price === null).map(({ after }) => after),
    changed: differ.filter(({ before, after }) => before.price !== null && after.price !== null),
    ended: [
      ...differ.filter(({ after }) => after.price === null).map(({ before }) => before),
      ...(replaces ? notNamed(known, wanted, from) : []),
    ],
    unchanged: pairs.length - differ.length,
  }
}

function notNamed(known: readonly DatedPrice[], wanted: NewPrice[], from: Date): NewPrice[] {
  const named = new Set(wanted.map(pricePlaceKey))
  const held = new Map<string, NewPrice>()
  for (const { channelType, country } of known) {
    const place = { channelType, country }
    const price = ownPriceAt(known, place, from)
    const mayEnd = country !== null && country !== OTHER_COUNTRIES && price !== null
    if (mayEnd && !named.has(pricePlaceKey(place))) held.set(pricePlaceKey(place), { ...place, price })
  }
  return [...held.values()]
}

/**
 * Changes prices from now or from a later moment on. Changes that are planned for later stay. Messages keep the
 * price at which they were accepted.
 */
export async function changePrices(
  sql: Transaction,
  change: PriceChange,
  { replaces = false } = {},
): Promise<PriceDifference> {
  await store.lockPrices(sql)
  const from = change.from ?? (await store.databaseNow(sql))
  const known = await store.openPrices(sql)
  if (versionOfPrices(known, change.versionPlace) !== change.version)
    throw invalid('Somebody else changed these prices in the meantime: look at them again')
  const difference = priceDifference(known, change.prices, from, replaces)
  const written = [
    ...difference.added,
    ...difference.changed.map(({ after }) => after),
    ...difference.ended.map(one => ({ ...one, price: null })),
  ]
  written.forEach(refuseEnd)
  for (const price of written) await store.savePrice(sql, price, from)
  return difference
}

function refuseEnd({ country, price }: NewPrice) {
  if (price === null && (country === null || country === OTHER_COUNTRIES))
    throw invalid('Only a country can lose its price: then that of other countries holds')
}

/** Takes back the next planned change of a price. Answers it. */
export async function withdrawPrice(sql: Transaction, place: PricePlace, version: string): Promise<DatedPrice> {
  await store.lockPrices(sql)
  const known = await store.openPrices(sql)
  if (versionOfPrices(known, place) !== version)
    throw invalid('Somebody else changed these prices in the meantime: look at them again')
  const now = await store.databaseNow(sql)
  const planned = known.find(one => pricePlaceKey(one) === pricePlaceKey(place) && one.validFrom > now)
  if (!planned) throw invalid('No change of this price is planned')
  await store.deletePrice(sql, planned)
  return planned
}

/** The current price of a place, and the next planned change. */
export type ListedPrice = PricePlace & {
  /** Null: the country gets a price of its own only later. */
  price: Money | null
  /** Null: the price ends then. */
  next: { price: Money | null; from: Date } | null
  version: string
}

export async function listPrices(sql: Sql): Promise<ListedPrice[]> {
  const known = await store.openPrices(sql)
  const now = await store.databaseNow(sql)
  return [...Map.groupBy(known, pricePlaceKey).values()]
    .map(rows => {
      const [{ channelType, country }] = rows as [DatedPrice]
      const next = rows.find(({ validFrom }) => validFrom > now)
      return {
        channelType,
        country,
        price: ownPriceAt(rows, { channelType, country }, now),
        next: next ? { price: next.price, from: next.validFrom } : null,
        version: versionOfPrices(rows),
      }
    })
    .filter(({ price, next }) => price !== null || next !== null)
}
