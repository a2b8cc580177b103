import { type TrafficType, trafficTypes } from '../../base/channel-types.ts'
import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { brands } from '../numbering/brand.ts'
import { partnerWithLogin } from '../partners/partners.ts'
import { type SenderType, senderTypes } from '../senders/sender.ts'
import { MOST_FOR_PACKAGE, MOST_FOR_PART, readAmount } from './amount.ts'
import { changeBook, GENERAL, type NewTariff } from './book.ts'
import { type PricingModel, placeKey, pricingModels, type Tariff, type TariffStep } from './tariff.ts'

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

/**
 * Brings in the tariffs of a partner, or without a partner the general ones: all of them, or none when one cannot be
 * read. A tariff takes the place of the one for the same sender type, brand and traffic type; tariffs that the file does
 * not name stay, and so does a change that was planned for a later day. Messages keep the tariff they were accepted
 * under, and a tariff that takes another's place begins to count at 0. An unchanged tariff
 * is not replaced and continues to count.
 */
export async function importTariffs(pool: Pool, login: string | undefined, rows: TariffRow[]): Promise<TariffImport> {
  const tariffs = readTariffs(rows)
  const partner = login === undefined ? GENERAL : await requirePartner(pool, login)
  return pool.begin(async sql => {
    const { added, replaced, unchanged } = await changeBook(sql, partner, { tariffs })
    return { added: added.length, replaced: replaced.length, unchanged: unchanged.length }
  })
}

async function requirePartner(sql: Sql, login: string) {
  const partner = await partnerWithLogin(sql, login)
  if (!partner) throw new UsageError(`There is no partner "${login}": \`tidings partner list\` shows them.`)
  return partner
}

function readTariffs(rows: TariffRow[]): NewTariff[] {
  const tariffs = rows.map((row, index) => readTariff(row, placeIn(row, `Tariff ${index + 1}`)))
  const places = new Set<string>()
  for (const place of tariffs.map(placeKey)) {
    if (places.has(place)) throw new UsageError(`There are two tariffs for ${place}.`)
    places.add(place)
  }
  return tariffs
}

/** The tariffs of a file, and the mistakes in its other rows. */
export function checkTariffs(rows: TariffRow[]): { tariffs: NewTariff[]; wrong: string[] } {
  const places = new Set<string>()
  const wrong: string[] = []
  const tariffs = rows.flatMap((row, index) => {
    const where = placeIn(row, `Tariff ${index + 1}`)
    try {
      const tariff = readTariff(row, where)
      if (places.has(placeKey(tariff))) throw new UsageError(`${where}: there are two tariffs for ${placeKey(tariff)}.`)
      places.add(placeKey(tariff))
      return [tariff]
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      wrong.push(error.message)
      return []
    }
  })
  return { tariffs, wrong }
}

/** Where in the file a mistake is: the line of a CSV file, else which tariff of the list. */
const placeIn = ({ line }: { line?: number }, otherwise: string) => (line === undefined ? otherwise : `line ${line}`)

export function readTariff(row: TariffRow, where: string): NewTariff {
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

/** The tariffs as a CSV file that can be imported again. */
export function writeTariffFile(tariffs: readonly Tariff[]): string {
  const lines = tariffs.flatMap(({ senderType, brand, trafficType, pricingModel, steps }) =>
    steps.map(({ from, price, priceMauBatch }) =>
      [senderType, brand, trafficType, pricingModel, from, amount(price), amount(priceMauBatch)]
        .map(value => value ?? '')
        .join(','),
    ),
  )
  return [COLUMNS.join(','), ...lines, ''].join('\r\n')
}

const amount = (value: Money | null) => (value === null ? null : formatMoney(value))

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
