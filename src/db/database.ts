import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { projectDir } from '../base/process/project.ts'
import { defaultDataDir, openEmbeddedServer, requireCluster, writeOnce } from './embedded/embedded.ts'
import { isMigrated } from './migrate.ts'
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
  /** The place of the data as text for people: a folder, or "the database at HOST". */
  place: string
  close(): Promise<void>
}

export type Opening = {
  /** Creates the embedded database if there is none. Without it, an empty folder is an error in one sentence. */
  create?: boolean
  /** For `serve`: only one instance may use a data folder. */
  exclusive?: boolean
}

/**
 * Opens the database of the settings: the server of DATABASE_URL, or the embedded server. The embedded server is
 * started if it does not run.
 */
export function openDatabase(settings: DatabaseSettings, opening: Opening): Promise<Database> {
  return settings.databaseUrl ? openRemote(settings, settings.databaseUrl) : openEmbedded(settings, opening)
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

/** The data folder of the embedded server. */
export const dataDirOf = (settings: Pick<DatabaseSettings, 'dataDir'>): string =>
  resolve(settings.dataDir ?? defaultDataDir(projectDir))

async function openEmbedded(settings: DatabaseSettings, { create, exclusive }: Opening): Promise<Database> {
  const dataDir = dataDirOf(settings)
  if (!create) await requireCluster(dataDir)
  const server = await openEmbeddedServer({ dataDir, exclusive: exclusive ?? false })
  const sql = connect(server.url, { max: settings.databaseConnections })
  async function close() {
    await sql.end({ timeout: 5 })
    await server.release()
  }
  try {
    return { sql, secret: settings.secret ?? (await keptSecret(dataDir, sql)), place: dataDir, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The secret of a data folder, readable only by its owner. It is created before the first table. If a database has
 * tables and no secret file, the file was lost. A new secret could not decrypt the stored secrets.
 */
async function keptSecret(dataDir: string, sql: Pool): Promise<string> {
  const path = join(dataDir, 'secret')
  const kept = (await readFile(path, 'utf8').catch(ignoreMissing))?.trim()
  if (kept) return kept
  if (await isMigrated(sql)) {
    throw new UsageError(
      `The file ${path} is missing or empty, and the passwords of gateways were encrypted with it: put it back from a backup, or set TIDINGS_SECRET to its content.`,
    )
  }
  await writeOnce(path, randomBytes(32).toString('base64url'))
  return (await readFile(path, 'utf8')).trim()
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
