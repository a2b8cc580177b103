import { UsageError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { type Database, type Opening, openDatabase } from '../db/database.ts'
import { isMigrated, type Migration, migrate, requireSchema } from '../db/migrate.ts'
import { useErasureSecret } from '../domain/blacklist/erased.ts'
import { migrateStoppingOlder, refuseOlderPrograms } from './service/older-programs.ts'
import { SIGNALS } from './signals.ts'

export type Option = {
  about: string
  /** The name of the value in the help, e.g. `N`. An option without it is a switch. */
  value?: string
  required?: boolean
  /** The value when the option is not given. */
  default?: string
  /** It may be given several times. */
  many?: boolean
  /** It was an option once: the sentence, after its name, that tells what to use now. */
  removed?: string
}

export type Call = {
  config: Config
  options: Record<string, string | undefined>
  /** Options that may be given several times. */
  lists: Record<string, string[]>
  switches: Record<string, boolean>
  arguments: string[]
  /** Prints the outcome: the value itself with --json, else the text for people. */
  print(value: unknown, text: string): void
  /** Progress of long work: on stderr, and only where a person is watching. */
  progress(text: string): void
}

export type Command = {
  /** One or two words: `serve`, `partner create`. */
  name: string
  about: string
  /** The heading in the overview under which it stands. */
  group?: string
  arguments?: { name: string; about: string }[]
  options?: Record<string, Option>
  run(call: Call): Promise<void>
}

/** How a process brings the schema up to date before it begins. */
export type Migrating = {
  /** Also where TIDINGS_MIGRATE is false. */
  always?: boolean
  /** Before a contracting migration: refuse while older programs run (the default), or stop them. */
  olderPrograms?: 'refuse' | { stop: (older: string) => void }
}

/**
 * Opens the database with the newest schema while a command runs. A signal ends the command, and the database is still
 * closed; `farewell` may print the state of the unfinished work. Only a command with `create` creates a missing
 * database.
 */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database & { applied: Migration[] }) => Promise<T>,
  {
    farewell = () => {},
    create = false,
    migrating = {},
  }: { farewell?: () => void; create?: boolean; migrating?: Migrating } = {},
): Promise<T> {
  const { database, applied } = await openMigrated(config, { create }, migrating)
  return closingAfterwards(database, () => work({ ...database, applied }), farewell)
}

/** A signal ends the work, not the cleaning up. */
export async function closingAfterwards<T>(
  database: Database,
  work: () => Promise<T>,
  farewell: () => void = () => {},
): Promise<T> {
  let hasLeft = false
  const leave = () => {
    hasLeft = true
    farewell()
    void database.close().finally(() => process.exit(1))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await work()
  } catch (error) {
    if (hasLeft) await new Promise(() => {}) // the database was taken away from under it: the process ends any moment
    throw error
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    await database.close()
  }
}

/**
 * Migrates the schema and then opens the database again: a client reads the types of the database when it connects, and
 * would not know the types of a later migration. Where TIDINGS_MIGRATE is false, an older schema is refused.
 */
export async function openMigrated(config: Config, opening: Opening, migrating: Migrating = {}) {
  const before = await openDatabase(config, { ...opening, exclusive: false })
  try {
    if (!opening.create) await refuseEmpty(before)
    const applied = config.migrate || migrating.always ? await bringUpToDate(before, migrating) : []
    if (!config.migrate) await requireSchema(before.sql)
    const database = await openDatabase(config, opening)
    useErasureSecret(database.secret)
    return { applied, database }
  } finally {
    await before.close()
  }
}

const bringUpToDate = ({ sql }: Database, { olderPrograms = 'refuse' }: Migrating): Promise<Migration[]> =>
  olderPrograms === 'refuse'
    ? migrate(sql, { beforeContracting: refuseOlderPrograms(sql) })
    : migrateStoppingOlder(sql, olderPrograms.stop)

async function refuseEmpty({ sql, place }: Database) {
  if (await isMigrated(sql)) return
  throw new UsageError(`There is no Tidings data in ${place}: \`tidings serve\` or \`tidings migrate\` creates it.`)
}
