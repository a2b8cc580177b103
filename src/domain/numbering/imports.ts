import { invalid, UsageError } from '../../base/errors.ts'
import { isRussian, normaliseNumber } from '../../base/phone/phone-number.ts'
import { copyInto, copyRow } from '../../db/copy.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { brandIds, brands, type Carrier } from './brand.ts'
import { type Entry, entriesOf, type Source } from './lines.ts'
import { regionOf } from './region.ts'
import { type PlanRange, readRegisterLine } from './register.ts'
import * as store from './store.ts'

/** Told after every piece of the file how many entries are read. */
export type OnProgress = (entries: number) => void

/** The name of a file without a name. The state of the numbering shows it. */
const UNNAMED = ''

type ImportOptions = { replace?: boolean; name?: string }

export interface RegisterImport {
  ranges: number
  codes: number
  /** Regions that we do not know, in the register's words; their numbers count as being on Moscow time. */
  unknownRegions: string[]
}

/**
 * Loads a file of the official register: it replaces the ranges of its codes, and ranges of other codes stay.
 * With `replace` the file is the whole register: other codes are served by the carried plan again. All or nothing: a line that cannot be read, a reversed range or an overlap ends it with the line's number.
 */
export async function importRegister(
  sql: Pool,
  source: Source,
  options: ImportOptions = {},
  onProgress?: OnProgress,
): Promise<RegisterImport> {
  return sql.begin(tx => replaceRegister(tx, source, options, onProgress))
}

export async function replaceRegister(
  tx: Transaction,
  source: Source,
  { replace = false, name = UNNAMED }: ImportOptions,
  onProgress?: OnProgress,
) {
  await store.raiseVersion(tx)
  const ranges = await readRegister(tx, source, onProgress)
  await store.replaceRanges(tx, replace)
  await store.saveSource(tx, 'register', name, ranges)
  return { ranges, codes: await store.countCodes(tx), unknownRegions: await findUnknownRegions(tx) }
}

/** Puts the ranges of a file into a temporary table. Answers how many there are. */
export async function readRegister(tx: Transaction, source: Source, onProgress?: OnProgress): Promise<number> {
  await store.createRegisterLines(tx)
  const entries = entriesOf(source, readRegisterLine)
  const ranges = await copyEntries(tx, store.registerLines, entries, registerRow, onProgress)
  refuseEmpty(ranges)
  await refuseOverlap(tx)
  return ranges
}

function registerRow({ line, value: { first, last, operator, region } }: Entry<PlanRange>): string {
  return copyRow([line, first, last, operator.inn, operator.name, region])
}

async function refuseOverlap(tx: Transaction) {
  const overlap = await store.findOverlap(tx)
  if (overlap) throw new UsageError(`line ${overlap.line}: the range overlaps the one of line ${overlap.other}`)
}

export async function findUnknownRegions(tx: Transaction): Promise<string[]> {
  const rows = await store.findRegions(tx)
  return rows.map(row => row.region).filter(region => regionOf(region).name === region)
}

export interface PortedNumber {
  number: string
  brandId: number
}

/**
 * Loads lines `number;brand` of numbers that moved to another network. With `replace` the file is the whole truth:
 * a number it does not list went back to its range. All or nothing, like the register. Answers how many lines the file
 * has, and how many are known now.
 */
export async function importPorted(
  sql: Pool,
  source: Source,
  options: ImportOptions = {},
  onProgress?: OnProgress,
): Promise<{ lines: number; ported: number }> {
  return sql.begin(tx => addPorted(tx, source, options, onProgress))
}

export async function addPorted(
  tx: Transaction,
  source: Source,
  { replace = false, name = UNNAMED }: ImportOptions,
  onProgress?: OnProgress,
) {
  await store.raiseVersion(tx)
  const lines = await readPorted(tx, source, replace, onProgress)
  if (replace) await store.deletePortedNotListed(tx)
  await store.savePorted(tx)
  const ported = await store.countPorted(tx)
  await store.saveSource(tx, 'ported', name, ported)
  return { lines, ported }
}

/** The first line of an exported list of ported numbers. */
export const PORTED_HEADING = 'number;brand'

/**
 * Puts the ported numbers of a file into a temporary table. Answers how many lines it has. A list that replaces all
 * others may be empty, if it has the heading of an export: a file that was cut off before it is refused.
 */
export async function readPorted(
  tx: Transaction,
  source: Source,
  replaces: boolean,
  onProgress?: OnProgress,
): Promise<number> {
  await store.createPortedLines(tx)
  let isExport = false
  const entries = entriesOf(source, readPortedLine, heading => {
    isExport = heading === PORTED_HEADING
  })
  const lines = await copyEntries(tx, store.portedLines, entries, portedRow, onProgress)
  if (!(replaces && isExport)) refuseEmpty(lines)
  return lines
}

export function readPortedLine(line: string): PortedNumber {
  const [raw, name, ...more] = line.split(';') as [string, string | undefined]
  if (name === undefined || more.length > 0) throw new UsageError('must be "number;brand"')
  const number = normaliseNumber(raw)
  if (!number || !isRussian(number)) throw new UsageError(`"${raw}" is not a Russian number`)
  const brandId = brandIdsByName.get(name.trim().toUpperCase())
  if (!brandId) throw new UsageError(`"${name}" is not a brand: must be ${brands.join(', ')}`)
  return { number, brandId }
}

const brandIdsByName = new Map<string, number>(Object.entries(brandIds))

const portedRow = ({ value }: Entry<PortedNumber>) => `${value.number}\t${value.brandId}\n`

async function copyEntries<T>(
  tx: Transaction,
  { table, columns }: { table: string; columns: string[] },
  batches: AsyncIterable<Entry<T>[]>,
  row: (entry: Entry<T>) => string,
  onProgress?: OnProgress,
): Promise<number> {
  let count = 0
  await copyInto(tx, table, columns, async write => {
    for await (const batch of batches) {
      await write(batch.map(row).join(''))
      count += batch.length
      onProgress?.(count)
    }
  })
  return count
}

function refuseEmpty(entries: number) {
  if (entries === 0) throw new UsageError('The file has no entries.')
}

/** Says which network carries a virtual operator; brand 0 takes it out of the four. */
export async function saveVirtualOperator(sql: Pool, carrier: Carrier): Promise<void> {
  await sql.begin(tx => putVirtualOperator(tx, carrier))
}

/** With `before`, refused when the operator has no longer that brand (null: is no longer missing). */
export async function putVirtualOperator(tx: Transaction, carrier: Carrier, before?: number | null): Promise<void> {
  await store.raiseVersion(tx)
  const known = (await store.findVirtualOperators(tx)).find(({ inn }) => inn === carrier.inn)
  if (before !== undefined && (known?.brandId ?? null) !== before)
    throw invalid('Somebody else changed this operator in the meantime: look at it again')
  await store.saveVirtualOperator(tx, carrier)
}
