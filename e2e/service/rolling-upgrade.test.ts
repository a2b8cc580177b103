import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { projectDir } from '../../src/base/process/project.ts'
import { type Smsc, startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import { newestVersion, schemaVersionsOf } from '../../src/db/migrate.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { verifyLedger } from '../../src/domain/audit/verify.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { databaseUrl } from '../../src/testing/global-setup.ts'
import {
  type Env,
  expectNothingRunning,
  firstOutput,
  type Running,
  type Service,
  start,
  startService,
  stop,
  useDataFolders,
} from '../../src/testing/processes.ts'

/** The commit before this one, or undefined in a copy without its history. */
const previous = spawnSync('git', ['rev-parse', '--verify', 'HEAD^'], { cwd: projectDir, encoding: 'utf8' })
const isThere = previous.status === 0

const aDataFolder = useDataFolders()
const PARTS = ['bin', 'src', 'migrations', 'package.json']

/**
 * The processes of the previous commit and the processes of this one work side by side, over migrations, under load. Each
 * test continues where the test before it ended.
 */
describe.skipIf(!isThere)(
  `a rolling upgrade from the previous commit${isThere ? '' : ' (this copy has no HEAD^)'}`,
  () => {
    let folder: string
    let env: Env
    let sql: Pool
    let smsc: Smsc
    let load: Load
    let tables: string[]
    const programs = { old: '', new: '' }
    const olds = {} as { service: Service; engine: Running }
    let upgraded: Service

    beforeAll(async () => {
      folder = dirname(await aDataFolder())
      programs.old = await previousProgram(join(folder, 'old'))
      programs.new = await thisProgram(join(folder, 'new'))
      const name = `rolling_${randomBytes(6).toString('hex')}`
      const url = databaseUrl(inject('serverUrl'), name)
      await onServer(admin => admin`create database ${admin(name)}`)
      sql = connect(url, { max: 2 })
      smsc = await startSmsc({ accounts: { tidings: 'secret' }, receiptMs: 20 })
      env = {
        TIDINGS_DATA: folder,
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
        DATABASE_URL: url,
        TIDINGS_SECRET: SECRET,
        TIDINGS_DEMO: 'true',
        TIDINGS_METRICS: 'true',
      }
    })

    afterAll(async () => {
      await load?.stop()
      await smsc?.stop()
      await sql?.end({ timeout: 1 })
      await onServer(
        admin => admin`drop database if exists ${admin(new URL(env.DATABASE_URL!).pathname.slice(1))} with (force)`,
      )
    })

    test('the previous program works', async () => {
      olds.service = await startService(['serve'], env, undefined, programs.old)
      await useSmsc(sql, smsc.port)
      olds.engine = start(['engine'], env, undefined, programs.old)
      await firstOutput(olds.engine, /The engine is up/)
      load = new Load(olds.service.demo!.key!)
      load.use(olds.service.url)
      await load.more(60)
    })

    test('every table gets a column under load, and the previous program goes on', async () => {
      tables = await tablesIn(sql)
      const newest = await newestVersion()
      for (const [i, table] of tables.entries()) await addMigration(join(folder, 'new'), newest + i + 1, table)
      const migrated = await start(['migrate', '--json'], env, undefined, programs.new).ended
      expect(migrated).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(migrated.stdout).applied.length).toBeGreaterThanOrEqual(tables.length)
      expect((await schemaVersionsOf(sql)).version).toBe(newest + tables.length)
      await load.more(60)
    })

    test('both programs work side by side, and the metrics show both', async () => {
      upgraded = await startService(['serve'], { ...env, TIDINGS_DRAIN_SECONDS: '25' }, undefined, programs.new)
      load.use(upgraded.url)
      await load.more(60)
      const metrics = await (await fetch(`${upgraded.url}/metrics`)).text()
      const schemas = [...metrics.matchAll(/^tidings_processes\{kind="engine",.*schema="(\w+)"\}/gm)].map(
        ([, schema]) => schema,
      )
      expect(new Set(schemas).size).toBe(2)
    })

    test('the processes of the previous program are drained one by one', async () => {
      expect(await stop(olds.engine)).toMatchObject({ code: 0 })
      await load.more(50)
      load.leave(olds.service.url) // the proxy sends no further requests; open requests are still answered
      expect(await stop(olds.service)).toMatchObject({ code: 0 })
      await load.more(50)
    })

    test('while the new program drains, it says so and answers all requests', async () => {
      upgraded.child.kill('SIGTERM')
      await eventually(async () => expect((await fetch(`${upgraded.url}/readyz`)).status).toBe(503))
      expect((await fetch(`${upgraded.url}/healthz`)).status).toBe(503)
      const accepted = load.accepted.length
      await load.more(1)
      expect(load.accepted.length).toBeGreaterThan(accepted)
      await load.stop()
      expect(await upgraded.ended).toMatchObject({ code: 0 })
    })

    test('no request failed, and each accepted message was sent once and is delivered', async () => {
      upgraded = await startService(['serve'], env, undefined, programs.new)
      expect(load.failures).toEqual([])
      expect(load.accepted.length).toBeGreaterThanOrEqual(280)
      await eventually(async () => {
        const [row] = await sql<{ delivered: number }[]>`
        select count(*)::int as delivered from messages
        where status = 'DELIVERED' and destination = any(${load.accepted})`
        expect(row!.delivered).toBe(load.accepted.length)
      })
      const sent = load.accepted.map(destination => smsc.taken.get(destination))
      expect(new Set(sent)).toEqual(new Set([1]))
      expect(await verifyLedger(sql, { companyId: olds.service.demo!.companyId })).toEqual([])
    })

    test('a schema that does not allow the program any more stops it with one sentence', async () => {
      await sql`update schema_compatibility set minimum_version = 9999`
      const { code, stderr } = await upgraded.ended
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /tidings: The database needs a program of schema version 9999 or newer; this one is \d+\. Update/,
      )
      await expectNothingRunning(env.DATABASE_URL!)
    })
  },
)

const SECRET = 'a secret of the tests, 32 or longer'

async function previousProgram(folder: string): Promise<string> {
  await mkdir(folder)
  const archive = execFileSync('git', ['archive', 'HEAD^', ...PARTS], { cwd: projectDir, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  return linked(folder)
}

async function thisProgram(folder: string): Promise<string> {
  await mkdir(folder)
  for (const part of PARTS) {
    const filter = (path: string) => !path.endsWith('.test.ts')
    await cp(join(projectDir, part), join(folder, part), { recursive: true, filter })
  }
  return linked(folder)
}

async function linked(folder: string): Promise<string> {
  for (const part of ['node_modules', 'dist'])
    if (existsSync(join(projectDir, part))) await symlink(join(projectDir, part), join(folder, part))
  return join(folder, 'bin/tidings')
}

async function tablesIn(sql: Pool): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not like 'schema\_%' order by relname`
  return rows.map(({ name }) => name)
}

const addMigration = (folder: string, version: number, table: string) =>
  writeFile(
    join(folder, 'migrations', `${String(version).padStart(4, '0')}-pretended-${version}.sql`),
    `-- expand\nalter table ${table} add column pretended integer not null default 0`,
  )

/** The messages go to the SMSC. The simulated operators of the demo take nothing more. */
async function useSmsc(sql: Pool, port: number) {
  await sql`update gateways set paused = true, version = version + 1 where channel_type = 'SMS'`
  await sql`
    insert into gateways (name, channel_type, connector, settings)
    values ('smsc', 'SMS', 'smpp',
      ${sql.json({ host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', binds: 3, mostBackoffMs: 200 })})`
}

/** Clients behind a proxy: each request goes to a service that is in use. They keep their connections open. */
class Load {
  readonly accepted: string[] = []
  readonly failures: string[] = []
  readonly #key: string
  readonly #urls: string[] = []
  readonly #agents = new Map<string, Agent>()
  readonly #clients: Promise<void>[]
  #last = 0
  #isStopped = false

  constructor(key: string) {
    this.#key = key
    this.#clients = Array.from({ length: 4 }, () => this.#run())
  }

  use(url: string) {
    this.#agents.set(url, new Agent({ keepAlive: true }))
    this.#urls.push(url)
  }

  leave(url: string) {
    this.#urls.splice(this.#urls.indexOf(url), 1)
  }

  /** Waits until so many more messages are accepted. */
  async more(count: number) {
    const wanted = this.accepted.length + count
    await eventually(() => expect(this.accepted.length + 1000 * this.failures.length).toBeGreaterThanOrEqual(wanted))
    expect(this.failures).toEqual([])
  }

  async stop() {
    this.#isStopped = true
    await Promise.all(this.#clients)
    for (const agent of this.#agents.values()) agent.destroy()
  }

  async #run() {
    while (!this.#isStopped) {
      const number = this.#last++
      const url = this.#urls[number % this.#urls.length]
      if (url) await this.#send(url, `7916${5_000_000 + number}`)
      await new Promise(passed => setTimeout(passed, 40))
    }
  }

  async #send(url: string, destination: string) {
    try {
      const { status, body } = await this.#post(url, destination)
      if (status === 200 && !body.includes('"error"')) this.accepted.push(destination)
      else this.failures.push(`${status} ${body}`)
    } catch (error) {
      this.failures.push(String(error))
    }
  }

  async #post(url: string, destination: string): Promise<{ status: number | undefined; body: string }> {
    const sent = request(`${url}/api/v1/message`, {
      method: 'POST',
      agent: this.#agents.get(url),
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
    })
    sent.end(JSON.stringify([{ channelType: 'SMS', senderName: 'ROMASHKA', destination, content: 'Rolling' }]))
    const [response] = await once(sent, 'response')
    let body = ''
    for await (const piece of response.setEncoding('utf8')) body += piece
    return { status: response.statusCode, body }
  }
}

async function onServer(work: (admin: Pool) => Promise<unknown>) {
  const admin = connect(inject('serverUrl'), { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
