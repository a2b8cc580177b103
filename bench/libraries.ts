import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { LRUCache } from 'lru-cache'
import { readRows } from '../src/commands/send/csv.ts'
import { type Figure, inTurn } from './figures.ts'

export const name = 'libraries'
export const about = 'our CSV reader beside csv-parse, and lru-cache beside a Map that deletes its oldest entry'

const ROUNDS = 3
const ROWS = 500_000
const ENTRIES = 100_000
const INSERTIONS = 150_000

/** The figures of docs/adr/0018-libraries.md. */
export async function run(): Promise<Figure[]> {
  const csv = await inTurn(
    ROUNDS,
    () => rowsPerSecond(readOurs),
    () => rowsPerSecond(readTheirs),
  )
  const cache = await inTurn(
    ROUNDS,
    async () => insertionsPerSecond(fillCache),
    async () => insertionsPerSecond(fillMap),
  )
  return [
    { what: 'rows of CSV, our reader', value: csv.ours, unit: 'rows/s' },
    { what: 'rows of CSV, csv-parse', value: csv.floor, unit: 'rows/s' },
    { what: 'ratio of the readers', value: csv.ratio, unit: '', target: { least: 1.1 } },
    { what: 'insertions, lru-cache', value: cache.ours, unit: 'entries/s' },
    { what: 'insertions, Map that deletes its oldest entry', value: cache.floor, unit: 'entries/s' },
    { what: 'ratio of the caches', value: cache.ratio, unit: '', target: { least: 1 } },
  ]
}

// CSV -----------------------------------------------------------------------------------------------------------------

async function rowsPerSecond(read: () => Promise<number>): Promise<number> {
  const begun = performance.now()
  const fields = await read()
  if (fields !== ROWS * 3) throw new Error(`${fields} fields were read instead of ${ROWS * 3}`)
  return (ROWS * 1000) / (performance.now() - begun)
}

async function readOurs(): Promise<number> {
  let fields = 0
  for await (const row of readRows(file(), ';')) fields += row.fields.length
  return fields
}

/** With the options that do what our reader does: line numbers, and a limit for the length of a row. */
async function readTheirs(): Promise<number> {
  const options = {
    delimiter: ';',
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 100_000,
  }
  let fields = 0
  for await (const { record } of Readable.from(file()).pipe(parse(options))) fields += record.length
  return fields
}

const ROWS_OF_PIECE = 1000

async function* file(): AsyncGenerator<string> {
  for (let first = 0; first < ROWS; first += ROWS_OF_PIECE) {
    yield Array.from(
      { length: ROWS_OF_PIECE },
      (_, i) => `7916${String(first + i).padStart(7, '0')};"Anna; Ivan";${i}\n`,
    ).join('')
  }
}

// Caches --------------------------------------------------------------------------------------------------------------

function insertionsPerSecond(fill: () => number): number {
  const begun = performance.now()
  if (fill() !== ENTRIES) throw new Error('the cache does not keep its bound')
  return (INSERTIONS * 1000) / (performance.now() - begun)
}

function fillCache(): number {
  const cache = new LRUCache<string, number>({ maxSize: ENTRIES, sizeCalculation: () => 1 })
  for (let i = 0; i < INSERTIONS; i++) cache.set(`id ${i}`, i)
  return cache.size
}

function fillMap(): number {
  const map = new Map<string, number>()
  for (let i = 0; i < INSERTIONS; i++) {
    map.set(`id ${i}`, i)
    const [oldest] = map.keys()
    if (map.size > ENTRIES && oldest !== undefined) map.delete(oldest)
  }
  return map.size
}
