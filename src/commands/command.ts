import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/database.ts'
import { type Migration, migrate } from '../db/migrate.ts'

export type Option = {
  about: string
  /** What stands for the value in the help, e.g. `N`; an option without one is a switch. */
  value?: string
  required?: boolean
  /** The value when the option is not given. */
  default?: string
  /** It may be given several times. */
  many?: boolean
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
  arguments?: { name: string; about: string }[]
  options?: Record<string, Option>
  run(call: Call): Promise<void>
}

/**
 * Opens the database for a command's own time, its schema up to date. A signal ends the work, not the cleaning up;
 * `farewell` may say what is left of it.
 */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database & { applied: Migration[] }) => Promise<T>,
  farewell: () => void = () => {},
): Promise<T> {
  const { database, applied } = await openMigrated(config)
  let hasLeft = false
  const leave = () => {
    hasLeft = true
    farewell()
    void database.close().finally(() => process.exit(1))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await work({ ...database, applied })
  } catch (error) {
    if (hasLeft) await new Promise(() => {}) // the database was taken away from under it: the process ends any moment
    throw error
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    await database.close()
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Brings the schema up to date and opens the database anew: a client learns the types of the database when it connects,
 * and one from before a migration would not know those that it made.
 */
export async function openMigrated(config: Config, options: { exclusive?: boolean } = {}) {
  const before = await openDatabase(config)
  try {
    const applied = await migrate(before.sql)
    return { applied, database: await openDatabase(config, options) }
  } finally {
    await before.close()
  }
}
