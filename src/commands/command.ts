import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'

export type Option = {
  about: string
  /** What stands for the value in the help, e.g. `N`; an option without one is a switch. */
  value?: string
  required?: boolean
}

export type Call = {
  config: Config
  options: Record<string, string | undefined>
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

/** Opens the database for a command's own time, its schema up to date. */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(config)
  try {
    await migrate(database.sql)
    return await work(database)
  } finally {
    await database.close()
  }
}
