import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../base/errors.ts'
import { waitWithoutEnd } from './patience.ts'
import type { Pool, Sql, Transaction } from './sql.ts'

export type Migration = { version: number; name: string; text: string }

const folder = new URL('../../migrations/', import.meta.url)
const MIGRATION_LOCK = 7_461_001

/**
 * Brings the schema up to this program's version: once, under a lock, each step in a transaction of its own.
 * Steps only expand or contract, so old and new programs run side by side; a contracting step raises
 * `minimum_version`, and a program older than that refuses to start. `upTo` is for an import, which needs the schema of
 * the version that it was exported from.
 */
export async function migrate(pool: Pool, upTo = Number.POSITIVE_INFINITY): Promise<Migration[]> {
  const migrations = await readMigrations()
  const applied: Migration[] = []
  await pool.begin(async lock => {
    await waitWithoutEnd(lock) // another process may be migrating, and our own steps run beside this transaction
    await lock`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await createVersionTables(pool)
    await refuseNewerSchema(pool, migrations.at(-1)!.version)
    for (const migration of await pendingOf(pool, migrations)) {
      if (migration.version > upTo) break
      await apply(pool, migration)
      applied.push(migration)
    }
    // Whoever was away for long finds this month's and this day's partitions made.
    await pool`select ensure_message_months(), ensure_submission_days()`
  })
  return applied
}

/** Whether Tidings has ever made its tables here. */
export const isMigrated = async (sql: Sql): Promise<boolean> => (await versionOf(sql)) > 0

/** The version of the schema; 0 where there is none. */
export async function versionOf(sql: Sql): Promise<number> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('schema_migrations') is not null as exists`
  if (!table!.exists) return 0
  const [newest] = await sql<
    { version: number }[]
  >`select coalesce(max(version), 0)::int as version from schema_migrations`
  return newest!.version
}

/** The version of the schema that this program brings. */
export const newestVersion = async (): Promise<number> => (await readMigrations()).at(-1)!.version

export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter(name => /^\d{4}-.*\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async name => ({
      version: Number(name.slice(0, 4)),
      name: name.slice(5, -4),
      text: await readFile(new URL(name, folder), 'utf8'),
    })),
  )
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
  const [row] = await sql<{ minimumVersion: number }[]>`
    select minimum_version as "minimumVersion" from schema_compatibility`
  if (row!.minimumVersion > ours) {
    throw new UsageError(
      `The database needs a program of schema version ${row!.minimumVersion} or newer; this one is ${ours}. Update tidings.`,
    )
  }
}

async function pendingOf(sql: Sql, migrations: Migration[]): Promise<Migration[]> {
  const rows = await sql<{ version: number }[]>`select version from schema_migrations`
  const known = new Set(rows.map(row => row.version))
  return migrations.filter(migration => !known.has(migration.version))
}

/** A step that needs a lock behind a long reader would keep everyone else waiting: it tries for a moment, and again. */
const LOCK_MS = 1000
const AGAIN_AFTER_MS = 500
const MOST_TRIES = 200
const LOCK_NOT_AVAILABLE = '55P03'

async function apply(pool: Pool, migration: Migration) {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(pool, migration)
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || tries === MOST_TRIES) throw error
      await pause(AGAIN_AFTER_MS)
    }
  }
}

async function applyOnce(pool: Pool, migration: Migration) {
  await pool.begin(async (sql: Transaction) => {
    await sql.unsafe(`set local lock_timeout = ${LOCK_MS}`)
    await sql.unsafe(migration.text)
    await sql`insert into schema_migrations (version, name) values (${migration.version}, ${migration.name})`
  })
}
