import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  access,
  chmod,
  chown,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '../../base/errors.ts'
import { type Binaries, type BinaryPackage, findBinaryPackage, SERVER_ENV } from './binaries.ts'
import { canEnter, isRoot, type ServerUser, serverUserOf } from './user.ts'

/** A data folder with its database cluster: the files, with or without a running server. */
export type Cluster = {
  dataDir: string
  dir: string
  logFile: string
  passwordFile: string
  password: string
  settings: Record<string, string>
  package: BinaryPackage
  user: ServerUser | undefined
}

export const CLUSTER_DIR = 'postgres'
export const PASSWORD_FILE = 'postgres.password'
/** The folder in which an upgrade fills a new cluster. After a crash, a complete cluster may still be here. */
export const UPGRADE_DIR = 'upgrade'

const run = promisify(execFile)
const INITDB_MS = 120_000
// A process id may belong to another process by now, so a process waits for a draft only for a short time.
const HEAD_START_MS = 10_000
const FORGOTTEN_MS = 600_000

/** `socketDir` is empty for a server that listens on the port alone. */
export function clusterUrl(cluster: Cluster, { port, socketDir }: { port: number; socketDir: string }) {
  const url = `postgres://tidings:${cluster.password}@127.0.0.1:${port}/tidings`
  return socketDir ? `${url}?host=${encodeURIComponent(socketDir)}` : url
}

/** For commands that need an existing database: throws if the folder has none. */
export async function requireCluster(dataDir: string) {
  const found = await stat(join(dataDir, CLUSTER_DIR, 'PG_VERSION')).catch((error: NodeJS.ErrnoException) => error.code)
  if (found !== 'ENOENT' && found !== 'ENOTDIR') return
  await refuseInterruptedUpgrade(dataDir)
  throw new UsageError(
    `There is no Tidings data in ${dataDir}: \`tidings serve\` creates it, or set TIDINGS_DATA to the folder that has it.`,
  )
}

/** A new empty cluster would hide the existing data. */
async function refuseInterruptedUpgrade(dataDir: string) {
  if (await isInitialised(join(dataDir, CLUSTER_DIR)).catch(() => true)) return
  if (!(await isInitialised(join(dataDir, UPGRADE_DIR, CLUSTER_DIR)).catch(() => false))) return
  throw new UsageError(
    `The upgrade of the database in ${dataDir} was interrupted: \`tidings database upgrade\` ends it.`,
  )
}

/** Checks and prepares the data folder before a server is searched or started. */
export async function prepareCluster(
  wantedDir: string,
  settings: Record<string, string>,
  givenPackage?: BinaryPackage,
): Promise<Cluster> {
  const binaryPackage = givenPackage ?? (await findBinaryPackage())
  const dataDir = await makeDataDir(wantedDir)
  await refuseInterruptedUpgrade(dataDir)
  const dir = join(dataDir, CLUSTER_DIR)
  const user = serverUserOf(dir)
  if (user) await letIn(user, dataDir)
  await checkCluster(dir, binaryPackage, user)
  const passwordFile = join(dataDir, PASSWORD_FILE)
  const password = await readPassword(dir, passwordFile)
  const logFile = join(dataDir, 'postgres.log')
  return { dataDir, dir, logFile, passwordFile, password, settings, package: binaryPackage, user }
}

async function makeDataDir(wantedDir: string): Promise<string> {
  try {
    const created = await makeFolders(wantedDir, isRoot() ? 0o755 : 0o700)
    // After a strict umask the server's user could not enter the new folders.
    if (created && isRoot()) await openUpTo(created, wantedDir)
    await access(wantedDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(wantedDir)
  } catch (error) {
    throw new UsageError(
      `The data folder ${wantedDir} cannot be written by this user (${codeOf(error)}): change its owner, or set TIDINGS_DATA to another folder`,
    )
  }
}

/**
 * Creates the folder and its missing parents, and returns the topmost folder that it created. The option `recursive` of
 * Node.js repeats for ever where the system reports a missing folder although the parent exists, as in /proc.
 */
async function makeFolders(dir: string, mode: number): Promise<string | undefined> {
  if ((await stat(dir).catch(ignoreMissing))?.isDirectory()) return undefined
  const above = await makeFolders(dirname(dir), mode)
  try {
    await mkdir(dir, mode)
  } catch (error) {
    const isThere = codeOf(error) === 'EEXIST' && (await stat(dir)).isDirectory() // another process created it first
    if (!isThere) throw error
  }
  return above ?? dir
}

async function openUpTo(top: string, dir: string) {
  await chmod(dir, 0o711)
  if (dir !== top && dirname(dir) !== dir) await openUpTo(top, dirname(dir))
}

/**
 * The server's user must be able to enter the folder of its cluster. The mode of an empty folder is changed for that.
 */
async function letIn(user: ServerUser, dataDir: string) {
  if (canEnter(dataDir, user)) return
  if ((await readdir(dataDir)).length === 0) await chmod(dataDir, 0o711)
  if (canEnter(dataDir, user)) return
  throw new UsageError(
    `PostgreSQL cannot run as root, and its user (uid ${user.uid}) cannot enter ${dataDir}: allow others to pass through it and the folders above (chmod o+x), or set TIDINGS_DATA to another folder`,
  )
}

async function checkCluster(dir: string, binaryPackage: BinaryPackage, user?: ServerUser) {
  const stats = await stat(dir).catch(ignoreMissing)
  if (!stats || (await readdir(dir).catch(() => ['?'])).length === 0) return
  if (!user && stats.uid !== process.getuid?.()) {
    throw new UsageError(
      `The database in ${dir} belongs to another user (uid ${stats.uid}): run as that user, or set TIDINGS_DATA to another folder`,
    )
  }
  await checkVersion(dir, binaryPackage)
  // Restored by root from a backup, for instance.
  if (user && stats.uid === 0) await run('chown', ['-R', `${user.uid}:${user.gid}`, dir])
}

async function checkVersion(dir: string, { major }: BinaryPackage) {
  const version = (await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(ignoreMissing))?.trim()
  if (version === major) return
  if (!version) {
    throw new UsageError(
      `${dir} holds something that is not a database: move it away, or set TIDINGS_DATA to another folder`,
    )
  }
  const cure = Number(version) < Number(major) ? 'run `tidings database upgrade`, once' : 'update Tidings'
  throw new UsageError(
    `${dir} holds a database of PostgreSQL ${version}, and this Tidings brings PostgreSQL ${major}: ${cure}.`,
  )
}

/** All processes get the same password, also when several open a new folder at once. */
async function readPassword(dir: string, file: string): Promise<string> {
  try {
    if (!(await isInitialised(dir))) await writeOnce(file, randomBytes(24).toString('base64url'))
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new UsageError(
      `The password of the database in ${dir} cannot be read from ${file} (${codeOf(error)}): put the file back, or set TIDINGS_DATA to another folder`,
    )
  }
}

/** Writes a file that only its owner can read, completely or not at all. An existing file stays unchanged. */
export async function writeOnce(file: string, text: string) {
  const draft = `${file}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true })
    await link(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
}

export async function isInitialised(dir: string) {
  return (await stat(join(dir, 'PG_VERSION')).catch(ignoreMissing)) !== undefined
}

/**
 * Creates the cluster in a draft folder and renames the folder when the cluster is complete. A crash leaves only an
 * unused draft. If several processes create a cluster at once, the first to finish wins.
 */
export async function initialise(cluster: Cluster, binaries: Binaries) {
  const draft = join(cluster.dataDir, `postgres.new-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await fillDraft(cluster, binaries, draft)
    await rename(join(draft, 'cluster'), cluster.dir)
    await flushFolder(cluster.dataDir)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Another process is creating the cluster. Waiting for it is faster than doing the same work beside it. */
export async function isBeingMade({ dataDir }: Cluster) {
  for (const draft of await draftsIn(dataDir)) {
    if (draft.pid !== process.pid && isAlive(draft.pid) && draft.ageMs < HEAD_START_MS) return true
  }
  return false
}

export async function removeForgottenDrafts({ dataDir }: Cluster) {
  for (const draft of await draftsIn(dataDir)) {
    if (isAlive(draft.pid) && draft.ageMs < FORGOTTEN_MS) continue
    await rm(draft.path, { recursive: true, force: true }).catch(() => {})
  }
}

async function draftsIn(dataDir: string) {
  const drafts: { path: string; pid: number; ageMs: number }[] = []
  for (const name of await readdir(dataDir)) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1]
    const stats = pid ? await stat(join(dataDir, name)).catch(ignoreMissing) : undefined
    if (stats) drafts.push({ path: join(dataDir, name), pid: Number(pid), ageMs: Date.now() - stats.mtimeMs })
  }
  return drafts
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

async function fillDraft(cluster: Cluster, binaries: Binaries, draft: string) {
  // The server's user reads the password from this file, because it may not read our file.
  const passwordFile = join(draft, 'password')
  await mkdir(draft, { mode: 0o700 })
  await writeFile(passwordFile, cluster.password, { mode: 0o600 })
  if (cluster.user) {
    await chown(passwordFile, cluster.user.uid, cluster.user.gid)
    await chown(draft, cluster.user.uid, cluster.user.gid)
  }
  await runInitdb(cluster, binaries, join(draft, 'cluster'), passwordFile)
}

/** The builtin locale sorts by code point and converts upper and lower case, the same on every system. */
async function runInitdb({ dataDir, settings, user }: Cluster, { initdb }: Binaries, dir: string, password: string) {
  const args = ['--pgdata', dir, '--username', 'tidings', '--pwfile', password, '--auth', 'scram-sha-256']
  args.push('--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C')
  if (settings.fsync === 'off') args.push('--no-sync')
  try {
    await run(initdb, args, { ...user, cwd: '/', env: SERVER_ENV, timeout: INITDB_MS })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const reason = (stderr || message).trim().split('\n').slice(-5).join('\n')
    throw new UsageError(`The database in ${dataDir} could not be created:\n${reason}`)
  }
}

export async function flushFolder(dir: string) {
  const handle = await open(dir)
  await handle.sync().finally(() => handle.close())
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
