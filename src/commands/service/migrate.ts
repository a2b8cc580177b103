import { UsageError } from '../../base/errors.ts'
import { openDatabase } from '../../db/database.ts'
import { newestVersion, pendingMigrations, type SchemaVersions, schemaVersionsOf } from '../../db/migrate.ts'
import { kindOf } from '../../db/migration-kind.ts'
import { distribute } from '../../db/sharding/distribute.ts'
import type { Pool } from '../../db/sql.ts'
import { type Call, closingAfterwards, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'

export async function migrateSchema(call: Call) {
  if (call.switches.plan) await printPlan(call)
  else await applyMigrations(call)
}

const MOST_SHARDS = 1024

async function distributeTables({ sql }: { sql: Pool }, call: Call) {
  const { print, progress } = call
  const shards = idOption(call, 'shards')
  if (shards > MOST_SHARDS) throw new UsageError(`--shards must be at most ${MOST_SHARDS}.`)
  const placed = await distribute(sql, { shards, onTable: table => progress(`Distributing ${table} ...`) })
  const text =
    placed.length > 0
      ? `Distributed ${placed.length} tables by company, in ${shards} shards each.`
      : 'The tables are distributed already.'
  print({ distributed: placed, shards }, text)
}

async function applyMigrations(call: Call) {
  const { config, switches, print, progress } = call
  const onWaiting = (older: string) => progress(`Waiting for the end of ${older} ...`)
  const olderPrograms = switches['stop-older'] ? { stop: onWaiting } : 'refuse'
  await withDatabase(
    config,
    async database => {
      if (switches.distribute) return distributeTables(database, call)
      const names = database.applied.map(({ version, name }) => `${version} ${name}`)
      print({ applied: names }, names.length > 0 ? `Applied: ${names.join(', ')}.` : 'The schema is up to date.')
    },
    { create: true, migrating: { always: true, olderPrograms } },
  )
}

/** Changes nothing. */
async function printPlan({ config, print }: Call) {
  const database = await openDatabase(config, {})
  await closingAfterwards(database, async () => {
    const versions = await schemaVersionsOf(database.sql)
    const pending = (await pendingMigrations(database.sql)).map(migration => ({
      version: migration.version,
      name: migration.name,
      ...kindOf(migration),
    }))
    const plan = { schema: versions.version, minimum: versions.minimum, program: await newestVersion(), pending }
    print(
      plan,
      [schemaInWords(versions), ...pending.map(inWords), ...END[pending.length > 0 ? 'some' : 'none']].join('\n'),
    )
  })
}

export const schemaInWords = ({ version, minimum }: SchemaVersions): string =>
  version === 0
    ? 'The database has no schema yet.'
    : `The database has schema version ${version}, for programs of version ${minimum} or newer.`

const inWords = (migration: { version: number; name: string } & ReturnType<typeof kindOf>): string => {
  const { version, name } = migration
  const effect =
    migration.kind === 'expand'
      ? 'expands: running programs go on'
      : `contracts: programs before ${migration.minimumVersion} must have ended`
  return `  ${version} ${name} (${effect})`
}

const END = { some: ['`tidings migrate` applies them in this order.'], none: ['No migration is pending.'] }
