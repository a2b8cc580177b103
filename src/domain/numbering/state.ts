import { invalidField, notFound } from '../../base/errors.ts'
import { foreignCountryOf, isRussian, normaliseNumber } from '../../base/phone/phone-number.ts'
import type { Sql } from '../../db/sql.ts'
import { brandFinder, type Carrier, type Operator } from './brand.ts'
import { codeOf } from './lookup.ts'
import { includedPlan } from './plan.ts'
import { regionOf } from './region.ts'
import { CODE_SIZE, numberOf, type PlanRange } from './register.ts'
import * as store from './store.ts'

export type OperatorNumbers = Operator & { brandId: number; numbers: number; ranges: number }

export type NumberingState = {
  version: number
  /** Codes of which ranges were imported, and codes that the carried plan serves. */
  importedCodes: number
  carriedCodes: number
  ranges: number
  ported: number
  sources: { kind: 'register' | 'ported'; name: string; importedAt: Date }[]
  /** Ordered by the count of numbers, highest first. */
  operators: OperatorNumbers[]
  virtual: Carrier[]
}

/** What the numbering plan is made of. */
export async function describeNumbering(sql: Sql): Promise<NumberingState> {
  const imported = (await store.findImportedCodes(sql)).map(({ code }) => code)
  const codes = new Set(imported)
  const carried = includedPlan().filter(range => !codes.has(codeOf(range.first)))
  const virtual = await store.findVirtualOperators(sql)
  const sources = await store.findSources(sql)
  const holdings = holdingsOf(await store.findOperatorNumbers(sql), carried)
  const brandOfOperator = brandFinder(virtual)
  return {
    version: await store.findVersion(sql),
    importedCodes: imported.length,
    carriedCodes: new Set(carried.map(range => codeOf(range.first))).size,
    ranges: holdings.reduce((sum, { ranges }) => sum + ranges, 0),
    ported: sources.find(({ kind }) => kind === 'ported')?.entries ?? (await store.countPorted(sql)),
    sources: sources.map(({ kind, name, importedAt }) => ({ kind, name, importedAt })),
    operators: holdings
      .map(holding => ({ ...holding, brandId: brandOfOperator(holding) }))
      .sort((a, b) => b.numbers - a.numbers),
    virtual: [...virtual].sort((a, b) => a.name.localeCompare(b.name, 'ru')),
  }
}

type Counted = Omit<OperatorNumbers, 'brandId'>

function holdingsOf(imported: readonly Counted[], carried: PlanRange[]): Counted[] {
  const holdings = new Map(
    imported.map(({ inn, name, numbers, ranges }) => [`${inn} ${name}`, { inn, name, numbers, ranges }]),
  )
  for (const { operator, first, last } of carried) {
    const key = `${operator.inn} ${operator.name}`
    const holding = holdings.get(key) ?? { ...operator, numbers: 0, ranges: 0 }
    holdings.set(key, { ...holding, numbers: holding.numbers + last - first + 1, ranges: holding.ranges + 1 })
  }
  return [...holdings.values()]
}

export type FoundNumber =
  | { kind: 'foreign'; digits: string; country: string }
  | {
      kind: 'russian'
      digits: string
      /** null: no operator has this range. A ported number exists even then. */
      range: { first: number; last: number; operator: Operator; brandId: number; region: string; zone: string } | null
      /** Of the carried plan, not of an imported register. */
      isCarried: boolean
      /** The brand that it was ported to. */
      portedTo: number | null
    }

/** Finds the operator of a number in the database. Processes know a change a few seconds later. */
export async function lookUpNumber(sql: Sql, raw: string): Promise<FoundNumber> {
  const digits = normaliseNumber(raw)
  if (digits === undefined) throw invalidField('number', 'is not a telephone number')
  if (!isRussian(digits)) {
    const country = foreignCountryOf(digits)
    if (!country) throw notFound('Number')
    return { kind: 'foreign', digits, country }
  }
  const number = Number(digits)
  const codes = await store.findImportedCodes(sql)
  const isCarried = !codes.some(({ code }) => code === codeOf(number))
  const range = isCarried ? carriedRange(number) : await importedRange(sql, number)
  const brandOfOperator = brandFinder(await store.findVirtualOperators(sql))
  const [ported] = await store.findPortedNumber(sql, number)
  return {
    kind: 'russian',
    digits,
    range: range && describe(range, brandOfOperator),
    isCarried,
    portedTo: ported?.brandId ?? null,
  }
}

/** The ranges of a code as they are in use, in order. */
export async function rangesOfCode(sql: Sql, code: number, isImported: boolean): Promise<PlanRange[]> {
  const [first, last] = [numberOf(String(code), 0), numberOf(String(code), CODE_SIZE - 1)]
  return isImported
    ? (await store.findPresentRanges(sql, first, last)).map(rangeOf)
    : includedPlan().filter(range => range.first >= first && range.last <= last)
}

export const rangeOf = ({ first, last, inn, name, region }: store.NamedRange): PlanRange => ({
  first,
  last,
  region,
  operator: { inn, name },
})

const carriedRange = (number: number) =>
  includedPlan().find(({ first, last }) => first <= number && last >= number) ?? null

async function importedRange(sql: Sql, number: number): Promise<PlanRange | null> {
  const [found] = await store.findRangeAt(sql, number)
  if (!found || found.last < number) return null
  return rangeOf(found)
}

function describe({ first, last, operator, region }: PlanRange, brandOfOperator: (operator: Operator) => number) {
  const { name, zone } = regionOf(region)
  return { first, last, operator, brandId: brandOfOperator(operator), region: name, zone }
}
