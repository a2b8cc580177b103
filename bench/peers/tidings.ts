import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type EmbeddedServer, openEmbeddedServer } from '../../src/db/embedded/embedded.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { addGateway } from '../../src/domain/gateways/gateways.ts'
import { createKey } from '../../src/domain/keys/keys.ts'
import { brands } from '../../src/domain/numbering/brand.ts'
import { aCompany, aPartner, aSender, type TestPartner } from '../../src/testing/factories.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { signal } from '../../src/testing/signal.ts'
import { memoryOf, pidsOfTree, secondsOfTree } from './processes.ts'
import { SmscProcess } from './smsc.ts'
import { BINDS, type System, TEXT, WINDOW } from './system.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/tidings', import.meta.url))
const START_MS = 60_000

export type Company = { companyId: number; senderIds: number[] }

/** Tidings as `tidings serve` runs it, with its embedded PostgreSQL. `sql` is a connection of the bench for preparation and checks. */
export type Tidings = System & { sql: Pool; partner: TestPartner; company: Company }

/** The numbers of its processes. By default as many as the machine has use for. */
export type Processes = { api: number; engines: number }

/** `cores` is the list of cores that it may use, as `taskset` reads it. */
export async function startTidings(how?: Processes & { cores: string }): Promise<Tidings> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-peers-'))
  const smsc = await SmscProcess.start()
  const service = new Service(dataDir, await freePort(), how ? pinned(how) : [PROGRAM, 'serve'])
  const stop = async () => {
    await service.stop()
    smsc.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await service.start()
    return await prepare(service, smsc, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

const pinned = ({ api, engines, cores }: Processes & { cores: string }) => [
  'taskset',
  '-c',
  cores,
  PROGRAM,
  'serve',
  '--api',
  String(api),
  '--engines',
  String(engines),
]

/** A company with a key and sender names, and the gateway to the operator. */
async function prepare(service: Service, smsc: SmscProcess, stop: () => Promise<void>): Promise<Tidings> {
  const { sql } = service
  const partner = await aPartner(sql)
  const company = await newCompany(sql, partner)
  const { key } = await sql.begin(tx => createKey(tx, company.companyId, 'MESSAGE'))
  await addGateway(sql, {
    name: 'operator',
    channelType: 'SMS',
    connector: 'smpp',
    brands: [],
    settings: { host: '127.0.0.1', port: smsc.port, systemId: 'tidings', binds: BINDS, window: WINDOW },
    partsPerSecond: null,
  })
  await untilBound(smsc)
  return {
    name: 'Tidings',
    smsc,
    stop,
    /** Another connection after each start. */
    get sql() {
      return service.sql
    },
    partner,
    company,
    port: () => service.port,
    request: {
      method: 'POST',
      path: '/api/v1/message',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ channelType: 'SMS', senderName: 'ROMASHKA', destination: 'DESTINATION', content: TEXT }),
    },
    processorSeconds: () => service.processorSeconds(),
    memoryBytes: () => service.memoryBytes(),
    commits: () => service.commits(),
    kill: () => service.kill(),
    restart: () => service.start(),
  }
}

export async function newCompany(sql: Pool, partner: TestPartner): Promise<Company> {
  const companyId = await aCompany(sql, partner)
  const senders = await Promise.all(brands.map(brand => aSender(sql, companyId, { brand })))
  await sql`update senders set status = 'APPROVED' where company_id = ${companyId}`
  return { companyId, senderIds: senders.map(({ senderId }) => senderId) }
}

async function untilBound(smsc: SmscProcess) {
  const begun = performance.now()
  while ((await smsc.counts()).binds < BINDS) {
    if (performance.now() - begun > START_MS) throw new Error('Tidings did not bind to the SMSC')
    await pause(100)
  }
}

class Service {
  readonly port: number
  readonly #dataDir: string
  readonly #words: string[]
  #process: ChildProcess | undefined
  #server: EmbeddedServer | undefined
  #sql: Pool | undefined

  constructor(dataDir: string, port: number, words: string[]) {
    this.#dataDir = dataDir
    this.#words = words
    this.port = port
  }

  get sql(): Pool {
    if (!this.#sql) throw new Error('Tidings does not run')
    return this.#sql
  }

  async start() {
    const [program = '', ...words] = this.#words
    this.#process = spawn(program, words, {
      env: {
        ...process.env,
        TIDINGS_DATA: this.#dataDir,
        TIDINGS_DEMO: 'off',
        TIDINGS_LOG_LEVEL: 'error', // a service that starts warns that no engine works yet,
        PORT: String(this.port),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await this.#untilReady()
    this.#server = await openEmbeddedServer({ dataDir: this.#dataDir })
    this.#sql = connect(this.#server.url, { name: 'tidings bench', max: 4 })
  }

  async processorSeconds() {
    const [api, engines, postmaster] = [this.#api, await this.#engines(), await this.#postmaster()]
    const ofEngines = await Promise.all(engines.map(engine => secondsOfTree(engine)))
    return {
      API: await secondsOfTree(api, [...engines, postmaster]),
      engine: ofEngines.reduce((sum, seconds) => sum + seconds, 0),
      database: await secondsOfTree(postmaster),
    }
  }

  async memoryBytes() {
    const pids = await this.#pids()
    return memoryOf(pids)
  }

  async commits() {
    const [row] = await this.sql<{ commits: number }[]>`
      select xact_commit as commits from pg_stat_database where datname = current_database()`
    return row?.commits ?? 0
  }

  async kill() {
    await this.#leave() // otherwise the bench itself would start the database again
    const pids = await this.#pids()
    const ended = this.#process && once(this.#process, 'exit')
    for (const pid of pids) signal(pid, 'SIGKILL')
    await ended
  }

  async stop() {
    if (this.#process && this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit')
      this.#process.kill('SIGTERM')
      await ended
    }
    await this.#leave()
  }

  /** Ends the connections of the bench. The last process that uses the database stops it. */
  async #leave() {
    await this.#sql?.end({ timeout: 1 })
    await this.#server?.release()
    this.#sql = undefined
    this.#server = undefined
  }

  async #untilReady() {
    const begun = performance.now()
    const url = `http://127.0.0.1:${this.port}/readyz`
    while (!(await isOk(url))) {
      if (performance.now() - begun > START_MS) throw new Error('Tidings is not ready after a minute')
      await pause(100)
    }
  }

  get #api(): number {
    if (this.#process?.pid === undefined) throw new Error('Tidings does not run')
    return this.#process.pid
  }

  async #engines(): Promise<number[]> {
    const engines: number[] = []
    for (const pid of await pidsOfTree(this.#api)) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (line.split('\0').includes('engine')) engines.push(pid)
    }
    if (engines.length === 0) throw new Error('The engine of Tidings does not run')
    return engines
  }

  /** All processes. A server that another process had started is no child of ours. */
  async #pids(): Promise<number[]> {
    return [...new Set([...(await pidsOfTree(this.#api)), ...(await pidsOfTree(await this.#postmaster()))])]
  }

  async #postmaster(): Promise<number> {
    const file = await readFile(join(this.#dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    return Number.parseInt(file, 10)
  }
}

const isOk = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    answer => answer.ok,
    () => false,
  )
