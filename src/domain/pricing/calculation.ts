import { type Money, money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { openBook } from './book.ts'
import { priceAtPlace } from './other-price.ts'
import { openPrices } from './other-prices.ts'
import { openPriceBook, type PriceQuestion } from './pricing.ts'
import * as store from './store.ts'
import {
  changesAfter,
  type DatedTariff,
  holdsAt,
  type Package,
  packagesBetween,
  pickTariff,
  type Tariff,
} from './tariff.ts'

/** `from` and `to`: which messages of the month these are, or with MAU which recipients. */
export type CostLine = { from: number; to: number; messages: number; perPart: Money; amount: Money }

export type Cost = { lines: CostLine[]; packages: Package[]; total: Money }

export type Amount = {
  /** The messages of this month before the new ones. */
  volume: number
  messages: number
  parts: number
}

/**
 * What delivered messages cost, step by step, as the engine charges them one by one. With MAU every message is taken to
 * reach a person who had none under this tariff this month.
 */
export function costOf(tariff: Tariff, { volume, messages, parts }: Amount): Cost {
  const [first, last] = [volume + 1, volume + messages]
  const lines = tariff.steps.flatMap(({ from, price }, index): CostLine[] => {
    const begin = index === 0 ? first : Math.max(from, first)
    const end = Math.min((tariff.steps[index + 1]?.from ?? Number.POSITIVE_INFINITY) - 1, last)
    if (end < begin) return []
    const count = end - begin + 1
    return [{ from: begin, to: end, messages: count, perPart: price, amount: price * BigInt(parts) * BigInt(count) }]
  })
  const packages = tariff.pricingModel === 'MAU' ? packagesBetween(tariff, volume, volume + messages) : []
  const total = [...lines, ...packages].reduce((sum, { amount }) => sum + amount, money(0))
  return { lines, packages, total }
}

/** What prices messages now: a tariff, or one price for the channel or the country. */
export type Pricing = { tariff: DatedTariff | null; perPart: Money }

/** The current tariff of a question, and the next planned tariff. */
export async function findPricing(
  sql: Sql,
  partnerId: number,
  question: PriceQuestion,
): Promise<{ now: Pricing; next: (Pricing & { from: Date }) | null }> {
  const { tariffId, perPart } = (await openPriceBook(sql, partnerId)).priceOf(question)
  if (tariffId === null) return { now: { tariff: null, perPart }, next: await nextPrice(sql, question, perPart) }
  const tariffs = [...(await openBook(sql, null)), ...(await openBook(sql, partnerId))]
  const tariff = tariffs.find(one => one.tariffId === tariffId)!
  const change = nextChange(tariffs, tariff, question, await store.databaseNow(sql))
  return { now: { tariff, perPart }, next: change ? { ...change, perPart: change.tariff.steps[0]!.price } : null }
}

/** The first moment from which the channel or the country has another price. */
async function nextPrice(sql: Sql, { channelType, country }: PriceQuestion, current: Money) {
  const place = { channelType, country: channelType === 'SMS' ? country : null }
  const prices = await openPrices(sql)
  const now = await store.databaseNow(sql)
  for (const from of prices.map(({ validFrom }) => validFrom).sort((a, b) => a.getTime() - b.getTime())) {
    const perPart = from > now ? priceAtPlace(prices, place, from) : null
    if (perPart !== null && perPart !== current) return { tariff: null, perPart, from }
  }
  return null
}

/** The first moment from which another tariff answers the question. */
function nextChange(tariffs: DatedTariff[], current: Tariff, question: PriceQuestion, now: Date) {
  const times = tariffs.flatMap(tariff => changesAfter(tariff, now))
  for (const from of times.sort((a, b) => a.getTime() - b.getTime())) {
    const held = tariffs.filter(tariff => holdsAt(tariff, from))
    const tariff = pickTariff(held, question)
    if (tariff && tariff.tariffId !== current.tariffId) return { from, tariff }
  }
}

/** What the tariff has counted of a company in a month: unique recipients with MAU, else delivered messages. */
export async function volumeOf(sql: Sql, companyId: number, tariff: Tariff, month: string): Promise<number> {
  const [usage] = await store.selectUsage(sql, companyId, [tariff.tariffId], month)
  return usage ? countedOf(tariff, usage) : 0
}

/** What the tariff counts: unique recipients with MAU, else delivered messages. */
export const countedOf = ({ pricingModel }: Tariff, usage: { delivered: number; recipients: number }) =>
  pricingModel === 'MAU' ? usage.recipients : usage.delivered

const MOST_SHOWN = 5

/** The companies with most messages under a tariff this month, with what it counts of them. */
export async function greatestVolumes(sql: Sql, tariff: Tariff, month: string) {
  const rows = await store.selectGreatestUsage(sql, tariff.tariffId, month, MOST_SHOWN)
  return rows.map(row => ({ companyId: row.companyId, name: row.name, count: countedOf(tariff, row) }))
}
