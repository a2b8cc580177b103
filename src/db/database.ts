import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readDatabaseAddress } from '../base/database-address.ts'
import { UsageError } from '../base/errors.ts'
import { projectDir } from '../base/process/project.ts'
import { defaultDataDir, openEmbeddedServer, requireCluster, writeOnce } from './embedded/embedded.ts'
import { isMigrated } from './migrate.ts'
import { checkServer, connect, type Pool } from './sql.ts'

export type DatabaseSettings = {
  databaseUrl: string | undefined
  /** Where engines listen for announcements, when DATABASE_URL leads to a pooler. */
  listenUrl?: string | undefined
  /** Whether statements are prepared. */
  prepare?: boolean
  /** Standbys for heavy reads. */
  readUrl?: string | undefined
  databaseConnections: number
  dataDir: string | undefined
  secret: string | undefined
}

export type Database = {
  sql: Pool
  /** The pool of TIDINGS_READ_URL. It may be away. */
  replica?: Pool | undefined
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
  const sql = await connectChecked(settings, url)
  const listener = settings.listenUrl ? connect(settings.listenUrl, { max: 1, name: 'tidings listen' }) : undefined
  if (listener) sql.listen = listener.listen
  const replica = settings.readUrl ? connectReplica(settings, settings.readUrl) : undefined
  const close = async () => {
    await Promise.all([sql, listener, replica].map(pool => pool?.end({ timeout: 5 })))
  }
  return { sql, replica, secret: settings.secret, place: 'the database of DATABASE_URL', close }
}

/**
 * A firewall may drop a connection without a word, and TCP notices that after a quarter of an hour. The longest statement
 * on a standby is a search, which the server ends after 20 seconds. A report consists of short statements.
 */
const REPLICA_SILENCE_MS = 25_000

/**
 * Without the settings of a session, which a pooler would refuse: a statement that only reads waits for no lock of ours.
 * An address that states nothing else leads to a standby, because the primary is there anyway.
 */
function connectReplica({ databaseConnections: max, prepare = true }: DatabaseSettings, url: string): Pool {
  const { target } = readDatabaseAddress(url)
  const standbys = target ? url : `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=standby`
  return connect(standbys, { max, prepare, isPooled: true, name: 'tidings reads', silenceMs: REPLICA_SILENCE_MS })
}

async function connectChecked({ databaseConnections: max, prepare = true }: DatabaseSettings, url: string) {
  const direct = connect(url, { max, prepare })
  if ((await checked(direct, url)).keepsSettings) return direct
  await direct.end({ timeout: 0 })
  if (prepare) await refuseLostStatements(url)
  const pooled = connect(url, { max, prepare, isPooled: true })
  await checked(pooled, url)
  pooled.listen = refuseListen
  return pooled
}

/**
 * A pooler gives the next transaction another session. An old one does not know that a statement was prepared in the
 * first session. Two clients show it: while the second client has the session, the statement of the first one fails.
 */
async function refuseLostStatements(url: string) {
  const [one, other] = [connect(url, { max: 1, isPooled: true }), connect(url, { max: 1, isPooled: true })]
  const ask = () => one.begin(tx => tx`select ${1}::integer as one`)
  try {
    await ask()
    await Promise.all([other.begin(tx => tx`select pg_sleep(0.2)`), pause(50).then(ask)])
  } catch (error) {
    if ((error as { code?: string }).code !== STATEMENT_UNKNOWN) throw error
    throw new UsageError(
      'The pooler of DATABASE_URL loses prepared statements: set TIDINGS_PREPARE=off, or use PgBouncer 1.21 or newer with max_prepared_statements.',
    )
  } finally {
    await Promise.all([one.end({ timeout: 1 }), other.end({ timeout: 1 })])
  }
}

const STATEMENT_UNKNOWN = '26000'

async function checked(sql: Pool, url: string) {
  try {
    return await checkServer(sql, url)
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
}

/** The session that listens would belong to other clients a moment later. Engines poll instead. */
const refuseListen: Pool['listen'] = async () => {
  throw new Error('DATABASE_URL leads to a pooler, which passes no announcements on: set TIDINGS_LISTEN_URL')
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
