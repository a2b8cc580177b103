import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'
import { readRows } from '../src/commands/send/csv.ts'
import { IngestQueue } from '../src/http/ingest-queue.ts'
import { type Figure, inTurn, median } from './figures.ts'

export const name = 'libraries'
export const about = 'our own code beside packages: CSV, caches, queues'

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
    { what: 'rows of CSV, to csv-parse', value: csv.ratio, unit: '', target: { least: 1.1 } },
    { what: 'insertions, lru-cache', value: cache.ours, unit: 'entries/s' },
    { what: 'insertions, Map that deletes its oldest entry', value: cache.floor, unit: 'entries/s' },
    { what: 'insertions, to the Map', value: cache.ratio, unit: '', target: { least: 1 } },
    ...(await besidePQueue()),
  ]
}

// Speed and processor time --------------------------------------------------------------------------------------------

type Cost = { perSecond: number; micros: number }

/** Speed and processor time of ours and of the package, in turn. The first round warms up and does not count. */
async function compared(what: string, unit: string, ours: () => Promise<Cost>, theirs: () => Promise<Cost>) {
  const rounds: { ours: Cost; theirs: Cost }[] = []
  for (let i = 0; i <= ROUNDS; i++) rounds.push({ ours: await ours(), theirs: await theirs() })
  const counted = rounds.slice(1)
  const middle = (figure: (round: (typeof rounds)[number]) => number) => median(counted.map(figure))
  return [
    { what: `${what}, ours`, value: middle(round => round.ours.perSecond), unit: `${unit}s/s` },
    { what: `${what}, the package`, value: middle(round => round.theirs.perSecond), unit: `${unit}s/s` },
    { what: `${what}, ratio`, value: middle(({ ours, theirs }) => ours.perSecond / theirs.perSecond), unit: '' },
    { what: `${what}, processor time, ours`, value: middle(round => round.ours.micros), unit: `µs/${unit}` },
    { what: `${what}, processor time, the package`, value: middle(round => round.theirs.micros), unit: `µs/${unit}` },
    {
      what: `${what}, ratio of processor time`,
      value: middle(({ ours, theirs }) => ours.micros / theirs.micros),
      unit: '',
    },
  ]
}

async function costOf(count: number, work: () => Promise<unknown>): Promise<Cost> {
  const [begun, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  return { perSecond: (count * 1000) / (performance.now() - begun), micros: (user + system) / count }
}

/** Runs `step` `count` times, `atOnce` at a time. */
async function repeatedly(count: number, atOnce: number, step: () => Promise<unknown>) {
  let left = count
  const loop = async () => {
    while (left-- > 0) await step()
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
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

// Queues --------------------------------------------------------------------------------------------------------------

const TASKS = 200_000
const RUNNING = 6
const CLIENTS = 100

/** The closest of our queues: a limit of running work, a limit of waiting work, and clients that leave. */
function besidePQueue(): Promise<Figure[]> {
  return compared(
    'queue',
    'task',
    () => {
      const queue = new IngestQueue(RUNNING)
      return costOf(TASKS, () => repeatedly(TASKS, CLIENTS, () => queue.run(aReply(), aTask)))
    },
    () => {
      const queue = new PQueue({ concurrency: RUNNING })
      return costOf(TASKS, () => repeatedly(TASKS, CLIENTS, () => runIn(queue, aReply())))
    },
  )
}

const aTask = async () => {}
const aReply = () => ({ raw: new EventEmitter(), request: { rawBody: Buffer.alloc(0) } })

async function runIn(queue: PQueue, { raw }: ReturnType<typeof aReply>) {
  if (queue.size >= CLIENTS) throw new Error('too many tasks wait')
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  raw.once('close', leave)
  try {
    await queue.add(aTask, { signal: leaving.signal })
  } finally {
    raw.off('close', leave)
  }
}
