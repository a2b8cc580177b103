import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from '../../base/errors.ts'
import { eventually } from '../../testing/eventually.ts'
import { signal } from '../../testing/signal.ts'
import { connect } from '../sql.ts'
import { findBinaries, findBinaryPackage } from './binaries.ts'
import { defaultDataDir, openEmbeddedServer } from './embedded.ts'
import { isRoot, serverUserOf } from './user.ts'

const MODULE = new URL('./embedded.ts', import.meta.url)
// These tests do not simulate a power failure, so they need not wait for the disk.
const QUICK = { fsync: 'off', shared_buffers: '16MB' }
const NOBODY = { uid: 65534, gid: 65534 }

let template: string
const folders: string[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  template = await aFolder()
  folders.length = 0
  await (await open(join(template, 'data'))).release()
})

afterAll(() => removeWithServers(template))

afterEach(async () => {
  for (const child of children.splice(0)) await killAndWait(child)
  for (const folder of folders.splice(0)) await removeWithServers(folder)
})

describe('one process', () => {
  test('the first start creates a cluster, a database and secrets that only their owner can read', async () => {
    const dataDir = await aDataDir()
    const server = await open(dataDir)

    const [row] = await ask(
      server.url,
      `
      select current_database() as database, current_user as role, getdatabaseencoding() as encoding,
        current_setting('data_checksums') as checksums, current_setting('listen_addresses') as addresses,
        current_setting('unix_socket_directories') as sockets, lower('ÄÖ') as lower`,
    )
    expect(row).toEqual({
      database: 'tidings',
      role: 'tidings',
      encoding: 'UTF8',
      checksums: 'on',
      addresses: '127.0.0.1',
      sockets: join(dataDir, 'postgres'),
      lower: 'äö',
    })
    expect(await modeOf(join(dataDir, 'postgres.password'))).toBe(0o600)
    expect(await modeOf(join(dataDir, 'postgres.log'))).toBe(0o600)
    expect(await modeOf(join(dataDir, 'postgres'))).toBe(0o700)
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password'])
    await server.release()
  })

  test('a data folder whose path is too long for a socket is served over its port', async () => {
    const dataDir = join(await aFolder(), 'deep'.repeat(25))
    const server = await open(dataDir)
    expect(new URL(server.url).search).toBe('')
    expect(await ask(server.url, 'select inet_server_port() is null as socket')).toEqual([{ socket: false }])
    await server.release()
  })

  test('a wrong password is refused', async () => {
    const server = await open(await aUsedDataDir())
    const url = new URL(server.url)
    url.password = 'guess'
    await expect(ask(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    await server.release()
  })

  test('the data is still there after a stop, and the second start creates no new cluster', async () => {
    const dataDir = await aUsedDataDir()
    const first = await open(dataDir)
    await ask(first.url, 'create table kept as select 42 as answer')
    await first.release()
    expect(await isRunning(dataDir)).toBe(false)

    const madeAt = async () => (await stat(join(dataDir, 'postgres', 'PG_VERSION'))).mtimeMs
    const before = await madeAt()
    const second = await open(dataDir)
    expect(await madeAt()).toBe(before)
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await second.release()
  })

  test('durability is on unless a setting turns it off', async () => {
    const server = await openEmbeddedServer({ dataDir: await aDataDir() })
    const [row] = await ask(
      server.url,
      `
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('full_page_writes') as pages`,
    )
    expect(row).toEqual({ fsync: 'on', commit: 'on', pages: 'on' })
    await server.release()
  })

  test('releasing twice is the same as releasing once', async () => {
    const dataDir = await aUsedDataDir()
    const server = await open(dataDir)
    await Promise.all([server.release(), server.release()])
    await server.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('a long log is renamed at the next start', async () => {
    const dataDir = await aUsedDataDir()
    await (await open(dataDir)).release()
    await writeFile(join(dataDir, 'postgres.log'), Buffer.alloc(10_000_001, 'x\n'))
    await (await open(dataDir)).release()
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(100_000)
    expect((await stat(join(dataDir, 'postgres.log.1'))).size).toBe(10_000_001)
  })
})

describe('several users', () => {
  test('the last user stops the server', async () => {
    const dataDir = await aUsedDataDir()
    const first = await open(dataDir)
    const second = await aProcess(dataDir)
    const third = await open(dataDir)
    expect(second.url).toBe(first.url)

    await first.release()
    expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await third.release()
    expect(await isRunning(dataDir)).toBe(true)
    await second.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('of several processes that open an empty folder at once, one creates the server and all use it', async () => {
    const dataDir = await aDataDir()
    const users = await Promise.all([1, 2, 3, 4].map(() => aProcess(dataDir)))
    expect(new Set(users.map(user => user.url)).size).toBe(1)
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password'])

    await Promise.all(users.map(user => user.release()))
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('a process that starts while the last user stops gets a server that keeps running', async () => {
    const dataDir = await aUsedDataDir()
    let server = await open(dataDir)
    await ask(server.url, 'create table kept as select 42 as answer')
    for (let round = 0; round < 12; round++) {
      const leaving = server.release()
      await pause(round * 3)
      const [next] = await Promise.all([open(dataDir), leaving])
      expect(await ask(next.url, 'select answer from kept')).toEqual([{ answer: 42 }])
      server = next
    }
    await server.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('a second instance is refused in one sentence, and can start after the first one has ended', async () => {
    const dataDir = await aUsedDataDir()
    const first = await open(dataDir, { exclusive: true })
    const refusal = open(dataDir, { exclusive: true })
    await expect(refusal).rejects.toThrow(UsageError)
    await expect(refusal).rejects.toThrow(/Another Tidings .* stop it first, or set TIDINGS_DATA/)
    await expect(refusal).rejects.toThrow(dataDir)

    const command = await open(dataDir)
    expect(await ask(command.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await first.release()
    const second = await open(dataDir, { exclusive: true })
    await command.release()
    await second.release()
    expect(await isRunning(dataDir)).toBe(false)
  })
})

describe('crashes', () => {
  test('after kill -9 of its user another process takes over the server with its data, and can be the instance', async () => {
    const dataDir = await aUsedDataDir()
    const holder = await aProcess(dataDir, { exclusive: true })
    await ask(holder.url, 'create table kept as select 42 as answer')
    await killAndWait(holder.child)
    expect(await isRunning(dataDir)).toBe(true)

    const next = await open(dataDir, { exclusive: true })
    expect(next.url).toBe(holder.url)
    expect(await ask(next.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await next.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('Ctrl-C in the terminal does not reach the server', async () => {
    const dataDir = await aUsedDataDir()
    const holder = await aProcess(dataDir)
    process.kill(-holder.child.pid!, 'SIGINT')
    await once(holder.child, 'exit')

    const next = await open(dataDir)
    expect(next.url).toBe(holder.url)
    await next.release()
  })

  test('after kill -9 of everything the next start recovers all committed data', async () => {
    const dataDir = await aUsedDataDir()
    const holder = await aProcess(dataDir, { exclusive: true })
    await ask(holder.url, 'create table kept as select 42 as answer')
    holder.child.kill('SIGKILL')
    process.kill(await postmasterPid(dataDir), 'SIGKILL')

    const next = await open(dataDir, { exclusive: true })
    expect(await ask(next.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await next.release()
  })

  test('a killed server starts again on the same port, and its user is still the only instance', async () => {
    const dataDir = await aUsedDataDir()
    const server = await open(dataDir, { exclusive: true })
    await ask(server.url, 'create table kept as select 42 as answer')
    process.kill(await postmasterPid(dataDir), 'SIGKILL')

    await eventually(async () => expect(await ask(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]))
    await eventually(async () => expect(await keepers(server.url)).toBe(1))
    await expect(open(dataDir, { exclusive: true })).rejects.toThrow(/Another Tidings/)
    await server.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('a session that the server killed is opened again, so that no other process stops the server', async () => {
    const dataDir = await aUsedDataDir()
    const server = await open(dataDir)
    await ask(
      server.url,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tidings keeper'`,
    )
    await eventually(async () => expect(await keepers(server.url)).toBe(1))

    await (await open(dataDir)).release()
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('a pid file and a lock of the socket with the id of another process do not block', async () => {
    const dataDir = await aUsedDataDir()
    const former = await open(dataDir)
    const { port } = new URL(former.url)
    await former.release()
    const stranger = spawn('sleep', ['60'], { ...serverUserOf(join(dataDir, 'postgres')), cwd: '/' })
    children.push(stranger)
    const lines = [stranger.pid, join(dataDir, 'postgres'), 1_700_000_000, port, '', '127.0.0.1', '', 'ready   ', '']
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), lines.join('\n'))
    await writeFile(join(dataDir, `postgres/.s.PGSQL.${port}.lock`), lines.slice(0, 5).join('\n'))

    const server = await open(dataDir)
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.release()
    expect(stranger.exitCode).toBe(null)
    expect(stranger.signalCode).toBe(null)
  })

  test('an empty pid file does not block', async () => {
    const dataDir = await aUsedDataDir()
    await (await open(dataDir)).release()
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), '')
    await (await open(dataDir)).release()
  })

  test('an interrupted creation of the cluster does not block the next start', async () => {
    const dataDir = await aDataDir()
    const child = startChild(dataDir)
    await eventually(async () =>
      expect(existsSync(dataDir) && (await readdir(dataDir)).join()).toMatch(/postgres\.new-/),
    )
    await killAndWait(child)
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)

    const server = await open(dataDir)
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.release()
    // The orphaned initdb may have been writing while its folder was removed; it is gone by the next start.
    await (await open(dataDir)).release()
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password'])
  })
})

describe('mistakes are reported in one sentence', () => {
  test('a cluster of another PostgreSQL', async () => {
    const dataDir = await aDataDir()
    await mkdir(join(dataDir, 'postgres'), { recursive: true })
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '15\n')
    await expect(open(dataDir)).rejects.toThrow(/a database of PostgreSQL 15, and this Tidings brings PostgreSQL 18/)
  })

  test('a folder that holds something else', async () => {
    const dataDir = await aDataDir()
    await mkdir(join(dataDir, 'postgres'), { recursive: true })
    await writeFile(join(dataDir, 'postgres/letter.txt'), 'Dear')
    await expect(open(dataDir)).rejects.toThrow(/something that is not a database/)
  })

  test('a file where the folder should be', async () => {
    const dataDir = await aDataDir()
    await writeFile(dataDir, '')
    await expect(open(dataDir)).rejects.toThrow(UsageError)
  })

  test('a lost password file', async () => {
    const dataDir = await aUsedDataDir()
    await (await open(dataDir)).release()
    await rm(join(dataDir, 'postgres.password'))
    await expect(open(dataDir)).rejects.toThrow(/password .* cannot be read .*put the file back/)
  })

  test('a server that does not start quotes its log', async () => {
    const dataDir = await aUsedDataDir()
    await expect(open(dataDir, { settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /does not start[\s\S]*invalid value for parameter "shared_buffers"/,
    )
  })
})

describe('binaries', () => {
  test('links that the install script did not create are created', async () => {
    const installed = await findBinaryPackage()
    const root = join(await aFolder(), 'package')
    await cp(installed.root, root, { recursive: true, verbatimSymlinks: true })
    const links = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8'))
    for (const { target } of links) await rm(join(root, target))

    const binaries = await findBinaries({ ...installed, root }, root, serverUserOf(root))
    expect(binaries.postgres).toBe(join(root, 'native/bin/postgres'))
  })
})

describe.runIf(isRoot())('as root', () => {
  test('the server runs under a system user, and the secrets stay with root', async () => {
    const dataDir = await aUsedDataDir()
    const server = await open(dataDir)
    expect((await stat(join(dataDir, 'postgres'))).uid).not.toBe(0)
    expect((await stat(`/proc/${await postmasterPid(dataDir)}`)).uid).not.toBe(0)
    expect((await stat(join(dataDir, 'postgres.password'))).uid).toBe(0)
    await server.release()
  })

  test('a data folder that the system user cannot enter is refused with advice', async () => {
    const closed = await aFolder()
    await chmod(closed, 0o700)
    await expect(open(join(closed, 'data'))).rejects.toThrow(/cannot enter .*chmod o\+x.* or set TIDINGS_DATA/)
    expect(defaultDataDir(closed)).toMatch(/^\/var\/lib\/tidings\/.+-[0-9a-f]{8}$/)
  })

  test('the mode of an empty private folder is changed so that the system user can enter it', async () => {
    const dataDir = await aFolder()
    await chmod(dataDir, 0o700)
    await (await open(dataDir)).release()
    expect(await modeOf(dataDir)).toBe(0o711)
  })

  test('a working folder that others can enter keeps its data inside', async () => {
    const folder = await aFolder()
    expect(defaultDataDir(folder)).toBe(join(folder, '.tidings'))
  })

  test('an ordinary user needs only the folder', async context => {
    const obstacle = whyNobodyCannotRun()
    if (obstacle) return context.skip(obstacle)
    const folder = await aFolder()
    await chown(folder, NOBODY.uid, NOBODY.gid)
    const dataDir = join(folder, 'data')

    const user = await aProcess(dataDir, { exclusive: true, as: NOBODY })
    expect(await ask(user.url, 'select 1 as one')).toEqual([{ one: 1 }])
    for (const name of ['', 'postgres', 'postgres.log', 'postgres.password']) {
      expect((await stat(join(dataDir, name))).uid).toBe(NOBODY.uid)
    }
    expect(await modeOf(dataDir)).toBe(0o700)
    await user.release()
    expect(await isRunning(dataDir)).toBe(false)
  })

  test('root may use the folder of an ordinary user, and that user can continue afterwards', async context => {
    const obstacle = whyNobodyCannotRun()
    if (obstacle) return context.skip(obstacle)
    const folder = await aFolder()
    await chown(folder, NOBODY.uid, NOBODY.gid)
    const dataDir = join(folder, 'data')
    await (await aProcess(dataDir, { as: NOBODY })).release()
    await rm(join(dataDir, 'postgres.log'))

    const server = await open(dataDir)
    const besides = await aProcess(dataDir, { as: NOBODY })
    await server.release()
    await besides.release()
    expect(await isRunning(dataDir)).toBe(false)
    await (await aProcess(dataDir, { as: NOBODY })).release()
  })

  test('an ordinary user gets an error for a folder of another user', async context => {
    const obstacle = whyNobodyCannotRun()
    if (obstacle) return context.skip(obstacle)
    const dataDir = await aUsedDataDir()
    await (await open(dataDir)).release()
    await expect(aProcess(dataDir, { as: NOBODY })).rejects.toThrow(/UsageError: The data folder .* cannot be written/)
    await chmod(dataDir, 0o777)
    await expect(aProcess(dataDir, { as: NOBODY })).rejects.toThrow(/UsageError: The database in .* another user/)
  })
})

type Choice = { exclusive?: boolean; settings?: Record<string, string> }

function open(dataDir: string, { exclusive, settings }: Choice = {}) {
  return openEmbeddedServer({ dataDir, exclusive, settings: { ...QUICK, ...settings } })
}

/** Another process that uses the server until the test releases it or ends. */
async function aProcess(dataDir: string, options: { exclusive?: boolean; as?: typeof NOBODY } = {}) {
  const child = startChild(dataDir, options)
  const errors = child.stderr!.toArray()
  const [url] = await Promise.race([once(createInterface(child.stdout!), 'line'), once(child, 'close').then(() => [])])
  if (!url) throw new Error(Buffer.concat(await errors).toString())
  return {
    url: url as string,
    child,
    release: async () => {
      const ended = once(child, 'exit')
      child.stdin!.end()
      expect(await ended).toEqual([0, null])
    },
  }
}

function startChild(dataDir: string, { exclusive = false, as }: { exclusive?: boolean; as?: typeof NOBODY } = {}) {
  const script = `
    import { openEmbeddedServer } from ${JSON.stringify(MODULE.href)}
    const server = await openEmbeddedServer(${JSON.stringify({ dataDir, exclusive, settings: QUICK })})
    console.log(server.url)
    for await (const _ of process.stdin);
    await server.release()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { ...as, cwd: '/', detached: true })
  children.push(child)
  return child
}

function whyNobodyCannotRun() {
  const tried = spawnSync(process.execPath, ['--check', fileURLToPath(MODULE)], { ...NOBODY, cwd: '/' })
  if (tried.error || tried.status !== 0) return 'the unprivileged user cannot reach node or this project'
}

async function ask(url: string, question: string): Promise<Record<string, unknown>[]> {
  const sql = connect(url, { max: 1 })
  try {
    return [...(await sql.unsafe(question))]
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function keepers(url: string) {
  return (await ask(url, `select from pg_stat_activity where application_name = 'tidings keeper'`)).length
}

/** A folder with a cluster. It is created once and copied, because creating one takes a second. */
async function aUsedDataDir() {
  const dataDir = await aDataDir()
  spawnSync('cp', ['-a', join(template, 'data'), dataDir])
  return dataDir
}

/** A path that does not exist yet, in a temporary folder that any user can enter. */
async function aDataDir() {
  return join(await aFolder(), 'data')
}

async function aFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-embedded-'))
  folders.push(folder)
  await chmod(folder, 0o755)
  return folder
}

async function modeOf(path: string) {
  return (await stat(path)).mode & 0o777
}

async function isRunning(dataDir: string) {
  return existsSync(join(dataDir, 'postgres/postmaster.pid'))
}

async function postmasterPid(dataDir: string) {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
}

async function killAndWait(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Also after a failed test that did not release the server. */
async function removeWithServers(folder: string) {
  for (const dataDir of [folder, join(folder, 'data')]) {
    if (await isRunning(dataDir).catch(() => false)) await stopByForce(dataDir)
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

async function stopByForce(dataDir: string) {
  const pid = await postmasterPid(dataDir)
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (command.includes(dataDir)) signal(pid, 'SIGQUIT')
  await eventually(async () => expect(existsSync(`/proc/${pid}/cmdline`)).toBe(false)).catch(() => {})
}
