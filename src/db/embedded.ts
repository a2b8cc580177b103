import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { isDatabaseAway } from '../base/database-losses.ts'
import { UsageError } from '../base/errors.ts'
import type { BinaryPackage } from './embedded-binaries.ts'
import { type Cluster, clusterUrl, prepareCluster } from './embedded-cluster.ts'
import { findPostmaster, logTail, startPostmaster, stopPostmaster } from './embedded-postmaster.ts'

export { requireCluster, writeOnce } from './embedded-cluster.ts'
export { defaultDataDir } from './embedded-user.ts'

/**
 * The life of the embedded PostgreSQL server.
 *
 * The server is a process of its own that outlives a crash of ours. Everyone who uses it holds a shared advisory lock
 * on a connection kept for nothing else. Who leaves gives the lock back and asks for the same lock exclusively: getting
 * it means that nobody else is there, and the server is stopped while the lock is still held. Who arrives in that
 * moment does not get the shared lock, waits for the server to be gone and starts it again. A killed process loses its
 * connection and with it its locks, so there is nothing to clean up after it.
 */
export type EmbeddedServer = {
  url: string
  /** The last process using the server stops it; otherwise it is left running. */
  release(): Promise<void>
}

type WantedServer = { cluster: Cluster; exclusive: boolean; signal: AbortSignal; again?: { port: number } }
type Hold = { sql: postgres.Sql; port: number; isOpen: () => boolean; closed: Promise<void> }

// Keys of the advisory locks, in the database `postgres`, where nobody else takes any.
const USERS_LOCK = 1
const INSTANCE_LOCK = 2

const OPEN_MS = 60_000
// After a crash the server first replays up to max_wal_size of its log.
const RECOVERY_MS = 600_000
const CONNECT_MS = 5_000
// The server needs a moment to notice that a killed holder's connection is gone.
const INSTANCE_MS = 1_500
const REOPEN_PAUSE_MS = 1_000

export async function openEmbeddedServer(options: {
  dataDir: string
  settings?: Record<string, string>
  exclusive?: boolean
  /** Programs of another version than ours, for an upgrade from it. */
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
    url: clusterUrl(cluster, hold.port),
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

/** Becomes a user of a server that runs and takes connections; nothing when there is none, or it is about to end. */
async function holdRunning(wanted: WantedServer): Promise<Hold | undefined> {
  const postmaster = await findPostmaster(wanted.cluster)
  if (postmaster?.state !== 'ready') return
  const hold = connect(wanted.cluster, postmaster.port)
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

function connect(cluster: Cluster, port: number): Hold {
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
    max_lifetime: null, // the default would drop the connection, and our locks, within the hour
    connect_timeout: CONNECT_MS / 1000,
    fetch_types: false,
    connection: { application_name: 'tidings keeper', idle_session_timeout: 0, statement_timeout: 0 },
    onnotice: () => {},
    onclose: () => {
      open = false
      close()
    },
  })
  return { sql, port, isOpen: () => open, closed }
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
    // Another process was faster.
    if (error.code !== '42P04' && error.code !== '23505') throw error
  })
}

/** Failures that belong to a server that is starting, ending or restarting: asking again is the cure. */
const isPassing = (error: unknown) =>
  isDatabaseAway(error) || ['TOO_SLOW', TEMPLATE_IN_USE].includes((error as { code?: string }).code ?? '')

const TEMPLATE_IN_USE = '55006' // by another process that creates the database just now

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
 * Watches over our hold until we leave. When the server crashes, or somebody stops it under us, it is started again on
 * the same port, so that the address we gave away stays true. Gives back the last hold if it is still there.
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
    // Whoever uses the server sees its own connections fail; here we only go on trying.
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
