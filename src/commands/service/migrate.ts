import { openDatabase } from '../../db/database.ts'
import { newestVersion, pendingMigrations, type SchemaVersions, schemaVersionsOf } from '../../db/migrate.ts'
import { kindOf } from '../../db/migration-kind.ts'
import { type Call, closingAfterwards, withDatabase } from '../command.ts'

export async function migrateSchema(call: Call) {
  if (call.switches.plan) await printPlan(call)
  else await applyMigrations(call)
}

async function applyMigrations({ config, switches, print, progress }: Call) {
  const onWaiting = (older: string) => progress(`Waiting for the end of ${older} ...`)
  const olderPrograms = switches['stop-older'] ? { stop: onWaiting } : 'refuse'
  await withDatabase(
    config,
    async ({ applied }) => {
      const names = applied.map(({ version, name }) => `${version} ${name}`)
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
