import { text } from 'node:stream/consumers'
import { allChannelTypes } from '../../base/channel-types.ts'
import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money, moneyToNumber } from '../../base/money.ts'
import { countries } from '../../base/phone/countries.ts'
import type { Pool } from '../../db/sql.ts'
import type { Partner } from '../../domain/partners/partner.ts'
import { partnerWithLogin } from '../../domain/partners/partners.ts'
import { importTariffs, readTariffFile } from '../../domain/pricing/imports.ts'
import { isPriceFile, readPriceFile } from '../../domain/pricing/other-price.ts'
import { changePrices, openPrices, versionOfPrices } from '../../domain/pricing/other-prices.ts'
import { currentTariffs, listTariffs, openPriceBook } from '../../domain/pricing/pricing.ts'
import type { Tariff } from '../../domain/pricing/tariff.ts'
import { noPartner } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf } from '../command-line.ts'
import { withFile } from '../file.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function listInForce(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const partner = await partnerIn(call, sql)
    const tariffs = partner ? await listTariffs(sql, partner.partnerId, {}) : await currentTariffs(sql, null)
    const others = await otherPrices(sql)
    call.print({ tariffs: tariffs.map(present), ...presentOthers(others) }, textOf(tariffs, others))
  })
}

export async function importFile(call: Call) {
  await withFile(argumentOf(call), async source => {
    const content = await text(source)
    if (isPriceFile(content)) return importPrices(call, content)
    const rows = readTariffFile(content)
    await withDatabase(call.config, async ({ sql }) => {
      const partner = await partnerIn(call, sql)
      const done = await recorded(sql, async (tx, record) => {
        const imported = await importTariffs(tx, partner?.login, rows)
        const subject = { kind: 'tariffs', id: partner?.login ?? 'general' }
        await record({ what: 'tariffs.imported', subject, partnerId: partner?.partnerId ?? null, after: imported })
        return imported
      })
      const { added, replaced, unchanged } = done
      call.print(done, `${added} tariffs were added, ${replaced} replaced, ${unchanged} are as before.`)
    })
  })
}

/** Prices of other channels and of countries, at once. */
async function importPrices(call: Call, content: string) {
  if (call.options.partner !== undefined) {
    throw new UsageError('Prices of channels and countries are the same for every partner: leave out --partner.')
  }
  const { prices, wrong } = readPriceFile(content)
  if (wrong[0] !== undefined) throw new UsageError(wrong[0])
  await withDatabase(call.config, async ({ sql }) => {
    const done = await recorded(sql, async (tx, record) => {
      const version = versionOfPrices(await openPrices(tx))
      const { added, changed, unchanged } = await tx.begin(inner => changePrices(inner, { prices, version }))
      const imported = { added: added.length, replaced: changed.length, unchanged }
      await record({ what: 'tariffs.imported', subject: { kind: 'tariffs', id: 'prices' }, after: imported })
      return imported
    })
    const { added, replaced, unchanged } = done
    call.print(done, `${added} prices were added, ${replaced} replaced, ${unchanged} are as before.`)
  })
}

async function partnerIn({ options }: Call, sql: Pool): Promise<Partner | undefined> {
  if (options.partner === undefined) return undefined
  const partner = await partnerWithLogin(sql, options.partner)
  if (!partner) throw new UsageError(noPartner(options.partner))
  return partner
}

type OtherPrices = { channels: { channelType: string; price: Money }[]; countries: { country: string; price: Money }[] }

const NO_PARTNER = 0
const OTHER_COUNTRIES = '*'

/** Asked of the book that prices messages: they are the same for every partner. `*` is any country not listed. */
async function otherPrices(sql: Pool): Promise<OtherPrices> {
  const book = await openPriceBook(sql, NO_PARTNER)
  const question = { senderType: 'COMMON', brand: 'MTS', trafficType: 'PROMO' } as const
  const priceIn = (country: string) => book.priceOf({ ...question, channelType: 'SMS', country }).perPart
  const channels = allChannelTypes
    .filter(channelType => channelType !== 'SMS')
    .map(channelType => ({ channelType, price: book.priceOf({ ...question, channelType, country: 'RU' }).perPart }))
  const listed = countries
    .filter(({ code }) => code !== 'RU' && priceIn(code) !== priceIn(OTHER_COUNTRIES))
    .map(({ code }) => ({ country: code, price: priceIn(code) }))
  return { channels, countries: [...listed, { country: OTHER_COUNTRIES, price: priceIn(OTHER_COUNTRIES) }] }
}

const present = (tariff: Tariff) => ({
  tariffId: tariff.tariffId,
  partnerId: tariff.partnerId,
  senderType: tariff.senderType,
  brand: tariff.brand,
  trafficType: tariff.trafficType,
  pricingModel: tariff.pricingModel,
  currency: tariff.currency,
  steps: tariff.steps.map(({ from, price, priceMauBatch }) => ({
    from,
    price: moneyToNumber(price),
    priceMauBatch: priceMauBatch === null ? null : moneyToNumber(priceMauBatch),
  })),
})

const presentOthers = ({ channels, countries }: OtherPrices) => ({
  channels: channels.map(({ channelType, price }) => ({ channelType, price: moneyToNumber(price) })),
  countries: countries.map(({ country, price }) => ({ country, price: moneyToNumber(price) })),
})

const textOf = (tariffs: Tariff[], { channels, countries }: OtherPrices) =>
  [
    table(['ID', 'OWN', 'SENDER', 'BRAND', 'TRAFFIC', 'MODEL', 'FROM', 'PRICE', 'PACKAGE'], tariffs.flatMap(rowsOf)),
    table(
      ['CHANNEL', 'PRICE'],
      channels.map(({ channelType, price }) => [channelType, formatMoney(price)]),
    ),
    table(
      ['SMS TO', 'PRICE'],
      countries.map(({ country, price }) => [country, formatMoney(price)]),
    ),
  ].join('\n\n')

/** A line a step. */
const rowsOf = (tariff: Tariff) =>
  tariff.steps.map(({ from, price, priceMauBatch }) => [
    tariff.tariffId,
    tariff.partnerId === null ? null : 'own',
    tariff.senderType,
    tariff.brand ?? 'any',
    tariff.trafficType ?? 'any',
    tariff.pricingModel,
    from,
    formatMoney(price),
    priceMauBatch === null ? null : formatMoney(priceMauBatch),
  ])
