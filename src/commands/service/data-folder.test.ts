import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { projectDir } from '../../base/process/project.ts'
import { findBinaryPackage } from '../../db/embedded/binaries.ts'
import { openEmbeddedServer } from '../../db/embedded/embedded.ts'
import { replaceCluster } from '../../db/embedded/upgrade.ts'
import { connect, type Pool } from '../../db/sql.ts'
import { aPartner } from '../../testing/factories.ts'
import {
  answerOf,
  type Ended,
  type Env,
  expectNothingRunning,
  expectSentence,
  run,
  start,
  useDataFolders,
} from '../../testing/processes.ts'

const NOBODY = { uid: 65534, gid: 65534 }
const aDataFolder = useDataFolders()

/** A migrated data folder that no process uses. */
let migrated: string

beforeAll(async () => {
  migrated = await aDataFolder()
  await answerOf(['migrate'], { TIDINGS_DATA: migrated })
  await onServer(migrated, sql => aPartner(sql, 'anna'))
})

async function onServer(dataDir: string, work: (sql: Pool) => Promise<unknown>) {
  const server = await openEmbeddedServer({ dataDir })
  const sql = connect(server.url, { max: 1 })
  await work(sql)
  await sql.end()
  await server.release()
}

/** Owners and modes included: PostgreSQL's own user must have its files. */
const copyData = (to: string) => execFileSync('cp', ['-a', migrated, to])

describe('a folder without data', () => {
  test.each(['company list', 'api', 'engine', 'ledger verify'])('tidings %s says so', async command => {
    const folder = await aDataFolder()
    const ended = await run(command.split(' '), { TIDINGS_DATA: folder })
    expectSentence(ended, new RegExp(`There is no Tidings data in ${folder}: \`tidings serve\` creates it`))
    expect(existsSync(folder)).toBe(false)
  })

  test('is told to a user who may not write there, too', async context => {
    if (process.getuid?.() !== 0) return context.skip('only root can become another user')
    const folder = await aDataFolder()
    const listed = await start(['company', 'list'], { TIDINGS_DATA: folder }, NOBODY).ended
    if (/Cannot find module|Permission denied/.test(listed.stderr))
      return context.skip('the unprivileged user cannot reach the project')
    expectSentence(listed, /There is no Tidings data in/)
    expectSentence(await start(['migrate'], { TIDINGS_DATA: folder }, NOBODY).ended, /cannot be written by this user/)
    expect(existsSync(folder)).toBe(false)
  })
})

describe('without TIDINGS_DATA', () => {
  let project: string
  let elsewhere: string

  /** A copy of the project, so that the folder in which people work on it is not touched. */
  beforeAll(async () => {
    const folder = dirname(await aDataFolder())
    project = join(folder, 'project')
    elsewhere = join(folder, 'elsewhere')
    await Promise.all([mkdir(project), mkdir(elsewhere)])
    for (const part of ['bin', 'src', 'migrations', 'package.json']) {
      await cp(join(projectDir, part), join(project, part), {
        recursive: true,
        filter: path => !path.endsWith('.test.ts'),
      })
    }
    await symlink(join(projectDir, 'node_modules'), join(project, 'node_modules'))
    await symlink('../project/bin/tidings', join(elsewhere, 'tidings'))
    await chmod(elsewhere, 0o555)
  })

  function runFromElsewhere(words: string[], env: Env = {}): Ended {
    const { status, signal, stdout, stderr } = spawnSync('./tidings', words, {
      cwd: elsewhere,
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    })
    return { code: status, signal, stdout, stderr }
  }

  test("the data is looked for in the project's folder, through a link and from anywhere", async () => {
    for (const _ of ['once', 'twice']) {
      expectSentence(
        runFromElsewhere(['company', 'list']),
        new RegExp(`There is no Tidings data in ${project}/\\.tidings: `),
      )
    }
    expect(existsSync(join(project, '.tidings'))).toBe(false)

    copyData(join(project, '.tidings'))
    for (const _ of ['once', 'twice']) {
      expect(runFromElsewhere(['company', 'list', '--json'])).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' })
    }
    expect(existsSync(join(elsewhere, '.tidings'))).toBe(false)
    await expectNothingRunning(project)
  })
})

describe('a lost secret', () => {
  test('is told with what to do, and no other is made', async () => {
    const folder = await aDataFolder()
    copyData(folder)
    const [file, aside] = [join(folder, 'secret'), join(folder, 'secret.aside')]
    const secret = await readFile(file, 'utf8')
    await rename(file, aside)
    const sentence = new RegExp(
      `The file ${file} is missing or empty.*: put it back from a backup, or set TIDINGS_SECRET`,
    )
    expectSentence(await run(['serve'], { TIDINGS_DATA: folder, PORT: '0' }), sentence)
    expect(existsSync(file)).toBe(false)
    await writeFile(file, '')
    expectSentence(await run(['company', 'list'], { TIDINGS_DATA: folder }), sentence)

    expect(await answerOf(['company', 'list'], { TIDINGS_DATA: folder, TIDINGS_SECRET: secret })).toEqual([])
    await rename(aside, file)
    expect(await answerOf(['company', 'list'], { TIDINGS_DATA: folder })).toEqual([])
    await expectNothingRunning(folder)
  })
})

const loginsIn = async (folder: string) =>
  (await answerOf(['partner', 'list'], { TIDINGS_DATA: folder })).map(({ login }: { login: string }) => login)

describe('moving', () => {
  test('into another folder by way of a file', async () => {
    const folder = await aDataFolder()
    const file = join(dirname(folder), 'all.export')
    expect(await answerOf(['database', 'export', file], { TIDINGS_DATA: migrated })).toMatchObject({ file })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expectSentence(await run(['database', 'export', file], { TIDINGS_DATA: migrated }), /all\.export" is there already/)

    expectSentence(
      await run(['database', 'import', file], { TIDINGS_DATA: folder }),
      /all\.export: The file was written under another secret.*put the `secret` file of the former data folder/,
    )
    await cp(join(migrated, 'secret'), join(folder, 'secret'))
    expect(await answerOf(['database', 'import', file], { TIDINGS_DATA: folder })).toMatchObject({
      rows: expect.any(Number),
    })
    expect(await loginsIn(folder)).toEqual(['anna'])
    expect(await answerOf(['ledger', 'verify'], { TIDINGS_DATA: folder })).toEqual([])
  })

  test('to another major version of PostgreSQL', async () => {
    const folder = await aDataFolder()
    copyData(folder)
    await writeFile(join(folder, 'postgres/PG_VERSION'), '17')
    expectSentence(
      await run(['company', 'list'], { TIDINGS_DATA: folder }),
      /a database of PostgreSQL 17, and this Tidings brings PostgreSQL \d+: run `tidings database upgrade`, once\./,
    )
    await writeFile(join(folder, 'postgres/PG_VERSION'), '99')
    expectSentence(await run(['database', 'upgrade'], { TIDINGS_DATA: folder }), /PostgreSQL 99, .*: update Tidings\./)

    const { version, major, root } = await findBinaryPackage()
    await writeFile(join(folder, 'postgres/PG_VERSION'), major)
    const { formerDir } = await replaceCluster(folder, { version, major, root }, () => {})
    expect(formerDir).toBe(join(folder, `postgres-${major}`))
    expect(existsSync(join(formerDir, 'PG_VERSION'))).toBe(true)
    expect((await readdir(folder)).sort()).toEqual(
      ['postgres', `postgres-${major}`, 'postgres.log', 'postgres.password', 'secret'].sort(),
    )
    expect(await loginsIn(folder)).toEqual(['anna'])
  })

  test('without a network changes nothing and says so soon', async () => {
    const folder = await aDataFolder()
    copyData(folder)
    await writeFile(join(folder, 'postgres/PG_VERSION'), '17')
    const before = (await readdir(folder)).sort()
    let attempts = 0
    const registry = createServer(socket => {
      attempts++
      socket.destroy()
    })
    await once(registry.listen(0, '127.0.0.1'), 'listening')
    const { port } = registry.address() as AddressInfo
    expectSentence(
      await run(['database', 'upgrade'], { TIDINGS_DATA: folder, npm_config_registry: `http://127.0.0.1:${port}` }),
      /PostgreSQL 17 could not be fetched with npm \(.*\): nothing was changed\./,
    )
    registry.close()
    expect((await readdir(folder)).sort()).toEqual(before)
    expect(attempts).toBe(2) // npm itself would try three times, after longer and longer pauses
  })

  test('that was interrupted at the last step is ended by the same command', async () => {
    const folder = await aDataFolder()
    copyData(folder)
    await mkdir(join(folder, 'upgrade'))
    await rename(join(folder, 'postgres'), join(folder, 'upgrade/postgres'))
    for (const words of [['serve'], ['company', 'list']]) {
      expectSentence(
        await run(words, { TIDINGS_DATA: folder, PORT: '0' }),
        /was interrupted: `tidings database upgrade` ends it\./,
      )
    }
    expect(await answerOf(['database', 'upgrade'], { TIDINGS_DATA: folder })).toEqual({ upgraded: false })
    expect(await loginsIn(folder)).toEqual(['anna'])
    await expectNothingRunning(folder)
  })
})
