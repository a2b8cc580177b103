import { randomBytes } from 'node:crypto'
import { afterEach, expect, inject, test } from 'vitest'
import { UsageError } from '../base/errors.ts'
import { countLockWaits, PATIENT } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { databaseUrl } from '../testing/global-setup.ts'
import {
  type Migration,
  migrate,
  pendingMigrations,
  raiseMinimumVersion,
  readMigrations,
  requireSchema,
  schemaVersionsOf,
} from './migrate.ts'
import { connect, type Pool } from './sql.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A database without tables. Every pool to it is closed after the test. */
async function anEmptyDatabase(): Promise<() => Pool> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = connect(inject('serverUrl'), { max: 1 })
  await admin`create database ${admin(name)}`
  cleanups.push(async () => {
    await admin`drop database if exists ${admin(name)} with (force)`
    await admin.end()
  })
  return () => {
    const pool = connect(databaseUrl(inject('serverUrl'), name), { max: 2, ...PATIENT })
    cleanups.push(() => pool.end({ timeout: 1 }))
    return pool
  }
}

const versionsIn = async (sql: Pool) =>
  (await sql<{ version: number }[]>`select version from schema_migrations order by version`).map(row => row.version)

const tablesIn = async (sql: Pool) =>
  (
    await sql<
      { name: string }[]
    >`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`
  )
    .map(({ name }) => name)
    .sort()

const allVersions = async () => (await readMigrations()).map(migration => migration.version)

/** The migrations with another one after them, which no release has. */
async function withNext(text: string): Promise<Migration[]> {
  const migrations = await readMigrations()
  return [...migrations, { version: migrations.length + 1, name: 'pretended', text }]
}

test('the migrations are numbered from 1 without a gap, each with a name', async () => {
  const migrations = await readMigrations()
  expect(migrations.map(migration => migration.version)).toEqual(migrations.map((_, i) => i + 1))
  expect(migrations.every(({ name, text }) => /^[a-z0-9-]+$/.test(name) && text.length > 0)).toBe(true)
})

test('an empty database is brought to the newest version, and a second run has nothing left to do', async () => {
  const sql = (await anEmptyDatabase())()
  expect((await migrate(sql)).map(migration => migration.version)).toEqual(await allVersions())
  expect(await versionsIn(sql)).toEqual(await allVersions())
  expect(await tablesIn(sql)).toContain('messages')

  const before = await sql`select * from schema_migrations order by version`
  expect(await migrate(sql)).toEqual([])
  expect(await sql`select * from schema_migrations order by version`).toEqual(before)
})

test('a database that is some versions behind gets the rest, in order', async () => {
  const sql = (await anEmptyDatabase())()
  const versions = await allVersions()
  await sql`
    create table schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`
  await sql`create table schema_compatibility (only_row boolean primary key default true, minimum_version integer not null)`
  await sql`insert into schema_compatibility (minimum_version) values (0)`
  for (const { version, name, text } of (await readMigrations()).slice(0, 2)) {
    await sql.unsafe(text)
    await sql`insert into schema_migrations (version, name) values (${version}, ${name})`
  }
  expect((await migrate(sql)).map(migration => migration.version)).toEqual(versions.slice(2))
})

test('of several processes that start at once, one migrates; the others wait and find the schema up to date', async () => {
  const open = await anEmptyDatabase()
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(open())))
  expect(applied.map(migrations => migrations.length).sort()).toEqual([0, 0, 0, (await allVersions()).length])
  expect(await versionsIn(open())).toEqual(await allVersions())
})

test('the lock is released after a success and after a failure', async () => {
  const open = await anEmptyDatabase()
  const sql = open()
  await sql`create table operators (in_the_way int)`
  await expect(migrate(sql)).rejects.toThrow()
  await sql`drop table operators`
  await migrate(open())
  const [row] = await sql<{ locks: number }[]>`
    select count(*) as locks from pg_locks where locktype = 'advisory' and database = (
      select oid from pg_database where datname = current_database())`
  expect(row?.locks).toBe(0)
})

test('a schema that needs a newer program is refused in one sentence, and nothing is changed', async () => {
  const sql = (await anEmptyDatabase())()
  await migrate(sql)
  const ours = (await allVersions()).length
  await sql`update schema_compatibility set minimum_version = ${ours + 1}`
  await sql`delete from schema_migrations where version = ${ours}`
  await sql`insert into schema_migrations (version, name) values (${ours + 1}, 'of a newer program')`

  const refusal = await migrate(sql).catch(error => error)
  expect(refusal).toBeInstanceOf(UsageError)
  expect(refusal.message).toBe(
    `The database needs a program of schema version ${ours + 1} or newer; this one is ${ours}. Update tidings.`,
  )
  expect(await versionsIn(sql)).toEqual([...(await allVersions()).slice(0, -1), ours + 1])
  expect((await schemaVersionsOf(sql)).minimum).toBe(ours + 1)
})

test('a minimum version that a killed process has raised without its migration is lowered', async () => {
  const sql = (await anEmptyDatabase())()
  const ours = (await allVersions()).length
  const migrations = await withNext(`-- contract, minimum_version ${ours}\nselect 1`)
  await migrate(sql, { migrations })
  await raiseMinimumVersion(sql, ours + 2)
  await expect(migrate(sql)).rejects.toThrow('Update tidings.') // it does not know the last migration
  expect(await migrate(sql, { migrations })).toEqual([])
  expect((await schemaVersionsOf(sql)).minimum).toBe(ours)
})

test('a schema with newer, compatible versions is used unchanged', async () => {
  const sql = (await anEmptyDatabase())()
  await migrate(sql)
  const ours = (await allVersions()).length
  await sql`update schema_compatibility set minimum_version = ${ours}`
  await sql`insert into schema_migrations (version, name) values (${ours + 1}, 'of a newer program')`
  expect(await migrate(sql)).toEqual([])
})

test('a database from before the first release is refused in one sentence, and nothing is changed', async () => {
  const sql = (await anEmptyDatabase())()
  await sql`create table schema_migrations (version integer primary key, name text not null)`
  await sql`insert into schema_migrations values (1, 'foundation'), (2, 'numbering')`

  const refusal = await migrate(sql).catch(error => error)
  expect(refusal).toBeInstanceOf(UsageError)
  expect(refusal.message).toBe(
    'The database was made by a Tidings from before the first release (its migration 1 is "foundation"), and this Tidings cannot bring it up to date. Use an empty database, or go on with the former Tidings.',
  )
  expect(await versionsIn(sql)).toEqual([1, 2])
  expect(await tablesIn(sql)).toEqual(['schema_migrations'])
})

test('a migration that fails leaves nothing half done: the earlier ones stay, and the next run continues after them', async () => {
  const sql = (await anEmptyDatabase())()
  // The migration `numbering` creates `numbering_version` before it fails at `operators`.
  await sql`create table operators (in_the_way int)`
  await expect(migrate(sql)).rejects.toThrow('relation "operators" already exists')
  expect(await versionsIn(sql)).toEqual([1, 2, 3])
  expect(await tablesIn(sql)).toContain('companies')
  expect(await tablesIn(sql)).not.toContain('numbering_version')

  await sql`drop table operators`
  expect((await migrate(sql)).map(migration => migration.version)).toEqual((await allVersions()).slice(3))
})

test('a migration that waits for a long reader blocks no other statement, and is applied when the reader is done', async () => {
  const open = await anEmptyDatabase()
  const sql = open()
  await migrate(sql)

  const watcher = open()
  await watcher`select 1` // a lock is waited for only a moment: a new connection may come too late to see it
  const reader = Promise.withResolvers<void>()
  const isReading = Promise.withResolvers<void>()
  const reading = open().begin(async tx => {
    await tx`select from messages`
    isReading.resolve()
    await reader.promise
  })
  await isReading.promise
  const migrated = migrate(sql, { migrations: await withNext('alter table messages add column pretended int') })
  await eventually(async () => expect(await countLockWaits(watcher)).toBeGreaterThan(0))
  expect(await open()`select from messages limit 1`).toHaveLength(0)
  reader.resolve()
  await reading
  expect((await migrated).map(({ name }) => name)).toEqual(['pretended'])
})

test('a contracting migration first asks whether older programs run; it is not applied when they do', async () => {
  const sql = (await anEmptyDatabase())()
  await migrate(sql)
  const ours = (await allVersions()).length
  const migrations = await withNext(`-- contract, minimum_version ${ours}\nalter table messages drop column text`)
  const asked: number[] = []
  const refusing = async (minimumVersion: number) => {
    asked.push(minimumVersion)
    throw new UsageError('older programs run')
  }
  await expect(migrate(sql, { migrations, beforeContracting: refusing })).rejects.toThrow('older programs run')
  expect(asked).toEqual([ours])
  expect(await schemaVersionsOf(sql)).toEqual({ version: ours, minimum: 0 })
  await requireSchema(sql, migrations) // the new program works without it

  const beforeContracting = async () => {}
  expect(await migrate(sql, { migrations, beforeContracting })).toHaveLength(1)
  expect(await schemaVersionsOf(sql)).toEqual({ version: ours + 1, minimum: ours })
  expect(await migrate(sql)).toEqual([]) // the program before the migration goes on
})

test('a process that may not migrate refuses a schema without its migrations, and takes a newer schema that allows it', async () => {
  const sql = (await anEmptyDatabase())()
  const sentence = (version: number, needed: number) =>
    `The schema has version ${version}, and this program needs ${needed}: run \`tidings migrate\` first, or set TIDINGS_MIGRATE=true.`
  const ours = (await allVersions()).length
  await expect(requireSchema(sql)).rejects.toThrow(sentence(0, ours))
  await migrate(sql)
  await requireSchema(sql)

  const next = await withNext('create table pretended (id int)')
  await expect(requireSchema(sql, next)).rejects.toThrow(sentence(ours, ours + 1))
  expect((await pendingMigrations(sql, next)).map(({ name }) => name)).toEqual(['pretended'])
  await migrate(sql, { migrations: next })
  await requireSchema(sql)
  await sql`update schema_compatibility set minimum_version = ${ours + 1}`
  await expect(requireSchema(sql)).rejects.toThrow(`schema version ${ours + 1} or newer; this one is ${ours}`)
})

test('of a migration and a request that wait for each other, the migration gives way and is applied later', async () => {
  const open = await anEmptyDatabase()
  const sql = open()
  await migrate(sql)
  await sql.unsafe('create table first (id int); create table second (id int)')
  const migrations = await withNext(
    'alter table first add column a int; select pg_sleep(0.2); alter table second add column a int',
  )
  const watcher = open()
  await watcher`select 1`
  const isHoldingSecond = Promise.withResolvers<void>()
  const isMigrating = Promise.withResolvers<void>()
  const request = open().begin(async tx => {
    await tx`select from second`
    isHoldingSecond.resolve()
    await isMigrating.promise
    return tx`select from first` // waits for the migration, which waits for this transaction
  })
  await isHoldingSecond.promise
  const migrated = migrate(sql, { migrations })
  await eventually(async () => {
    const held = await watcher`
      select from pg_locks where relation = 'first'::regclass and mode = 'AccessExclusiveLock' and granted
        and database = (select oid from pg_database where datname = current_database())`
    expect(held).toHaveLength(1)
  })
  isMigrating.resolve()
  expect(await request).toEqual([])
  expect((await migrated).map(({ name }) => name)).toEqual(['pretended'])
})
