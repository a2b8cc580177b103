import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { link, open, readFile, readlink, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { UsageError } from '../../base/errors.ts'
import { type Binaries, findBinaries, SERVER_ENV } from './binaries.ts'
import { type Cluster, initialise, isBeingMade, isInitialised, removeForgottenDrafts } from './cluster.ts'

/** The server process of a cluster, as it describes itself in postmaster.pid. */
export type Postmaster = {
  pid: number
  port: number
  /** The folder of its socket; empty when it listens on the port alone. */
  socketDir: string
  state: 'starting' | 'ready' | 'stopping'
}

const run = promisify(execFile)
const POLL_MS = 25
const LOG_LIMIT_BYTES = 10_000_000
const LOG_TAIL_BYTES = 10_000
const STOP_MS = 60_000
const QUIT_MS = 10_000
const EMPTY_FILE_MS = 2_000

/** For a small machine, with every commit on disk. */
const SETTINGS: Record<string, string> = {
  shared_buffers: '256MB',
  // For the pools of some twenty processes. A connection that is not open costs nearly nothing.
  max_connections: '300',
  max_wal_size: '4GB',
  min_wal_size: '512MB',
  wal_compression: 'on',
  wal_buffers: '16MB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  jit: 'off',
  // Otherwise a long query of a killed process continues, and after a crash it prevents the start of a new server.
  client_connection_check_interval: '5s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The client gets every error with all details. The log of the server contains no texts and no numbers of recipients.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
}

/** The running server of this cluster. A file that a crash left, or that names another process, does not count. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const text = await readPidFile(cluster)
  if (!text || !(await isPostmasterOf(cluster, pidIn(text)))) return
  const lines = text.split('\n')
  const state = lines[7]?.trim()
  return {
    pid: pidIn(text),
    port: portIn(text),
    socketDir: lines[4]?.trim() ?? '',
    state: state === 'ready' || state === 'stopping' ? state : 'starting',
  }
}

function pidFileOf(cluster: Cluster) {
  return join(cluster.dir, 'postmaster.pid')
}

function readPidFile(cluster: Cluster) {
  return readFile(pidFileOf(cluster), 'utf8').catch(() => undefined)
}

const pidIn = (text: string) => Number(text.split('\n')[0])
const portIn = (text: string) => Number(text.split('\n')[3])

/**
 * After a reboot a process id may belong to another process. Our server is a `postgres` with our folder on its command
 * line, or, when started by hand, as its working folder (which root without CAP_SYS_PTRACE may not read, as in
 * containers).
 */
async function isPostmasterOf(cluster: Cluster, pid: number): Promise<boolean> {
  if (!(pid > 0)) return false
  const args = await argumentsOf(pid)
  if (basename(args[0] ?? '') !== 'postgres') return false
  return args.includes(cluster.dir) || (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === cluster.dir
}

async function argumentsOf(pid: number): Promise<string[]> {
  if (process.platform === 'linux') {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  }
  const { stdout } = await run('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  const [program = '', folder = ''] = stdout.trim().split(/ -D | -c /)
  return [program, folder]
}

/**
 * `again` is a server that was lost. It starts on the same port, and never on a new cluster, because that would hide
 * that the data was removed.
 */
type Start = { again?: { port: number }; patienceMs: number; signal: AbortSignal }

/**
 * Starts a server, and first creates the cluster if there is none. True when a server is ready, started here or by
 * another process. False after a temporary failure: the caller tries again.
 */
export async function startPostmaster(cluster: Cluster, start: Start): Promise<boolean> {
  await removeForgottenDrafts(cluster)
  const isNew = !(await isInitialised(cluster.dir))
  if (isNew && start.again) throw new UsageError(`The database in ${cluster.dir} has been removed while it was in use`)
  if (isNew && (await isBeingMade(cluster))) return false
  const binaries = await findBinaries(cluster.package, cluster.dataDir, cluster.user)
  if (isNew) await initialise(cluster, binaries)
  const lastPort = await clearStalePidFile(cluster)
  const port = await choosePort(start.again?.port ?? lastPort)
  const log = await openLog(cluster)
  const child = launch(cluster, binaries, port, log.fd)
  try {
    if (await isReadyBeforeGone(cluster, child, start)) return true
    await explainEnd(cluster, log.size)
    return false
  } catch (error) {
    // This process is stopping, and no other process uses the server yet.
    if (start.signal.aborted) child.kill('SIGINT')
    throw error
  } finally {
    child.unref()
    await log.close()
  }
}

/**
 * PostgreSQL removes an old pid file when its process has ended, but not when the process id belongs to another process
 * of the same user. The file is renamed and compared before it is deleted, so that the file of a server that was just
 * started is not deleted. Returns the port of the former server.
 */
async function clearStalePidFile(cluster: Cluster): Promise<number | undefined> {
  const text = await readPidFile(cluster)
  if (text === undefined || (await isPostmasterOf(cluster, pidIn(text)))) return
  if (text === '' && (await isFresh(pidFileOf(cluster)))) return
  const aside = `${pidFileOf(cluster)}.stale-${process.pid}`
  await rename(pidFileOf(cluster), aside).catch(() => {})
  if ((await readFile(aside, 'utf8').catch(() => text)) !== text) await link(aside, pidFileOf(cluster)).catch(() => {})
  await rm(aside, { force: true })
  // It names the same process as the pid file and would refuse the start in the same way.
  await rm(join(cluster.dir, `${socketName(portIn(text))}.lock`), { force: true })
  return portIn(text)
}

/** The file of a starting server is empty for a moment. A file that a full disk left stays empty. */
async function isFresh(file: string) {
  const stats = await stat(file).catch(() => undefined)
  return stats !== undefined && Date.now() - stats.mtimeMs < EMPTY_FILE_MS
}

async function choosePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    server.listen(wanted >= 1024 ? wanted : 0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  } catch {
    return choosePort()
  } finally {
    server.close()
  }
}

async function openLog(cluster: Cluster) {
  const former = await stat(cluster.logFile).catch(() => undefined)
  if (former && former.size > LOG_LIMIT_BYTES) await rename(cluster.logFile, `${cluster.logFile}.1`)
  const handle = await open(cluster.logFile, 'a', 0o600)
  if (cluster.user) {
    const owner = await stat(cluster.dataDir)
    await handle.chown(owner.uid, owner.gid)
  }
  const { size } = await handle.stat()
  return { fd: handle.fd, size, close: () => handle.close() }
}

/**
 * In a process group of its own: Ctrl-C in the terminal ends only our process, and our process stops the server at its
 * end.
 */
function launch(cluster: Cluster, { postgres }: Binaries, port: number, logFd: number) {
  const { dir, settings, user } = cluster
  const network = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: socketDirOf(cluster, port),
    unix_socket_permissions: '0700',
  }
  const all = Object.entries({ ...SETTINGS, ...settings, ...network })
  const child = spawn(postgres, ['-D', dir, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])], {
    ...user,
    cwd: '/',
    env: SERVER_ENV,
    detached: true,
    stdio: ['ignore', logFd, logFd],
  })
  child.on('error', () => {}) // the child then has no pid, which is checked below
  return child
}

/** No operating system takes a longer path for a socket. */
const MOST_SOCKET_BYTES = 103

/** The socket is in the folder of the cluster, which other people cannot enter. A statement over it costs less than over TCP. */
function socketDirOf({ dir }: Cluster, port: number): string {
  const isFit = Buffer.byteLength(join(dir, socketName(port))) <= MOST_SOCKET_BYTES && !/[,"]/.test(dir)
  return isFit ? dir : ''
}

const socketName = (port: number) => `.s.PGSQL.${port}`

async function isReadyBeforeGone(cluster: Cluster, child: ChildProcess, { patienceMs, signal }: Start) {
  const begun = performance.now()
  while (!isGone(child)) {
    if ((await findPostmaster(cluster))?.state === 'ready') return true
    if (performance.now() - begun > patienceMs) {
      throw new UsageError(`PostgreSQL in ${cluster.dataDir} did not become ready in time:\n${await logTail(cluster)}`)
    }
    await pause(POLL_MS, undefined, { signal })
  }
  return false
}

function isGone(child: ChildProcess) {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Temporary failures: another server started first, an old server is still ending, or the port was taken meanwhile. */
const PASSING = /lock file .* already exists|lock file .* is empty|shared memory block .* still in use|already in use/

async function explainEnd(cluster: Cluster, from: number) {
  const lines = await logTail(cluster, from)
  if (PASSING.test(lines)) return
  throw new UsageError(`PostgreSQL does not start in ${cluster.dataDir}:\n${lines || 'it left no message'}`)
}

/** The last lines of the server's log, written since the given size. */
export async function logTail(cluster: Cluster, from = 0): Promise<string> {
  const handle = await open(cluster.logFile).catch(() => undefined)
  if (!handle) return ''
  try {
    const { size } = await handle.stat()
    const start = Math.max(Math.min(from, size), size - LOG_TAIL_BYTES)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start)
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-10).join('\n')
  } finally {
    await handle.close()
  }
}

/**
 * Fast shutdown: the server ends its sessions and writes a checkpoint. If that takes too long, the server is killed.
 */
export async function stopPostmaster(cluster: Cluster, afterSignal: () => Promise<void>) {
  const postmaster = await findPostmaster(cluster)
  if (!postmaster) return
  signal(postmaster.pid, 'SIGINT')
  await afterSignal()
  if (await isEnded(cluster, postmaster.pid, STOP_MS)) return
  signal(postmaster.pid, 'SIGQUIT')
  await isEnded(cluster, postmaster.pid, QUIT_MS)
}

function signal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

async function isEnded(cluster: Cluster, pid: number, patienceMs: number) {
  const begun = performance.now()
  while (await isPostmasterOf(cluster, pid)) {
    if (performance.now() - begun > patienceMs) return false
    await pause(POLL_MS)
  }
  return true
}
