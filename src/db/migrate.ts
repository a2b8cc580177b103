import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../base/errors.ts'
import { kindOf } from './migration-kind.ts'
import { waitWithoutEnd } from './patience.ts'
import type { Pool, Sql, Transaction } from './sql.ts'

export type Migration = { version: number; name: string; text: string }

export type MigrateOptions = {
  /** The last version to apply. An import needs the schema of the version from which its file was exported. */
  upTo?: number
  /** Tests give migrations of their own. */
  migrations?: Migration[]
  /**
   * Called before a contracting migration. It throws while a running process has a program older than this version, or
   * waits until there is none.
   */
  beforeContracting?: (minimumVersion: number) => Promise<void>
  /** Gives up before the next migration, and between two tries of one. A try that has begun is finished. */
  signal?: AbortSignal
  /** Called after a migration that was given up, when the programs that were told to stop may start again. */
  onLowered?: () => void
}

const folder = new URL('../../migrations/', import.meta.url)
const MIGRATION_LOCK = 7_461_001

/**
 * Brings the schema up to the version of this program. A lock lets one process migrate at a time; each migration has a
 * transaction of its own. A migration only expands or only contracts the schema, so old and new programs run side by
 * side. A contracting migration raises `minimum_version`. A program older than that refuses to start, and stops if it
 * runs (`watchSchema`).
 */
export async function migrate(pool: Pool, options: MigrateOptions = {}): Promise<Migration[]> {
  const { migrations = await readMigrations() } = options
  let applied: Migration[] = []
  await pool.begin(async lock => {
    await waitWithoutEnd(lock) // another process may be migrating, and our own migrations run beside this transaction
    await lock`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await refuseFormerSchema(pool, migrations)
    await createVersionTables(pool)
    await lowerMinimumVersion(pool, migrations) // a process that waited for older programs was killed
    await refuseNewerSchema(pool, newestOf(migrations))
    applied = await applyPending(pool, migrations, options)
    // After a long time without a running engine, the partitions of this month and this day are missing.
    await pool`select ensure_message_months(), ensure_submission_days()`
  })
  return applied
}

async function applyPending(pool: Pool, migrations: Migration[], options: MigrateOptions): Promise<Migration[]> {
  const { upTo = Number.POSITIVE_INFINITY, beforeContracting = async () => {}, signal, onLowered } = options
  const pending = (await pendingOf(pool, migrations)).filter(({ version }) => version <= upTo)
  try {
    for (const migration of pending) {
      signal?.throwIfAborted()
      const change = kindOf(migration)
      if (change.kind === 'contract') await beforeContracting(change.minimumVersion)
      signal?.throwIfAborted() // the wait for older programs may have taken minutes
      await apply(pool, migration, signal)
    }
  } catch (error) {
    // If this fails too, the next `migrate` does it.
    const isLowered = await lowerMinimumVersion(pool, migrations).catch(() => false)
    if (isLowered) onLowered?.()
    throw error
  }
  return pending
}

/** Whether Tidings has ever created its tables here. */
export const isMigrated = async (sql: Sql): Promise<boolean> => (await versionOf(sql)) > 0

/** The version of the schema; 0 where there is none. */
export const versionOf = async (sql: Sql): Promise<number> =>
  Math.max(0, ...(await appliedIn(sql)).map(({ version }) => version))

/** The version of the schema that this program brings. */
export const newestVersion = async (): Promise<number> => Math.max(...(await fileNames()).map(versionInName))

const newestOf = (migrations: Migration[]): number => Math.max(...migrations.map(({ version }) => version))

const fileNames = async () => (await readdir(folder)).filter(name => /^\d{4}-.*\.sql$/.test(name)).sort()

const versionInName = (name: string) => Number(name.slice(0, 4))

export async function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    (await fileNames()).map(async name => ({
      version: versionInName(name),
      name: name.slice(5, -4),
      text: await readFile(new URL(name, folder), 'utf8'),
    })),
  )
}

/**
 * The migrations were written anew before the first release. A database of the former migrations has the same version
 * numbers under other names. It must not get a mixture of both.
 */
export async function refuseFormerSchema(sql: Sql, migrations?: Migration[]): Promise<void> {
  const names = new Map((migrations ?? (await readMigrations())).map(({ version, name }) => [version, name]))
  const other = (await appliedIn(sql)).find(({ version, name }) => (names.get(version) ?? name) !== name)
  if (!other) return
  throw new UsageError(
    `The database was made by a Tidings from before the first release (its migration ${other.version} is "${other.name}"), and this Tidings cannot bring it up to date. Use an empty database, or go on with the former Tidings.`,
  )
}

type Applied = Pick<Migration, 'version' | 'name'>

async function appliedIn(sql: Sql): Promise<Applied[]> {
  const [table] = await sql`select from pg_class where oid = to_regclass('schema_migrations')`
  return table ? sql<Applied[]>`select version, name from schema_migrations order by version` : []
}

async function createVersionTables(sql: Sql) {
  await sql`
    create table if not exists schema_migrations (
      version    integer primary key,
      name       text not null,
      applied_at timestamptz not null default now()
    )`
  await sql`
    create table if not exists schema_compatibility (
      only_row        boolean primary key default true check (only_row),
      minimum_version integer not null
    )`
  await sql`insert into schema_compatibility (minimum_version) values (0) on conflict do nothing`
}

async function refuseNewerSchema(sql: Sql, ours: number) {
  const refusal = await whyTooOld(sql, ours)
  if (refusal !== undefined) throw new UsageError(refusal)
}

/** The sentence for a program that is older than the schema allows. */
export async function whyTooOld(sql: Sql, ours: number): Promise<string | undefined> {
  const [row] = await sql<{ minimumVersion: number }[]>`
    select minimum_version from schema_compatibility where minimum_version > ${ours}`
  if (!row) return undefined
  return `The database needs a program of schema version ${row.minimumVersion} or newer; this one is ${ours}. Update tidings.`
}

/** Programs older than this version refuse to start from now on, and stop if they run. */
export const raiseMinimumVersion = (sql: Sql, version: number) =>
  sql`update schema_compatibility set minimum_version = greatest(minimum_version, ${version})`

/**
 * After a migration that was given up: the programs that `raiseMinimumVersion` told to stop may start again. Only for
 * the process with the lock of migrations: no other one waits for the end of older programs. A program that does not
 * know all applied migrations does not know the right version either, and changes nothing. Returns whether the version
 * was lowered.
 */
async function lowerMinimumVersion(sql: Sql, migrations: Migration[]): Promise<boolean> {
  const applied = await appliedIn(sql)
  const known = migrations.filter(({ version }) => applied.some(each => each.version === version))
  if (known.length < applied.length) return false
  const changes = known.map(kindOf).filter(change => change.kind === 'contract')
  const minimum = Math.max(0, ...changes.map(({ minimumVersion }) => minimumVersion))
  const lowered = await sql`
    update schema_compatibility set minimum_version = ${minimum} where minimum_version > ${minimum}`
  return lowered.count > 0
}

/** The version of a schema, and the oldest program that works with it. Both are 0 where there is no schema. */
export type SchemaVersions = { version: number; minimum: number }

export async function schemaVersionsOf(sql: Sql): Promise<SchemaVersions> {
  const version = await versionOf(sql)
  if (version === 0) return { version, minimum: 0 }
  const [row] = await sql<{ minimumVersion: number }[]>`select minimum_version from schema_compatibility`
  return { version, minimum: row?.minimumVersion ?? 0 }
}

/** The migrations that `migrate` would apply. */
export async function pendingMigrations(sql: Sql, migrations?: Migration[]): Promise<Migration[]> {
  const known = migrations ?? (await readMigrations())
  await refuseFormerSchema(sql, known)
  return pendingOf(sql, known)
}

/** For a process that must not migrate: refuses a schema that lacks a migration, or that is too new for this program. */
export async function requireSchema(sql: Sql, migrations?: Migration[]): Promise<void> {
  const known = migrations ?? (await readMigrations())
  const pending = await pendingMigrations(sql, known)
  const version = await versionOf(sql)
  const ours = newestOf(known)
  if (version > 0) await refuseNewerSchema(sql, ours)
  if (!pending.some(migration => kindOf(migration).kind === 'expand')) return
  throw new UsageError(
    `The schema has version ${version}, and this program needs ${ours}: run \`tidings migrate\` first, or set TIDINGS_MIGRATE=true.`,
  )
}

async function pendingOf(sql: Sql, migrations: Migration[]): Promise<Migration[]> {
  const known = new Set((await appliedIn(sql)).map(({ version }) => version))
  return migrations.filter(({ version }) => !known.has(version))
}

/**
 * A migration may need a lock that a long reader holds. While it waited, all other statements would queue behind it. So
 * it waits for a moment, lets the others pass, and tries again. The moment is shorter than `deadlock_timeout` (a second):
 * of two transactions that wait for each other the migration gives up, and not a request. PostgreSQL ends an autovacuum
 * that is in the way only after `deadlock_timeout`, so some tries wait longer.
 */
const LOCK_MS = 300
const LONG_LOCK_MS = 1500
const LONG_EVERY = 10
const AGAIN_AFTER_MS = 500
const MOST_TRIES = 400
const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

async function apply(pool: Pool, migration: Migration, signal: AbortSignal | undefined) {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(pool, migration, tries % LONG_EVERY === 0 ? LONG_LOCK_MS : LOCK_MS)
    } catch (error) {
      if (!hasGivenWay(error) || tries === MOST_TRIES) throw error
      signal?.throwIfAborted()
      await pause(AGAIN_AFTER_MS)
      signal?.throwIfAborted()
    }
  }
}

const hasGivenWay = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === LOCK_NOT_AVAILABLE || error.code === DEADLOCK)

async function applyOnce(pool: Pool, migration: Migration, lockMs: number) {
  await pool.begin(async (sql: Transaction) => {
    await sql.unsafe(`set local lock_timeout = ${lockMs}`)
    // In a sharded database each statement of a migration changes all shards. Without Citus the setting has no effect.
    await sql.unsafe(`set local citus.multi_shard_modify_mode = 'sequential'`)
    await sql.unsafe(migration.text)
    const change = kindOf(migration)
    if (change.kind === 'contract') await raiseMinimumVersion(sql, change.minimumVersion)
    await sql`insert into schema_migrations (version, name) values (${migration.version}, ${migration.name})`
  })
}
