import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../db/sql.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { signal } from './signal.ts'

/** For tests: servers of Debian's PostgreSQL with standbys, and its PgBouncer. */

const run = promisify(execFile)
const ROOT = '/usr/lib/postgresql'
const PGBOUNCER = '/usr/sbin/pgbouncer'
const PASSWORD = 'invented'

const newest = existsSync(ROOT) ? readdirSync(ROOT).sort((one, other) => Number(other) - Number(one))[0] : undefined
const binaries = join(ROOT, newest ?? 'none', 'bin')

export const hasPostgres = existsSync(join(binaries, 'pg_basebackup'))
export const hasPgBouncer = hasPostgres && existsSync(PGBOUNCER)

/** The servers refuse to run as root. */
const user = process.getuid?.() === 0 ? userNamed('postgres') : {}

function userNamed(name: string): { uid?: number; gid?: number } {
  const line = readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'))
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : {}
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off', // the tests kill processes, not machines
  max_connections: '100',
  wal_keep_size: '256MB',
  hot_standby_feedback: 'on',
}

/** A server behind a shell that ends it when the shell's input ends, so that it does not outlive the test process. */
class ServerProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(command: string, words: string[], env: Record<string, string> = {}) {
    const script = 'exec 3<&0; "$@" 3<&- & server=$!; (cat <&3 >/dev/null; kill -QUIT $server) & wait $server'
    this.#child = spawn('/bin/sh', ['-c', script, 'sh', command, ...words], {
      ...user,
      cwd: '/',
      env: { ...process.env, ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#ended = once(this.#child, 'exit')
  }

  /** To the server, or with all of its processes: a machine that fails stops them at once. */
  signal(name: NodeJS.Signals, { all }: { all: boolean }): void {
    const server = childrenOf(this.#child.pid!).find(pid => nameOf(pid) !== 'sh')
    const pids = server === undefined ? [] : all ? [server, ...childrenOf(server)] : [server]
    for (const pid of pids) signal(pid, name)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL', { all: true })
    await this.#ended
  }

  async stop(): Promise<void> {
    this.signal('SIGINT', { all: false })
    await this.#ended
  }
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.map(Number).filter(pid => parentOf(pid) === parent)
}

const parentOf = (pid: number) => Number(/\) \S+ (\d+)/.exec(readProc(pid, 'stat'))?.[1])
const nameOf = (pid: number) => readProc(pid, 'comm').trim()

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return '' // it has ended
  }
}

export type PostgresServer = InstanceType<typeof Server>

class Server {
  readonly name: string
  readonly port: number
  readonly folder: string
  readonly #env: Record<string, string>
  #process: ServerProcess | undefined

  constructor(name: string, port: number, folder: string, env: Record<string, string>) {
    this.name = name
    this.port = port
    this.folder = folder
    this.#env = env
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(database = 'tidings'): string {
    return `postgres://tidings:${PASSWORD}@${this.host}/${database}`
  }

  async create(): Promise<void> {
    const passwordFile = `${this.folder}.password`
    await writeFile(passwordFile, PASSWORD)
    await chmod(passwordFile, 0o644)
    const words = ['-U', 'tidings', '-A', 'scram-sha-256', '--pwfile', passwordFile, '--no-sync', '-E', 'UTF8']
    await run(join(binaries, 'initdb'), ['-D', this.folder, ...words, '--locale=C.UTF-8'], { ...user, cwd: '/' })
    await this.start()
    await this.ask(sql => sql.unsafe('create database tidings'), 'postgres')
  }

  /** Becomes a standby with a new copy of the other server. */
  async copy(primary: Server): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
    const from = `postgres://tidings:${PASSWORD}@${primary.host}/postgres?application_name=${this.name}`
    await run(join(binaries, 'pg_basebackup'), ['-D', this.folder, '-R', '-d', from, '--no-sync', '-c', 'fast'], {
      ...user,
      cwd: '/',
    })
    await this.start()
  }

  /** Becomes a standby of the server that replaced it after a clean stop. */
  async follow(primary: Server, settings: Record<string, string> = {}): Promise<void> {
    await writeFile(join(this.folder, 'standby.signal'), '')
    if (user.uid) await chown(join(this.folder, 'standby.signal'), user.uid, user.gid ?? user.uid)
    const conninfo = `user=tidings password=${PASSWORD} host=127.0.0.1 port=${primary.port} application_name=${this.name}`
    await this.start({ ...settings, primary_conninfo: conninfo })
  }

  /** Takes a backup of the other server as it is now. This server is not started. */
  async backUp(primary: Server): Promise<void> {
    const from = `postgres://tidings:${PASSWORD}@${primary.host}/postgres`
    const words = ['--pgdata', this.folder, '--dbname', from, '--checkpoint', 'fast', '--no-sync']
    await run(join(binaries, 'pg_basebackup'), words, { ...user, cwd: '/' })
  }

  /** Dumps the database, and restores the dump as another database of this server. */
  async dumpInto(database: string): Promise<void> {
    const file = `${this.folder}.dump`
    await run(join(binaries, 'pg_dump'), ['--format', 'custom', '--file', file, '--dbname', this.url()], { cwd: '/' })
    await this.ask(sql => sql.unsafe(`create database ${database}`), 'postgres')
    await run(join(binaries, 'pg_restore'), ['--exit-on-error', '--dbname', this.url(database), file], { cwd: '/' })
  }

  /** Starts from the backup in its folder and the archived WAL, with the state of a moment. */
  async restore(archive: string, moment: string): Promise<void> {
    await run('touch', [join(this.folder, 'recovery.signal')], { ...user, cwd: '/' })
    await this.start({
      archive_mode: 'off',
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_time: moment,
      recovery_target_action: 'promote',
    })
    await eventually(() =>
      this.ask(async sql => {
        const [row] = await sql<{ isRecovering: boolean }[]>`select pg_is_in_recovery() as is_recovering`
        if (row!.isRecovering) throw new Error('the server still recovers')
      }),
    )
  }

  async start(settings: Record<string, string> = {}): Promise<void> {
    const all = Object.entries({ ...SETTINGS, port: String(this.port), ...settings })
    const words = all.flatMap(([name, value]) => ['-c', `${name}=${value}`])
    this.#process = new ServerProcess(join(binaries, 'postgres'), ['-D', this.folder, ...words], this.#env)
    await eventually(() => this.ask(sql => sql`select`, 'postgres'))
  }

  /** The server reads copies of the files, because it refuses a key that others can read. */
  async startWithTls(certificateFile: string, keyFile: string): Promise<void> {
    const files = [join(this.folder, 'tls.crt'), join(this.folder, 'tls.key')] as const
    await Promise.all([copyFile(certificateFile, files[0]), copyFile(keyFile, files[1])])
    for (const file of files) {
      await chmod(file, 0o600)
      if (user.uid) await chown(file, user.uid, user.gid ?? user.uid)
    }
    await this.start({ ssl: 'on', ssl_cert_file: files[0], ssl_key_file: files[1] })
  }

  /** As superuser, over a connection of its own. */
  async ask<T>(work: (sql: ReturnType<typeof connect>) => Promise<T>, database = 'tidings'): Promise<T> {
    const sql = connect(this.url(database), { max: 1 })
    try {
      return await work(sql)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /** Every commit waits for this standby, or for none. */
  waitForStandby = (standby: Server | undefined) =>
    this.ask(async sql => {
      await sql.unsafe(`alter system set synchronous_standby_names = '${standby ? standby.name : ''}'`)
      await sql`select pg_reload_conf()`
      if (!standby) return
      await eventually(async () => {
        const [row] = await sql`select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`
        if (!row) throw new Error('the standby is not synchronous yet')
      })
    })

  /**
   * Becomes the primary, and returns the time of this server. From now on it waits for no standby, also if it did as a
   * primary before.
   */
  promote = () =>
    this.ask(async sql => {
      await sql.unsafe(`alter system set synchronous_standby_names = ''`)
      await sql`select pg_reload_conf()`
      await sql`select pg_promote(true, 60)`
      const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
      return row!.at
    })

  /** Waits until this standby has everything that the primary has committed, then cuts it off. */
  async cutOff(primary: Server): Promise<void> {
    const [last] = await primary.ask(sql => sql<{ position: string }[]>`select pg_current_wal_lsn()::text as position`)
    await this.ask(async sql => {
      await eventually(async () => {
        const [row] = await sql`select pg_last_wal_replay_lsn() >= ${last!.position}::pg_lsn as has_all`
        if (!row!.hasAll) throw new Error('the standby is behind')
      })
      await sql.unsafe(`alter system set primary_conninfo = ''`)
      await sql`select pg_reload_conf()`
      await eventually(async () => {
        const [receiver] = await sql`select from pg_stat_wal_receiver`
        if (receiver) throw new Error('the standby still receives')
      })
    })
  }

  /** Ends the sessions, and sends everything to the standby first. */
  stop = async () => this.#process?.stop()
  kill = async () => this.#process?.kill()
  freeze = () => this.#process?.signal('SIGSTOP', { all: true })
  thaw = () => this.#process?.signal('SIGCONT', { all: true })
}

/** A primary and its standby. */
export class PostgresCluster {
  readonly a: Server
  readonly b: Server
  readonly #folder: string
  readonly #others: ServerProcess[] = []

  private constructor(folder: string, ports: number[], env: Record<string, string>) {
    this.#folder = folder
    this.a = new Server('a', ports[0]!, join(folder, 'a'), env)
    this.b = new Server('b', ports[1]!, join(folder, 'b'), env)
  }

  static async start(): Promise<PostgresCluster> {
    const cluster = await PostgresCluster.startPrimary()
    await cluster.b.copy(cluster.a)
    return cluster
  }

  /** The primary alone. Its environment can give it another clock. */
  static async startPrimary(env: Record<string, string> = {}): Promise<PostgresCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'tidings-cluster-'))
    if (user.uid) await chown(folder, user.uid, user.gid ?? user.uid)
    const cluster = new PostgresCluster(folder, [await freePort(), await freePort()], env)
    await cluster.a.create()
    return cluster
  }

  /** A server that archives its WAL. The second server does not run. */
  static async startArchiving(): Promise<{ cluster: PostgresCluster; archive: string }> {
    const cluster = await PostgresCluster.startPrimary()
    const archive = join(cluster.#folder, 'wal')
    await run('mkdir', [archive], { ...user, cwd: '/' })
    await cluster.a.stop()
    const archive_command = `test ! -f ${archive}/%f && cp %p ${archive}/%f`
    await cluster.a.start({ archive_mode: 'on', archive_command })
    return { cluster, archive }
  }

  /** The address of both servers. */
  url(more = ''): string {
    return `postgres://tidings:${PASSWORD}@${this.a.host},${this.b.host}/tidings${more}`
  }

  /** Debian's PgBouncer in transaction mode before a server. Returns its address. */
  async startPgBouncer(server: Server): Promise<string> {
    const port = await freePort()
    const file = join(this.#folder, `pgbouncer-${port}.ini`)
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: `${file}.users`,
      pool_mode: 'transaction',
      default_pool_size: 20,
      max_client_conn: 200,
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    const target = `* = host=127.0.0.1 port=${server.port} user=tidings password=${PASSWORD}`
    await writeFile(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'))
    await writeFile(`${file}.users`, `"tidings" "${PASSWORD}"\n`)
    this.#others.push(new ServerProcess(PGBOUNCER, ['-q', file]))
    return `postgres://tidings:${PASSWORD}@127.0.0.1:${port}/tidings`
  }

  async stop(): Promise<void> {
    await Promise.all([this.a.kill(), this.b.kill(), ...this.#others.map(other => other.kill())])
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
