import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { defaultDataDir, openEmbeddedServer } from './embedded.ts'
import { checkServer, connect, type Pool } from './sql.ts'

export type DatabaseSettings = {
  databaseUrl: string | undefined
  databaseConnections: number
  dataDir: string | undefined
  secret: string | undefined
}

export type Database = {
  sql: Pool
  secret: string
  /** Where the data lies, for people: a folder, or "the database at HOST". */
  place: string
  close(): Promise<void>
}

/**
 * Opens the database the settings name: the server behind DATABASE_URL, or the embedded one, found running or
 * started for our own time. `exclusive` is for `serve`: one instance to a data folder.
 */
export function openDatabase(settings: DatabaseSettings, options: { exclusive?: boolean } = {}): Promise<Database> {
  return settings.databaseUrl ? openRemote(settings, settings.databaseUrl) : openEmbedded(settings, options)
}

async function openRemote(settings: DatabaseSettings, url: string): Promise<Database> {
  if (!settings.secret) {
    throw new UsageError(
      'TIDINGS_SECRET is required with DATABASE_URL: set it to 32 or more random characters, the same on every process.',
    )
  }
  const sql = connect(url, { max: settings.databaseConnections })
  try {
    await checkServer(sql, url)
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  return { sql, secret: settings.secret, place: 'the database of DATABASE_URL', close: () => sql.end({ timeout: 5 }) }
}

async function openEmbedded(settings: DatabaseSettings, options: { exclusive?: boolean }): Promise<Database> {
  const dataDir = resolve(settings.dataDir ?? defaultDataDir(process.cwd()))
  const server = await openEmbeddedServer({ dataDir, exclusive: options.exclusive ?? false })
  const sql = connect(server.url, { max: settings.databaseConnections })
  return {
    sql,
    secret: settings.secret ?? (await keptSecret(dataDir)),
    place: dataDir,
    async close() {
      await sql.end({ timeout: 5 })
      await server.release()
    },
  }
}

/** The secret of a data folder: made once, readable by its owner alone. */
async function keptSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret')
  await mkdir(dataDir, { recursive: true })
  await writeFile(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(ignoreExisting)
  return (await readFile(path, 'utf8')).trim()
}

function ignoreExisting(error: NodeJS.ErrnoException) {
  if (error.code !== 'EEXIST') throw error
}
