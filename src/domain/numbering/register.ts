import { UsageError } from '../../base/errors.ts'
import { withFormula, withoutFormula } from '../../base/formula.ts'
import type { Operator } from './brand.ts'
import { regionCodeOf, regionOf } from './region.ts'

/** Subscribers of a code: 7 code 0000000 to 7 code 9999999. */
export const CODE_SIZE = 10_000_000
const RUSSIA = 7_000 * CODE_SIZE

/** Consecutive numbers of one code, with their operator and the code of their region. */
export interface PlanRange {
  first: number
  last: number
  operator: Operator
  region: string
}

/**
 * One line of the register as it is published: code, first, last, capacity, operator, region, territory, INN.
 * Files from before the territories were added have one column less.
 */
export function readRegisterLine(line: string): PlanRange {
  const columns = line.split(';').map(column => withFormula(unquoted(column)))
  if (columns.length !== 8 && columns.length !== 7) throw new UsageError('must have 8 columns separated by ";"')
  const [code, from, to, , name] = columns as [string, string, string, string, string]
  const operator = { name: nameOf(name), inn: innOf(columns.at(-1)!) }
  return { ...boundsOf(code, from, to), operator, region: regionIn(columns.slice(5, -1)) }
}

/** The line that is read as this range. */
export function registerLineOf({ first, last, operator, region }: PlanRange): string {
  const { name } = regionOf(region)
  const columns = [codeIn(first), subscriberIn(first), subscriberIn(last), last - first + 1, operator.name, name, name]
  return [...columns, operator.inn].map(column => quoted(withoutFormula(String(column)))).join(';')
}

const codeIn = (number: number) => Math.floor((number - RUSSIA) / CODE_SIZE)
const subscriberIn = (number: number) => String(number % CODE_SIZE).padStart(7, '0')

/** Names have quotes inside; only those around a whole column would be taken away. */
const quoted = (column: string) => (/^".*"$/.test(column) ? `"${column.replaceAll('"', '""')}"` : column)

const unquoted = (column: string) => (/^".*"$/.test(column) ? column.slice(1, -1).replaceAll('""', '"') : column).trim()

function boundsOf(code: string, from: string, to: string) {
  if (!/^[3489]\d\d$/.test(code)) throw new UsageError(`"${code}" is not a code of the Russian plan`)
  const first = numberAt(code, from)
  const last = numberAt(code, to)
  if (last < first) throw new UsageError(`the range ends (${to}) before it begins (${from})`)
  return { first, last }
}

function numberAt(code: string, subscriber: string): number {
  if (!/^\d{7}$/.test(subscriber)) throw new UsageError(`"${subscriber}" is not a subscriber number of 7 digits`)
  return numberOf(code, Number(subscriber))
}

export const numberOf = (code: string, subscriber: number): number => RUSSIA + Number(code) * CODE_SIZE + subscriber

function nameOf(name: string): string {
  if (name === '') throw new UsageError('the operator has no name')
  return name.replace(/\s+/g, ' ')
}

function innOf(inn: string): string {
  if (!/^(\d{10}|\d{12}|)$/.test(inn)) throw new UsageError(`"${inn}" is not an INN of 10 or 12 digits`)
  return inn
}

/** The territory is written in one way, the older region column in many; a region we do not know keeps its words. */
function regionIn(columns: string[]): string {
  const words = columns.findLast(column => column !== '' && column !== '-')
  if (!words) throw new UsageError('the region is missing')
  return columns.map(regionCodeOf).findLast(code => code !== undefined) ?? words
}
