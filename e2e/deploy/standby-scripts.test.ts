import { execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../src/db/embedded/user.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { endServer, root } from './programs.ts'

/** The scripts of compose.yaml that make a standby, with the PostgreSQL of Debian. */

const BIN = '/usr/lib/postgresql/15/bin'
const isThere = existsSync(join(BIN, 'pg_basebackup'))

describe.skipIf(!isThere)('deploy/postgres (skipped without pg_basebackup, package postgresql-15)', () => {
  let folder: string
  let primary: Server
  let standby: Server
  const clients: Pool[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidings-standby-'))
    if (isRoot()) execFileSync('chown', ['postgres', folder])
    await chmod(folder, 0o755)
    primary = await aPrimary(join(folder, 'primary'))
    runScript('primary.sh', primary.env)
    runScript('primary.sh', primary.env) // a second time changes nothing
    await reload(primary)
    standby = await aStandby(join(folder, 'standby'), primary.port)
  })

  afterAll(async () => {
    await Promise.all(clients.map(sql => sql.end({ timeout: 1 })))
    for (const server of [standby, primary]) if (server) await endServer(server.child, 'SIGQUIT')
    await rm(folder, { recursive: true, force: true })
  })

  const client = ({ port }: Server) => {
    const sql = connect(`postgres://tidings:secret@127.0.0.1:${port}/tidings`, { max: 1 })
    clients.push(sql)
    return sql
  }

  test('the standby follows the primary over its slot, under the name that SYNCHRONOUS_STANDBY_NAMES expects', async () => {
    const [onPrimary, onStandby] = [client(primary), await eventually(() => answering(client(standby)))]
    await onPrimary`create table trial as select 17 as number`
    await eventually(async () => expect([...(await onStandby`select number from trial`)]).toEqual([{ number: 17 }]))
    const [replica] = await onPrimary`select application_name, state from pg_stat_replication`
    expect(replica).toMatchObject({ applicationName: 'standby', state: 'streaming' })
    const slots = await onPrimary`select slot_name, active from pg_replication_slots`
    expect([...slots]).toEqual([{ slotName: 'standby', active: true }])
  })

  test('the password of the replication is not in the log or on a command line', () => {
    const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(processes).not.toContain('replication-secret')
    expect(readFileSync(join(folder, 'standby.log'), 'utf8')).not.toContain('replication-secret')
  })

  type Server = Awaited<ReturnType<typeof startServer>>

  async function aPrimary(data: string) {
    await writeFile(join(folder, 'password'), 'secret')
    const options = [
      '--username=tidings',
      '--auth-host=scram-sha-256',
      '--auth-local=trust',
      `--pwfile=${folder}/password`,
    ]
    execFileSync(join(BIN, 'initdb'), ['--pgdata', data, ...options], asPostgres())
    const server = await startServer(data, join(BIN, 'postgres'), [])
    execFileSync(
      join(BIN, 'createdb'),
      ['-h', folder, '-p', String(server.port), '-U', 'tidings', 'tidings'],
      asPostgres(),
    )
    return server
  }

  const aStandby = (data: string, port: number) =>
    startServer(data, script('standby.sh'), ['--max_connections=200', '--synchronous_standby_names='], {
      PRIMARY_HOST: '127.0.0.1',
      PRIMARY_PORT: String(port),
    })

  async function startServer(data: string, program: string, words: string[], more: Record<string, string> = {}) {
    const port = await freePort()
    const env = {
      PATH: `${BIN}:${process.env.PATH}`,
      PGDATA: data,
      REPLICATION_PASSWORD: 'replication-secret',
      POSTGRES_USER: 'tidings',
      POSTGRES_DB: 'tidings',
      PGHOST: folder,
      PGPORT: String(port),
      ...more,
    }
    const own = [`--port=${port}`, `--unix_socket_directories=${folder}`, '--max_connections=200', '--fsync=off']
    const log = `exec "$0" "$@" > ${data}.log 2>&1`
    const dying = ['--pdeathsig', 'QUIT', 'sh', '-c', log] // with the test process
    const child = spawn('setpriv', [...dying, program, ...words, ...own], { ...asPostgres(env), stdio: 'ignore' })
    const server = { child, port, env }
    const written = () => readFileSync(`${data}.log`, 'utf8')
    const isEnded = once(child, 'exit').then(() => Promise.reject(new Error(written())))
    await Promise.race([isEnded, eventually(() => expect(written()).toContain('ready to accept'))])
    isEnded.catch(() => {})
    return server
  }

  const runScript = (name: string, env: Record<string, string>) => execFileSync(script(name), [], asPostgres(env))
  const reload = async ({ env }: Server) => execFileSync(join(BIN, 'pg_ctl'), ['reload'], asPostgres(env))
})

const script = (name: string) => join(root, 'deploy/postgres', name)

async function answering(sql: Pool): Promise<Pool> {
  await sql`select 1`
  return sql
}

/** PostgreSQL refuses to run as root. */
function asPostgres(env: Record<string, string> = {}): SpawnOptions & { stdio: 'pipe' } {
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }))
  const user = isRoot() ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  return { ...user, cwd: '/', env: { PATH: process.env.PATH!, ...env }, stdio: 'pipe' }
}
