import type { ChannelType } from '../../base/channel-types.ts'
import { invalid } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { FeeOf } from '../senders/moderation.ts'
import * as store from './store.ts'
import { pickTariff, placeKey, reservedPrice, type Tariff, type TariffQuestion, type TariffStep } from './tariff.ts'

export { listSenderFees } from './store.ts'

const filters = ['senderType', 'brand', 'trafficType', 'pricingModel'] as const

export type TariffFilter = Partial<Pick<Tariff, (typeof filters)[number]>>

/** The tariffs of a partner: its own tariffs, and general tariffs that no own tariff replaces. */
export async function listTariffs(sql: Sql, partnerId: number, filter: TariffFilter): Promise<Tariff[]> {
  const tariffs = groupSteps(await store.selectTariffSteps(sql, partnerId))
  const own = new Set(tariffs.filter(tariff => tariff.partnerId !== null).map(placeKey))
  return tariffs
    .filter(tariff => tariff.partnerId !== null || !own.has(placeKey(tariff)))
    .filter(tariff => filters.every(field => filter[field] === undefined || tariff[field] === filter[field]))
}

/** A tariff of the rows of its steps, in the order of the rows. */
export function groupSteps<Row extends Omit<Tariff, 'steps'> & TariffStep>(rows: readonly Row[]) {
  const tariffs = new Map<number, Omit<Row, keyof TariffStep> & { steps: TariffStep[] }>()
  for (const { from, price, priceMauBatch, ...tariff } of rows) {
    if (!tariffs.has(tariff.tariffId)) tariffs.set(tariff.tariffId, { ...tariff, steps: [] })
    tariffs.get(tariff.tariffId)!.steps.push({ from, price, priceMauBatch })
  }
  return [...tariffs.values()]
}

/** Names that are approved from now on have the new fee. Refused when it is no longer what the caller saw. */
export async function changeSenderFee(sql: Sql, brand: string, before: Money, value: Money): Promise<void> {
  const [changed] = await store.updateSenderFee(sql, brand, before, value)
  if (!changed) throw invalid('Somebody else changed this fee in the meantime: look at it again')
}

export async function senderFeeTable(sql: Sql): Promise<FeeOf> {
  const fees = new Map((await store.listSenderFees(sql)).map(fee => [fee.brand, fee.value]))
  return brand => fees.get(brand) ?? null
}

export type Price = { tariffId: number | null; perPart: Money }

export type PriceQuestion = TariffQuestion & { channelType: ChannelType; country: string }

/** Everything that prices a request, read once and asked for every recipient. */
export type PriceBook = { priceOf(question: PriceQuestion): Price }

const ANY_COUNTRY = '*'

export async function openPriceBook(sql: Sql, partnerId: number): Promise<PriceBook> {
  const [tariffs, channels, countries] = await Promise.all([
    store.selectTariffSteps(sql, partnerId).then(groupSteps),
    store.selectChannelPrices(sql),
    store.selectCountryPrices(sql),
  ])
  const channelPrice = new Map(channels.map(row => [row.channelType, row.price]))
  const countryPrice = new Map(countries.map(row => [row.countryCode, row.price]))
  const tariffPrice = new Map<string, Price>()

  const priceByTariff = (question: TariffQuestion): Price => {
    const tariff = pickTariff(tariffs, question)
    if (!tariff) throw new Error(`no tariff for ${JSON.stringify(question)}`)
    return { tariffId: tariff.tariffId, perPart: reservedPrice(tariff) }
  }

  return {
    priceOf(question) {
      if (question.channelType !== 'SMS') return fixed(channelPrice.get(question.channelType), question.channelType)
      if (question.country !== 'RU') {
        return fixed(countryPrice.get(question.country) ?? countryPrice.get(ANY_COUNTRY), question.country)
      }
      const key = placeKey(question)
      const price = tariffPrice.get(key) ?? priceByTariff(question)
      tariffPrice.set(key, price)
      return price
    },
  }
}

function fixed(perPart: Money | null | undefined, what: string): Price {
  if (perPart === undefined || perPart === null) throw new Error(`no price for ${what}`)
  return { tariffId: null, perPart }
}

/** The tariffs that hold now of one partner alone; without one, the general ones. */
export async function currentTariffs(sql: Sql, partnerId: number | null): Promise<Tariff[]> {
  return groupSteps(await store.selectOwnTariffSteps(sql, partnerId))
}

/** Tariffs by id, whosever they are and even superseded: a message keeps the one it was accepted under. */
export async function tariffsByIds(sql: Sql, tariffIds: number[]): Promise<Tariff[]> {
  return groupSteps(await store.selectTariffStepsByIds(sql, tariffIds))
}
