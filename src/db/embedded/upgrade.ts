import { execFile } from 'node:child_process'
import { constants, createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '../../base/errors.ts'
import { connect, type Pool } from '../sql.ts'
import { exportDatabase, importDatabase, type Transferred } from '../transfer.ts'
import { type BinaryPackage, findBinaryPackage, packageName } from './binaries.ts'
import { CLUSTER_DIR, flushFolder, PASSWORD_FILE, requireCluster, UPGRADE_DIR } from './cluster.ts'
import { openEmbeddedServer } from './embedded.ts'

/**
 * Moves the embedded database to another major version of PostgreSQL. The npm package contains one version and no
 * pg_upgrade. So the former version is installed once more, and all data is exported from the former server and
 * imported into a new one. The new cluster replaces the former cluster when it is complete. The former cluster stays
 * beside it.
 *
 *   postgres           the cluster in use
 *   upgrade/           the file, and the new cluster while it is being filled
 *   postgres-18        the former cluster, until an administrator removes it
 */
export type Upgrade = Transferred & { from: string; to: string; formerDir: string }

type Report = (what: string) => void

/** Returns undefined when the cluster already has the version of our package. */
export async function upgradeEmbedded(givenDir: string, report: Report): Promise<Upgrade | undefined> {
  const dataDir = resolve(givenDir)
  if (!(await finishInterrupted(dataDir))) await requireCluster(dataDir)
  const [from, { major: to }] = [await majorOf(dataDir), await findBinaryPackage()]
  if (from === to) return
  if (Number(from) > Number(to)) {
    throw new UsageError(
      `${dataDir} holds a database of PostgreSQL ${from}, and this Tidings brings PostgreSQL ${to}: update Tidings.`,
    )
  }
  report(`Fetching PostgreSQL ${from} ...`)
  const place = join(dataDir, `postgresql-${from}`)
  const former = await installFormer(place, from)
  const done = await replaceCluster(dataDir, former, report)
  await rm(place, { recursive: true, force: true })
  return { ...done, from, to }
}

const majorOf = async (dataDir: string) => (await readFile(join(dataDir, CLUSTER_DIR, 'PG_VERSION'), 'utf8')).trim()

const run = promisify(execFile)
const NPM_MS = 600_000
/** For the first small request. Without a network npm would go on for 10 minutes. */
const impatiently = ['--fetch-timeout=20000', '--fetch-retries=1', '--fetch-retry-mintimeout=1000']

/** The newest minor version reads the files of all earlier ones. */
async function installFormer(place: string, major: string): Promise<BinaryPackage> {
  try {
    const { stdout } = await npm(['view', packageName(), 'versions', '--json', ...impatiently])
    const version = (JSON.parse(stdout) as string[]).findLast(one => one.startsWith(`${major}.`))
    if (!version) throw new Error(`npm has no version ${major} of ${packageName()}`)
    await mkdir(place, { recursive: true })
    await chmod(place, 0o755)
    const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    await npm(['install', ...quietly, '--prefix', place, `${packageName()}@${version}`])
    return { root: join(place, 'node_modules', packageName()), version, major }
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const reason = (stderr || message).trim().split('\n')[0]
    throw new UsageError(`PostgreSQL ${major} could not be fetched with npm (${reason}): nothing was changed.`)
  }
}

/** Without the search for a newer npm, which npm makes once a week: it would wait for the network, too. */
const npm = (args: string[]) =>
  run('npm', [...args, '--no-update-notifier'], { timeout: NPM_MS, maxBuffer: 16 * 1024 * 1024, cwd: '/' })

/**
 * Exports the former cluster with the former programs, and imports the data into a new cluster in the same data folder.
 */
export async function replaceCluster(
  dataDir: string,
  former: BinaryPackage,
  report: Report,
): Promise<Transferred & { formerDir: string }> {
  const draft = join(dataDir, UPGRADE_DIR)
  await rm(draft, { recursive: true, force: true })
  const file = join(dataDir, 'upgrade.export')
  await writeAll(dataDir, former, file, report)
  const done = await readAll(dataDir, draft, file, report)
  const formerDir = await swap(dataDir, former.major)
  await rm(file, { force: true })
  return { ...done, formerDir }
}

// The secret stays the same, so the import does not need to compare it.
const NO_SECRET = 'within one data folder'

async function writeAll(dataDir: string, former: BinaryPackage, file: string, report: Report) {
  await onServer({ dataDir, exclusive: true, package: former }, sql =>
    exportDatabase(sql, NO_SECRET, createWriteStream(file, { mode: 0o600, flush: true }), (table, rows) =>
      report(`Reading ${table}: ${rows} rows`),
    ),
  )
}

async function readAll(dataDir: string, draft: string, file: string, report: Report): Promise<Transferred> {
  await mkdir(draft)
  await chmod(draft, 0o711) // the user of PostgreSQL must be able to enter it
  await copyFile(join(dataDir, PASSWORD_FILE), join(draft, PASSWORD_FILE), constants.COPYFILE_EXCL)
  return onServer({ dataDir: draft }, sql =>
    importDatabase(sql, NO_SECRET, createReadStream(file), (table, rows) => report(`Writing ${table}: ${rows} rows`)),
  )
}

/** Two renames. After a crash between them there is no cluster at its path; `finishInterrupted` repairs that. */
async function swap(dataDir: string, major: string): Promise<string> {
  const current = join(dataDir, CLUSTER_DIR)
  if (existsSync(join(current, 'postmaster.pid'))) {
    throw new UsageError(`The database in ${dataDir} is still in use: wait until other commands have ended.`)
  }
  const formerDir = freeNameLike(join(dataDir, `${CLUSTER_DIR}-${major}`))
  await rename(current, formerDir)
  await finishInterrupted(dataDir)
  return formerDir
}

/** Moves a complete new cluster to its path; false when there is none. */
async function finishInterrupted(dataDir: string): Promise<boolean> {
  const [current, draft] = [join(dataDir, CLUSTER_DIR), join(dataDir, UPGRADE_DIR)]
  if (existsSync(current) || !existsSync(join(draft, CLUSTER_DIR))) return false
  await rename(join(draft, CLUSTER_DIR), current)
  await flushFolder(dataDir)
  await rm(draft, { recursive: true, force: true })
  return true
}

function freeNameLike(name: string, count = 1): string {
  const candidate = count === 1 ? name : `${name}-${count}`
  return existsSync(candidate) ? freeNameLike(name, count + 1) : candidate
}

type ServerOptions = Parameters<typeof openEmbeddedServer>[0]

async function onServer<T>(options: ServerOptions, work: (sql: Pool) => Promise<T>): Promise<T> {
  const server = await openEmbeddedServer(options)
  const sql = connect(server.url, { max: 3 })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
    await server.release()
  }
}
