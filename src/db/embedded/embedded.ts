import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { isDatabaseAway } from '../../base/database-losses.ts'
import { UsageError } from '../../base/errors.ts'
import type { BinaryPackage } from './binaries.ts'
import { type Cluster, clusterUrl, prepareCluster } from './cluster.ts'
import { findPostmaster, logTail, type Postmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

export { requireCluster, writeOnce } from './cluster.ts'
export { defaultDataDir } from './user.ts'

/**
 * Starts, shares and stops the embedded PostgreSQL server.
 *
 * The server is a separate process that survives a crash of ours. Each process that uses it holds a shared advisory
 * lock, on a connection that serves only this purpose. A process that stops releases its lock and tries to take the
 * same lock exclusively. If it gets the lock, no other process uses the server, and it stops the server while it holds
 * the lock. A process that starts in this moment does not get the shared lock. It waits until the server has ended and
 * starts it again. A killed process loses its connection and its locks, so it leaves nothing to clean up.
 */
export type EmbeddedServer = {
  url: string
  /** The last process that uses the server stops it. */
  release(): Promise<void>
}

type WantedServer = { cluster: Cluster; exclusive: boolean; signal: AbortSignal; again?: { port: number } }
type Hold = { sql: postgres.Sql; port: number; socketDir: string; isOpen: () => boolean; closed: Promise<void> }

// Keys of the advisory locks, in the database `postgres`, where no other program takes advisory locks.
const USERS_LOCK = 1
const INSTANCE_LOCK = 2

const OPEN_MS = 60_000
// After a crash the server first replays up to max_wal_size of its log.
const RECOVERY_MS = 600_000
const CONNECT_MS = 5_000
// The server needs a moment to notice that the connection of a killed process is lost.
const INSTANCE_MS = 1_500
const REOPEN_PAUSE_MS = 1_000

export async function openEmbeddedServer(options: {
  dataDir: string
  settings?: Record<string, string>
  exclusive?: boolean
  /** The programs of a former version, for an upgrade. */
  package?: BinaryPackage
}): Promise<EmbeddedServer> {
  const cluster = await prepareCluster(resolve(options.dataDir), options.settings ?? {}, options.package)
  const leaving = new AbortController()
  const wanted = { cluster, exclusive: options.exclusive ?? false, signal: leaving.signal }
  const hold = await holdServer(wanted)
  const keeper = keepHolding({ ...wanted, again: { port: hold.port } }, hold)
  let released: Promise<void> | undefined

  async function release() {
    leaving.abort()
    const last = (await keeper) ?? (await holdRunning({ ...wanted, exclusive: false }))
    if (last) await leave(cluster, last)
  }

  return {
    url: clusterUrl(cluster, hold),
    release: () => {
      released ??= release()
      return released
    },
  }
}

/** Finds or starts the server and becomes one of its users. */
async function holdServer(wanted: WantedServer): Promise<Hold> {
  const { cluster, again, signal } = wanted
  let begun = performance.now()
  for (;;) {
    const postmaster = await findPostmaster(cluster)
    const started = !postmaster && (await startPostmaster(cluster, { again, signal, patienceMs: RECOVERY_MS }))
    if (started) begun = performance.now()
    const hold = await holdRunning(wanted)
    if (hold) return hold
    const patienceMs = postmaster?.state === 'starting' ? RECOVERY_MS : OPEN_MS
    if (performance.now() - begun > patienceMs) throw await notReady(cluster)
    await pause(postmaster ? 50 : 200, undefined, { signal })
  }
}

/** Becomes a user of a running server; undefined when no server runs, or it is about to end. */
async function holdRunning(wanted: WantedServer): Promise<Hold | undefined> {
  const postmaster = await findPostmaster(wanted.cluster)
  if (postmaster?.state !== 'ready') return
  const hold = connect(wanted.cluster, postmaster)
  try {
    if (await within(CONNECT_MS, enter(hold.sql))) {
      if (wanted.exclusive) await takeInstance(wanted.cluster, hold.sql)
      await within(OPEN_MS, createDatabase(hold.sql))
      return hold
    }
  } catch (error) {
    if (!isPassing(error)) {
      await leave(wanted.cluster, hold).catch(() => {})
      throw explain(wanted.cluster, error)
    }
  }
  await hold.sql.end({ timeout: 0 })
}

function connect(cluster: Cluster, { port, socketDir }: Postmaster): Hold {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  let open = true
  const sql = postgres({
    host: '127.0.0.1',
    port,
    database: 'postgres',
    username: 'tidings',
    password: cluster.password,
    ssl: false,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null, // by default the driver closes the connection within the hour, and the locks are lost
    connect_timeout: CONNECT_MS / 1000,
    fetch_types: false,
    connection: { application_name: 'tidings keeper', idle_session_timeout: 0, statement_timeout: 0 },
    onnotice: () => {},
    onclose: () => {
      open = false
      close()
    },
  })
  return { sql, port, socketDir, isOpen: () => open, closed }
}

/** False when the last user is about to stop the server. */
async function enter(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql`select pg_try_advisory_lock_shared(${USERS_LOCK}) as entered`
  return row?.entered
}

async function takeInstance(cluster: Cluster, sql: postgres.Sql) {
  const begun = performance.now()
  while (performance.now() - begun < INSTANCE_MS) {
    const [row] = await sql`select pg_try_advisory_lock(${INSTANCE_LOCK}) as taken`
    if (row?.taken) return
    await pause(50)
  }
  throw new UsageError(
    `Another Tidings is already running on the data folder ${cluster.dataDir}: stop it first, or set TIDINGS_DATA to another folder`,
  )
}

async function createDatabase(sql: postgres.Sql) {
  const found = await sql`select from pg_database where datname = 'tidings'`
  if (found.length > 0) return
  await sql`create database tidings`.catch(error => {
    // Another process created it first.
    if (error.code !== '42P04' && error.code !== '23505') throw error
  })
}

/** Errors of a server that is starting, ending or restarting. A later attempt succeeds. */
const isPassing = (error: unknown) =>
  isDatabaseAway(error) || ['TOO_SLOW', TEMPLATE_IN_USE].includes((error as { code?: string }).code ?? '')

const TEMPLATE_IN_USE = '55006' // by another process that is creating the database

function explain(cluster: Cluster, error: unknown) {
  if ((error as { code?: string }).code !== '28P01') return error
  return new UsageError(
    `The server of ${cluster.dir} does not accept the password in ${cluster.passwordFile}: put the right one back`,
  )
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const tooSlow = pause(ms, undefined, { signal: done.signal }).then(() => {
    throw Object.assign(new Error('The server does not answer'), { code: 'TOO_SLOW' })
  })
  try {
    return await Promise.race([work, tooSlow])
  } finally {
    tooSlow.catch(() => {})
    done.abort()
  }
}

async function notReady(cluster: Cluster) {
  return new UsageError(`The embedded database in ${cluster.dataDir} did not become ready:\n${await logTail(cluster)}`)
}

/**
 * Keeps our hold until this process stops. When the server crashes or is stopped, it is started again on the same port,
 * because our users know this address. Returns the last hold if it is still open.
 */
async function keepHolding(wanted: WantedServer, first: Hold): Promise<Hold | undefined> {
  const left = whenAborted(wanted.signal)
  let hold: Hold | undefined = first
  for (;;) {
    await Promise.race([hold?.closed, left])
    if (wanted.signal.aborted) return hold?.isOpen() ? hold : undefined
    await hold?.sql.end({ timeout: 0 })
    hold = await holdAgain(wanted)
  }
}

async function holdAgain(wanted: WantedServer) {
  try {
    return await holdServer(wanted)
  } catch {
    // The users of the server see the errors of their own connections. This loop only tries again.
    await pause(REOPEN_PAUSE_MS, undefined, { ref: false, signal: wanted.signal }).catch(() => {})
  }
}

function whenAborted(signal: AbortSignal) {
  return new Promise<void>(done => signal.addEventListener('abort', () => done(), { once: true }))
}

async function leave(cluster: Cluster, { sql }: Hold) {
  try {
    if (await within(CONNECT_MS, isLast(sql))) await stopPostmaster(cluster, () => sql.end({ timeout: 1 }))
  } catch (error) {
    if (!isPassing(error)) throw error
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function isLast(sql: postgres.Sql): Promise<boolean> {
  await sql`select pg_advisory_unlock_shared(${USERS_LOCK})`
  const [row] = await sql`select pg_try_advisory_lock(${USERS_LOCK}) as last`
  return row?.last
}
