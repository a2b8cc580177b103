import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { UsageError } from '../base/errors.ts'
import { copyInto, copyRow } from './copy.ts'
import { migrate, newestVersion, refuseFormerSchema, versionOf } from './migrate.ts'
import { waitWithoutEnd } from './patience.ts'
import { dumpTable } from './schema-dump.ts'
import type { Pool, Sql, Transaction } from './sql.ts'

/**
 * Exports a whole database to one file and imports it: for another major version of PostgreSQL, or to move from the
 * embedded server to another one. The embedded packages contain no pg_dump. The migrations create the schema up to the
 * version of the file, and COPY fills it.
 *
 * The file is compressed with gzip and consists of records. A record has two lengths of four bytes, JSON that describes
 * it, and data of COPY in the text format, which every version of PostgreSQL reads.
 */
type Meta =
  | { kind: 'begin'; format: number; schemaVersion: number; secret: string }
  | { kind: 'partition'; name: string; parent: string; bound: string; options: string[] }
  /** A table that no migration creates: a detached month. */
  | { kind: 'definition'; name: string; text: string }
  | { kind: 'table'; name: string; columns: string[] }
  | { kind: 'rows' }
  | { kind: 'sequence'; name: string; value: number }
  | { kind: 'end'; counts: Record<string, number> }

type Progress = (table: string, rows: number) => void

export type Transferred = { tables: number; rows: number }

// Export ----------------------------------------------------------------------------------------------------------

/**
 * The format of the file. Files of format 1 were written before the first release: their schema versions count the
 * former migrations, and this program cannot create those tables.
 */
const FORMAT = 2

/** Writes all data of one moment. The service may work meanwhile. */
export async function exportDatabase(
  pool: Pool,
  secret: string,
  to: NodeJS.WritableStream,
  progress: Progress = () => {},
): Promise<Transferred> {
  let done: Transferred | undefined
  async function* records(sql: Transaction) {
    const counts: Record<string, number> = {}
    yield record({ kind: 'begin', format: FORMAT, schemaVersion: await versionOf(sql), secret: markOf(secret) })
    for (const meta of await partitionsIn(sql)) yield record(meta)
    for (const { name, columns, text } of await tablesIn(sql)) {
      if (text) yield record({ kind: 'definition', name, text })
      yield record({ kind: 'table', name, columns })
      counts[name] = 0
      for await (const piece of copyOut(sql, name, columns)) {
        counts[name]! += linesIn(piece)
        progress(name, counts[name]!)
        yield record({ kind: 'rows' }, piece)
      }
    }
    for (const meta of await sequencesIn(sql)) yield record(meta)
    yield record({ kind: 'end', counts })
    done = { tables: Object.keys(counts).length, rows: sumOf(counts) }
  }
  await refuseFormerSchema(pool)
  await pool.begin('isolation level repeatable read read only', async sql => {
    await waitWithoutEnd(sql as Transaction) // writing to a slow disk may take long
    await pipeline(() => records(sql as Transaction), createGzip({ level: 1 }), to)
  })
  return done!
}

function record(meta: Meta, payload: Buffer = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(JSON.stringify(meta))
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(json.length, 0)
  lengths.writeUInt32BE(payload.length, 4)
  return Buffer.concat([lengths, json, payload])
}

/** Enough to detect another secret, and not enough to guess the secret. */
const markOf = (secret: string) => createHash('sha256').update(`export:${secret}`).digest('hex').slice(0, 8)

async function partitionsIn(sql: Sql): Promise<Meta[]> {
  const found = await sql<{ name: string; parent: string; bound: string; options: string[] | null }[]>`
    select quote_ident(c.relname) as name, quote_ident(p.relname) as parent,
      pg_get_expr(c.relpartbound, c.oid) as bound, c.reloptions as options
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relispartition
    order by c.relname`
  return found.map(one => ({ kind: 'partition', ...one, options: one.options ?? [] }))
}

type Table = { oid: number; name: string; columns: string[]; text: string | undefined }

/**
 * Tables that others reference come first. A sharded database lacks the references to `partners` and `companies` from tables in other
 * places, so these two come first of all. The table of migrations is left out, because the file has the version.
 */
async function tablesIn(sql: Sql): Promise<Table[]> {
  const found = await sql<{ oid: number; name: string; columns: string[]; isDetached: boolean }[]>`
    select c.oid::int, quote_ident(c.relname) as name,
      array(select quote_ident(attname)::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
      c.relname ~ '^messages_[0-9]{4}_[0-9]{2}$' as is_detached
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('schema_migrations', 'schema_compatibility')
    order by c.relname <> 'partners', c.relname <> 'companies', c.relname`
  const tables: Table[] = []
  for (const { isDetached, ...table } of found) {
    const text = isDetached ? await dumpTable(sql, { ...table, partitioning: null }) : undefined
    tables.push({ ...table, text })
  }
  return inOrderOf(await referencesIn(sql), tables)
}

type Reference = { from: number; to: number }

const referencesIn = (sql: Sql) => sql<Reference[]>`
  select conrelid::int as "from", confrelid::int as "to"
  from pg_constraint where contype = 'f' and conparentid = 0 and conrelid <> confrelid`

function inOrderOf(references: Reference[], tables: Table[]): Table[] {
  const ordered: Table[] = []
  const visit = (table: Table) => {
    if (ordered.includes(table)) return
    for (const { to } of references.filter(({ from }) => from === table.oid)) {
      visit(tables.find(({ oid }) => oid === to)!)
    }
    ordered.push(table)
  }
  tables.forEach(visit)
  return ordered
}

async function* copyOut(sql: Transaction, table: string, columns: string[]): AsyncGenerator<Buffer> {
  if (table === 'simulator_batches') return yield* outboxWithoutCodes(sql, columns)
  const values = table === 'simulator_messages' ? columns.map(withoutDigits) : columns
  const query = sql.unsafe(`copy (select ${values.join(', ')} from ${table}) to stdout`)
  for await (const piece of await query.readable()) yield piece as Buffer
}

/** What older programs wrote: any of the texts may have a code. */
const withoutDigits = (column: string) => (column === 'text' ? "regexp_replace(text, '[0-9]', '*', 'g')" : column)

type Batch = { batchId: number; messages: string; values: (string | null)[] }
type Simulated = { companyId: number; uuid: string; text: string }

const BATCHES_AT_ONCE = 10

/** The simulated operators store verification codes in clear text; the file must not contain them. */
async function* outboxWithoutCodes(sql: Transaction, columns: string[]): AsyncGenerator<Buffer> {
  const values = columns.map(column => `${column}::text`).join(', ')
  const messages = columns.indexOf('messages')
  for (let after = 0; ; ) {
    const batches = await sql.unsafe<Batch[]>(
      `select batch_id, messages, array[${values}] as values
      from simulator_batches where batch_id > $1 order by batch_id limit ${BATCHES_AT_ONCE}`,
      [after],
    )
    const last = batches.at(-1)
    if (!last) return
    const own = batches.map(batch => JSON.parse(batch.messages) as Simulated[])
    const shown = await shownTexts(sql, own.flat())
    const rows = batches.map(({ values }, i) => copyRow(values.with(messages, JSON.stringify(own[i]!.map(shown)))))
    yield Buffer.from(rows.join(''))
    after = last.batchId
  }
}

type Sent = { uuid: string; text: string; isCode: boolean }

/**
 * The messages as the file may contain them. A message that no longer exists here may have been a code, too. The messages
 * are read company by company, because in a sharded database they are on other nodes.
 */
async function shownTexts(sql: Transaction, page: Simulated[]) {
  const messages = new Map<string, Sent>()
  for (const [companyId, own] of Map.groupBy(page, one => one.companyId)) {
    const found = await sql<Sent[]>`
      select message_uuid as uuid, text, coalesce(sending_method like 'VERIFIER%', false) as is_code from messages
      where company_id = ${companyId} and message_uuid = any(${own.map(({ uuid }) => uuid)}::uuid[])`
    for (const message of found) messages.set(message.uuid, message)
  }
  return (one: Simulated): Simulated => {
    const message = messages.get(one.uuid)
    if (!message) return { ...one, text: one.text.replaceAll(/[0-9]/g, '*') }
    return message.isCode ? { ...one, text: message.text } : one
  }
}

/** COPY writes a line break inside a value as \n, so that each real one ends a row. */
function linesIn(piece: Buffer): number {
  let lines = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1
  return lines
}

async function sequencesIn(sql: Sql): Promise<Meta[]> {
  const used = await sql<{ name: string; value: number }[]>`
    select quote_ident(sequencename) as name, last_value as value
    from pg_sequences where schemaname = 'public' and last_value is not null`
  return used.map(one => ({ kind: 'sequence', ...one }))
}

const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0)

// Import ----------------------------------------------------------------------------------------------------------

/**
 * Fills an empty database completely or not at all. Only the empty tables are committed before the last row is written
 * and counted, so a failed import can be repeated.
 */
export async function importDatabase(
  pool: Pool,
  secret: string,
  from: Readable,
  progress: Progress = () => {},
): Promise<Transferred> {
  const source = new Records(from)
  const begin = await source.next()
  if (begin.meta.kind !== 'begin') throw damaged()
  const { schemaVersion } = begin.meta
  await refuseUnfit(pool, begin.meta, secret)
  await migrate(pool, { upTo: schemaVersion })
  const done = await pool.begin(sql => load(sql, source, progress))
  await migrate(pool)
  await pool`analyze`
  return done as Transferred
}

async function refuseUnfit(sql: Pool, begin: Meta & { kind: 'begin' }, secret: string) {
  const [ours, theirs] = [await newestVersion(), begin.schemaVersion]
  if (begin.format < FORMAT) {
    throw new UsageError('The file was written by a Tidings from before the first release: this one cannot import it.')
  }
  if (begin.format > FORMAT || theirs > ours) {
    throw new UsageError('The file was written by a newer Tidings than this one: update Tidings first.')
  }
  if (begin.secret !== markOf(secret)) {
    throw new UsageError(
      'The file was written under another secret, and its encrypted values could not be opened: put the `secret` file of the former data folder into the new one, or set TIDINGS_SECRET to it.',
    )
  }
  await refuseFormerSchema(sql)
  const here = await versionOf(sql)
  if (here === 0) return
  const [row] = await sql<{ used: boolean }[]>`select exists (select from partners) as used`
  if (row!.used)
    throw new UsageError('The database already has Tidings data: a file is imported into an empty database.')
  if (here > theirs) {
    throw new UsageError(
      'The tables of this database are newer than the file: import it into a database without tables.',
    )
  }
}

async function load(sql: Transaction, source: Records, progress: Progress): Promise<Transferred> {
  await waitWithoutEnd(sql) // reading from a slow disk may take long
  await emptyTables(sql)
  for (;;) {
    const { meta } = await source.next()
    if (meta.kind === 'partition') await makePartition(sql, meta)
    else if (meta.kind === 'definition') await sql.unsafe(meta.text)
    else if (meta.kind === 'table') await fill(sql, meta, source, progress)
    else if (meta.kind === 'sequence') await sql`select setval(${meta.name}::regclass, ${meta.value})`
    else if (meta.kind === 'end') return await compare(sql, meta.counts)
    else throw damaged()
  }
}

/** Removes the rows that the migrations created: the file contains them. */
async function emptyTables(sql: Transaction) {
  const tables = await tablesIn(sql)
  await sql.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`)
}

async function makePartition(sql: Transaction, { name, parent, bound, options }: Meta & { kind: 'partition' }) {
  const [row] = await sql<{ exists: boolean }[]>`select to_regclass(${name}) is not null as exists`
  if (row!.exists) return
  const storage = options.length > 0 ? `with (${options.join(', ')})` : ''
  const like = `like ${parent} including defaults including constraints including storage`
  await sql.unsafe(`create table ${name} (${like}) ${storage}`)
  await sql.unsafe(`alter table ${parent} attach partition ${name} ${bound}`)
  if (parent === 'audit_entries') await sql`select protect_audit_month(${name})`
}

async function fill(
  sql: Transaction,
  { name, columns }: Meta & { kind: 'table' },
  source: Records,
  progress: Progress,
) {
  let rows = 0
  await copyInto(sql, name, columns, async write => {
    while ((await source.peek()).meta.kind === 'rows') {
      const { payload } = await source.next()
      await write(payload)
      rows += linesIn(payload)
      progress(name, rows)
    }
  })
}

async function compare(sql: Transaction, counts: Record<string, number>): Promise<Transferred> {
  for (const [name, expected] of Object.entries(counts)) {
    const [row] = await sql.unsafe<{ count: number }[]>(`select count(*) from ${name}`)
    if (row!.count !== expected) throw damaged()
  }
  return { tables: Object.keys(counts).length, rows: sumOf(counts) }
}

type FileRecord = { meta: Meta; payload: Buffer }

const LONGEST = 256 * 1024 * 1024

/** Reads record after record. Only one record is in memory. */
class Records {
  readonly #pieces: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  #peeked: FileRecord | undefined

  constructor(from: Readable) {
    const unpacked = createGunzip()
    pipeline(from, unpacked).catch(() => {}) // the iterator throws the error
    this.#pieces = unpacked[Symbol.asyncIterator]()
  }

  async peek(): Promise<FileRecord> {
    this.#peeked ??= await this.#read()
    return this.#peeked
  }

  async next(): Promise<FileRecord> {
    const record = await this.peek()
    this.#peeked = undefined
    return record
  }

  async #read(): Promise<FileRecord> {
    const lengths = await this.#take(8)
    const json = await this.#take(lengths.readUInt32BE(0))
    const payload = await this.#take(lengths.readUInt32BE(4))
    try {
      return { meta: JSON.parse(json.toString()), payload }
    } catch {
      throw damaged()
    }
  }

  async #take(length: number): Promise<Buffer> {
    if (length > LONGEST) throw damaged()
    const pieces: Buffer[] = [this.#rest]
    let size = this.#rest.length
    while (size < length) {
      const { value, done } = await this.#pieces.next().catch(() => ({ value: undefined, done: true }))
      if (done || !value) throw damaged()
      pieces.push(value)
      size += value.length
    }
    const all = Buffer.concat(pieces)
    this.#rest = all.subarray(length)
    return all.subarray(0, length)
  }
}

const damaged = () => new UsageError('The file is no export of Tidings, or it is damaged or incomplete.')
