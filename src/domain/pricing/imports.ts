import { type TrafficType, trafficTypes } from '../../base/channel-types.ts'
import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money, money } from '../../base/money.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { brands } from '../numbering/brand.ts'
import { partnerWithLogin } from '../partners/partners.ts'
import { type SenderType, senderTypes } from '../senders/sender.ts'
import { currentTariffs } from './pricing.ts'
import * as store from './store.ts'
import { type PricingModel, pricingModels, type Tariff, type TariffStep } from './tariff.ts'

/** A tariff as it stands in a file: absent, null and empty mean "any"; amounts are decimals. Of a CSV file with lines. */
export type TariffRow = {
  line?: number
  senderType: string
  brand?: string | null
  trafficType?: string | null
  pricingModel: string
  steps: {
    line?: number
    from: number | string
    price: number | string
    priceMauBatch?: number | string | null
  }[]
}

export type TariffImport = { added: number; replaced: number; unchanged: number }

type NewTariff = Pick<Tariff, 'senderType' | 'brand' | 'trafficType' | 'pricingModel' | 'steps'>

const RUB = 'RUB'

/**
 * Brings in the tariffs of a partner, or without a partner the general ones: all of them, or none when one cannot be
 * read. A tariff takes the place of the one for the same sender type, brand and traffic type; those that the file does
 * not name stay. Messages keep the tariff they were accepted under, and a tariff that takes another's place begins to
 * count at nothing; one that is the same as before is left alone and goes on counting.
 */
export async function importTariffs(pool: Pool, login: string | undefined, rows: TariffRow[]): Promise<TariffImport> {
  const tariffs = readTariffs(rows)
  const partner = login === undefined ? { partnerId: null, currency: RUB } : await requirePartner(pool, login)
  return pool.begin(async sql => {
    await store.lockTariffs(sql)
    const current = new Map((await currentTariffs(sql, partner.partnerId)).map(tariff => [placeOf(tariff), tariff]))
    const changed = tariffs.filter(tariff => !isSame(tariff, current.get(placeOf(tariff))))
    const replaced = changed.flatMap(tariff => current.get(placeOf(tariff))?.tariffId ?? [])
    await store.supersede(sql, replaced)
    for (const tariff of changed) await store.insertTariff(sql, { ...tariff, ...partner })
    return {
      added: changed.length - replaced.length,
      replaced: replaced.length,
      unchanged: tariffs.length - changed.length,
    }
  }) as Promise<TariffImport>
}

async function requirePartner(sql: Sql, login: string) {
  const partner = await partnerWithLogin(sql, login)
  if (!partner) throw new UsageError(`There is no partner "${login}": \`tidings partner list\` shows them.`)
  return partner
}

const placeOf = (tariff: NewTariff) => `${tariff.senderType}/${tariff.brand ?? '*'}/${tariff.trafficType ?? '*'}`

const isSame = (tariff: NewTariff, known: Tariff | undefined) =>
  known !== undefined && known.pricingModel === tariff.pricingModel && wordsOf(known.steps) === wordsOf(tariff.steps)

const wordsOf = (steps: TariffStep[]) =>
  steps.map(({ from, price, priceMauBatch }) => `${from}:${price}:${priceMauBatch}`).join()

function readTariffs(rows: TariffRow[]): NewTariff[] {
  const tariffs = rows.map((row, index) => readTariff(row, placeIn(row, `Tariff ${index + 1}`)))
  const places = new Set<string>()
  for (const place of tariffs.map(placeOf)) {
    if (places.has(place)) throw new UsageError(`There are two tariffs for ${place}.`)
    places.add(place)
  }
  return tariffs
}

/** Where in the file a mistake is: the line of a CSV file, else which tariff of the list. */
const placeIn = ({ line }: { line?: number }, otherwise: string) => (line === undefined ? otherwise : `line ${line}`)

function readTariff(row: TariffRow, where: string): NewTariff {
  const senderType = oneOf<SenderType>(row.senderType, senderTypes, `${where}: senderType`)
  const pricingModel = oneOf<PricingModel>(row.pricingModel, pricingModels, `${where}: pricingModel`)
  return {
    senderType,
    brand: row.brand ? oneOf(row.brand, brands, `${where}: brand`) : null,
    trafficType: row.trafficType ? oneOf<TrafficType>(row.trafficType, trafficTypes, `${where}: trafficType`) : null,
    pricingModel,
    steps: readSteps(row.steps, pricingModel, where),
  }
}

function oneOf<T extends string>(value: string, known: readonly T[], what: string): T {
  if (!known.includes(value as T)) throw new UsageError(`${what} "${value}" is none of ${known.join(', ')}.`)
  return value as T
}

/** Steps in rising order, the first from 0 or 1; a fixed price has one, and only MAU has packages. */
function readSteps(rows: TariffRow['steps'], pricingModel: PricingModel, where: string): TariffStep[] {
  const steps = rows.map(row => readStep(row, where)).sort((a, b) => a.from - b.from)
  if (steps.length === 0) throw new UsageError(`${where}: has no steps.`)
  if (steps[0]!.from > 1) throw new UsageError(`${where}: the first step must be from 0 or 1.`)
  if (new Set(steps.map(({ from }) => Math.max(from, 1))).size < steps.length) {
    throw new UsageError(`${where}: two steps begin at the same count.`)
  }
  if (pricingModel === 'FIXED' && steps.length > 1) throw new UsageError(`${where}: a FIXED tariff has one step.`)
  if (pricingModel !== 'MAU' && steps.some(({ priceMauBatch }) => priceMauBatch !== null)) {
    throw new UsageError(`${where}: only a MAU tariff has priceMauBatch.`)
  }
  return steps
}

function readStep(row: TariffRow['steps'][number], tariff: string): TariffStep {
  const { from, price, priceMauBatch } = row
  const where = placeIn(row, tariff)
  if (!/^\d{1,15}$/.test(String(from))) throw new UsageError(`${where}: from "${from}" is not a count.`)
  const hasPackage = priceMauBatch !== undefined && priceMauBatch !== null && priceMauBatch !== ''
  return {
    from: Number(from),
    price: readAmount(price, MOST_FOR_PART, `${where}: price`),
    priceMauBatch: hasPackage ? readAmount(priceMauBatch, MOST_FOR_PACKAGE, `${where}: priceMauBatch`) : null,
  }
}

/** Far above any real price, and low enough that the sum of a large dispatch fits into the database. */
const MOST_FOR_PART = money('1000000')
const MOST_FOR_PACKAGE = money('1000000000')

/** The amount as it is written: digits with at most four places. Rounding would change a price without a word. */
function readAmount(value: number | string, most: Money, what: string): Money {
  const amount = /^\d{1,15}(\.\d{1,4})?$/.test(String(value)) ? money(value) : undefined
  if (amount !== undefined && amount <= most) return amount
  throw new UsageError(
    `${what} "${value}" is not an amount from 0 to ${wholeOf(most)} with at most four places, such as 5.90.`,
  )
}

const wholeOf = (amount: Money) => formatMoney(amount).split('.')[0]

/**
 * A file of tariffs: JSON, a list of rows, or CSV with a line a step under the heading
 * `senderType,brand,trafficType,pricingModel,from,price,priceMauBatch`.
 */
export function readTariffFile(text: string): TariffRow[] {
  const content = text.trim()
  return content.startsWith('[') ? readJson(content) : readCsv(content)
}

function readJson(content: string): TariffRow[] {
  try {
    const rows: TariffRow[] = JSON.parse(content)
    if (rows.every(row => Array.isArray(row.steps) && row.steps.every(step => step instanceof Object))) return rows
  } catch {}
  throw new UsageError('The file is not a JSON list of tariffs with their steps.')
}

const COLUMNS = ['senderType', 'brand', 'trafficType', 'pricingModel', 'from', 'price', 'priceMauBatch'] as const

function readCsv(content: string): TariffRow[] {
  const [heading = '', ...rest] = content.split(/\r?\n/)
  const lines = rest.map((text, index) => ({ text, line: index + 2 })).filter(({ text }) => text.trim() !== '')
  const separator = heading.includes(';') ? ';' : ','
  const names = fieldsOf(heading, separator)
  const missing = COLUMNS.find(name => name !== 'priceMauBatch' && !names.includes(name))
  if (missing) throw new UsageError(`The heading of the file has no ${missing}: it must be ${COLUMNS.join(separator)}.`)
  const tariffs = new Map<string, TariffRow>()
  for (const { text, line } of lines) {
    const fields = fieldsOf(text, separator)
    const field = (name: (typeof COLUMNS)[number]) => fields[names.indexOf(name)] ?? ''
    const key = COLUMNS.slice(0, 4).map(field).join('/')
    const tariff = tariffs.get(key) ?? tariffOf(line, field)
    tariff.steps.push({ line, from: field('from'), price: field('price'), priceMauBatch: field('priceMauBatch') })
    tariffs.set(key, tariff)
  }
  return [...tariffs.values()]
}

const tariffOf = (line: number, field: (name: (typeof COLUMNS)[number]) => string): TariffRow => ({
  line,
  senderType: field('senderType'),
  brand: field('brand'),
  trafficType: field('trafficType'),
  pricingModel: field('pricingModel'),
  steps: [],
})

/** No value of a tariff has a separator in it; quotes around one are taken off. */
const fieldsOf = (line: string, separator: string) =>
  line.split(separator).map(field => field.trim().replace(/^"(.*)"$/, '$1'))
