import { allChannelTypes, type ChannelType } from '../../base/channel-types.ts'
import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import { countries } from '../../base/phone/countries.ts'
import { MOST_FOR_PART, readAmount } from './amount.ts'

/** Any country that has no price of its own. */
export const OTHER_COUNTRIES = '*'

/** What a price is for that is the same for everybody: a channel other than SMS, or SMS to a country. */
export type PricePlace = { channelType: ChannelType; country: string | null }

/** A price with the time in which it holds. Null: the country has none of its own, and that of `*` holds. */
export type DatedPrice = PricePlace & { price: Money | null; validFrom: Date; until: Date | null }

export type NewPrice = PricePlace & { price: Money | null }

export const pricePlaceKey = ({ channelType, country }: PricePlace) =>
  country === null ? channelType : `${channelType} ${country}`

const isHeldAt = ({ validFrom, until }: DatedPrice, moment: Date) =>
  validFrom <= moment && (until === null || until > moment)

/** The price of exactly this place at a moment; null where it has none of its own. */
export function ownPriceAt(prices: readonly DatedPrice[], place: PricePlace, moment: Date): Money | null {
  const key = pricePlaceKey(place)
  return prices.find(one => pricePlaceKey(one) === key && isHeldAt(one, moment))?.price ?? null
}

/** The price at a moment. A country without a price of its own has the price of `*`. */
export function priceAtPlace(prices: readonly DatedPrice[], place: PricePlace, moment: Date): Money | null {
  const own = ownPriceAt(prices, place, moment)
  return own ?? (place.country === null ? null : ownPriceAt(prices, { ...place, country: OTHER_COUNTRIES }, moment))
}

const COLUMNS = ['channelType', 'country', 'price'] as const

/** Whether a file has prices of channels and countries, by its heading; other files have tariffs. */
export const isPriceFile = (text: string): boolean => /^\W*channelType\b/.test(text)

/** The prices of a file, and the mistakes in its other lines. Each mistake names its line. */
export function readPriceFile(text: string): { prices: NewPrice[]; wrong: string[] } {
  const [heading = '', ...lines] = text.trim().split(/\r?\n/)
  const separator = heading.includes(';') ? ';' : ','
  const names = fieldsOf(heading, separator)
  const missing = COLUMNS.find(name => !names.includes(name))
  if (missing) throw new UsageError(`The heading of the file has no ${missing}: it must be ${COLUMNS.join(separator)}.`)
  const prices = new Map<string, NewPrice>()
  const wrong: string[] = []
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const where = `line ${index + 2}`
    const fields = fieldsOf(line, separator)
    const [channelType, country, price] = COLUMNS.map(name => fields[names.indexOf(name)] ?? '') as [
      string,
      string,
      string,
    ]
    try {
      const read = { ...readPlace(channelType, country, where), price: readPrice(price, where) }
      const key = pricePlaceKey(read)
      if (prices.has(key)) throw new UsageError(`${where}: there are two prices for ${key}.`)
      prices.set(key, read)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      wrong.push(error.message)
    }
  }
  return { prices: [...prices.values()], wrong }
}

const fieldsOf = (line: string, separator: string) =>
  line.split(separator).map(field => field.trim().replace(/^\ufeff?"?(.*?)"?$/, '$1'))

const readPrice = (text: string, where: string) => readAmount(text.replace(',', '.'), MOST_FOR_PART, `${where}: price`)

/** Channels other than SMS have one price everywhere; SMS has one for each country, and tariffs for Russia. */
export function readPlace(channelType: string, country: string, where: string): PricePlace {
  const channel = allChannelTypes.find(known => known === channelType)
  if (!channel) throw new UsageError(`${where}: channelType "${channelType}" is none of ${allChannelTypes.join(', ')}.`)
  if (channel !== 'SMS') {
    if (country !== '') throw new UsageError(`${where}: only SMS has prices for countries.`)
    return { channelType: channel, country: null }
  }
  const isKnown = country === OTHER_COUNTRIES || countries.some(({ code }) => code === country && code !== 'RU')
  if (!isKnown) {
    throw new UsageError(`${where}: country "${country}" is no code of two letters, or is RU, which has tariffs.`)
  }
  return { channelType: channel, country }
}

/** Prices as a CSV file that can be imported again. */
export const writePriceFile = (prices: readonly NewPrice[]): string =>
  [
    COLUMNS.join(','),
    ...prices
      .filter(({ price }) => price !== null)
      .map(({ channelType, country, price }) => [channelType, country ?? '', formatMoney(price!)].join(',')),
    '',
  ].join('\r\n')
