import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { SmscProcess } from '../../bench/peers/smsc.ts'
import { newCompany } from '../../bench/peers/tidings.ts'
import type { Cleanups } from '../../bench/stage.ts'
import { openEmbeddedServer } from '../../src/db/embedded/embedded.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { addGateway } from '../../src/domain/gateways/gateways.ts'
import { createKey } from '../../src/domain/keys/keys.ts'
import { createVerifier } from '../../src/domain/verifiers/verifiers.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aPartner } from '../../src/testing/factories.ts'
import { freePort } from '../../src/testing/free-port.ts'
import {
  type Client,
  childrenOf,
  type Env,
  enginesOf,
  logIn,
  processesOf,
  type Service,
  startService,
} from '../../src/testing/processes.ts'
import { signal } from '../../src/testing/signal.ts'
import { Receiver } from './receiver.ts'

export const ENGINES = 2
const API_PROCESSES = 2
const BINDS = 4
/** Submissions without an answer on one connection. */
export const BIND_WINDOW = 100
/** A service that does not end by itself is killed. */
const STOP_MS = 20_000
const MOST_CODES = 1_000_000

/** Differences of an installation from the usual one. */
export type Installing = {
  /** More settings of the service. */
  env?: Env
  /** An existing data folder, for instance on a small file system. */
  folder?: string
  /** A server of our own instead of the embedded one. */
  databaseUrl?: string
  /** The limit of the gateway. */
  partsPerSecond?: number
}

/** A company that sends, with its keys. */
export type Sending = {
  companyId: number
  senderIds: number[]
  messageKey: string
  verifierKey: string
  verifierId: string
}

/** `tidings serve` with several processes of each kind, a database, an operator over SMPP, and a receiver of callbacks. */
export class Installation {
  readonly operator: SmscProcess
  readonly receiver: Receiver
  readonly folder: string
  readonly #env: Env
  #service: Service | undefined
  #sql: Pool | undefined
  #companies: Sending[] = []
  #partner: Client | undefined

  static async start(cleanups: Cleanups, given: Installing = {}): Promise<Installation> {
    const operator = await SmscProcess.start()
    cleanups.push(async () => operator.stop())
    const receiver = await Receiver.start()
    cleanups.push(() => receiver.die())
    const folder = given.folder ?? (await mkdtemp(join(tmpdir(), 'tidings-proof-')))
    const installation = new Installation(operator, receiver, folder, await environment(folder, given))
    cleanups.push(() => installation.#end())
    await installation.startService()
    await installation.#prepare(given.partsPerSecond ?? null)
    return installation
  }

  private constructor(operator: SmscProcess, receiver: Receiver, folder: string, env: Env) {
    this.operator = operator
    this.receiver = receiver
    this.folder = folder
    this.#env = env
  }

  get sql(): Pool {
    return this.#sql!
  }

  get url(): string {
    return `http://127.0.0.1:${this.#env.PORT}`
  }

  get companies(): Sending[] {
    return this.#companies
  }

  get partner(): Client {
    return this.#partner!
  }

  get parent(): number {
    return this.#service!.pid
  }

  apis = () => childrenOf(this.folder, 'api')
  engines = () => enginesOf(this.folder)

  /** The pid of the embedded server. */
  async postmaster(): Promise<number> {
    return Number.parseInt(await readFile(join(this.folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)
  }

  /** Also after a kill: on the same port, with the same data. The embedded server may have another port then. */
  async startService(): Promise<void> {
    const words = ['serve', '--api', String(API_PROCESSES), '--engines', String(ENGINES)]
    this.#service = await startService(words, this.#env)
    await this.#sql?.end({ timeout: 1 })
    await this.#connect(this.#env.DATABASE_URL)
  }

  log = (): string => this.#service!.stderr()

  /** Without a share in the embedded server: it must come back without our help. */
  async #connect(databaseUrl: string | undefined) {
    let url = databaseUrl
    if (url === undefined) {
      const server = await openEmbeddedServer({ dataDir: this.folder })
      url = server.url
      await server.release()
    }
    this.#sql = connect(url, { name: 'tidings proof', max: 3 })
  }

  async #prepare(partsPerSecond: number | null) {
    const partner = await aPartner(this.sql)
    this.#partner = await logIn(`${this.url}/partner/v1`, partner.login, partner.password)
    for (let i = 0; i < 2; i++) this.#companies.push(await this.#company(partner))
    await this.#addGateways(partsPerSecond)
    await eventually(async () => {
      if ((await this.operator.counts()).binds < BINDS) throw new Error('the service is not bound to the operator')
    })
  }

  async #company(partner: Awaited<ReturnType<typeof aPartner>>): Promise<Sending> {
    const company = await newCompany(this.sql, partner)
    const { companyId } = company
    const limits = {
      perNumber: MOST_CODES,
      perAddress: MOST_CODES,
      perPrefix: MOST_CODES,
      perVerifier: MOST_CODES,
      perCompany: MOST_CODES,
      leastConfirmed: 0,
    }
    const settings = { senders: { SMS: 'ROMASHKA' }, lifetimeSeconds: 3600, limits }
    const keys = await this.sql.begin(async tx => ({
      messageKey: (await createKey(tx, companyId, 'MESSAGE')).key,
      verifierKey: (await createKey(tx, companyId, 'VERIFIER')).key,
      verifierId: await createVerifier(tx, companyId, 'API', { settings }),
    }))
    return { ...company, ...keys }
  }

  /** The operator for SMS. Messages over VK always fail, so that each cascade needs its second step. */
  async #addGateways(partsPerSecond: number | null) {
    await addGateway(this.sql, {
      name: 'operator',
      channelType: 'SMS',
      connector: 'smpp',
      brands: [],
      settings: { host: '127.0.0.1', port: this.operator.port, systemId: 'tidings', binds: BINDS, window: BIND_WINDOW },
      partsPerSecond,
    })
    await addGateway(this.sql, {
      name: 'never-delivers',
      channelType: 'VK',
      connector: 'simulator',
      brands: [],
      settings: { receiptMs: 20, failRate: 1 },
      partsPerSecond: null,
    })
  }

  /** Processes that a fault froze or left behind are killed. */
  async #end() {
    await this.#sql?.end({ timeout: 1 })
    const child = this.#service?.child
    if (child && child.exitCode === null && child.signalCode === null) {
      for (const { pid } of await processesOf(this.folder)) signal(pid, 'SIGCONT')
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([ended, pause(STOP_MS, undefined, { ref: false })])
    }
    for (const { pid } of await processesOf(this.folder)) signal(pid, 'SIGKILL')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

async function environment(folder: string, { env, databaseUrl }: Installing): Promise<Env> {
  return {
    TIDINGS_DATA: folder,
    TIDINGS_DEMO: 'off',
    TIDINGS_LOG_LEVEL: 'error',
    TIDINGS_CALLBACK_ALLOW: '127.0.0.0/8',
    TIDINGS_CALLBACK_RETRY_SECONDS: '2',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    ...(databaseUrl
      ? { DATABASE_URL: databaseUrl, TIDINGS_SECRET: 'invented for the proof, 32 characters and more' }
      : {}),
    ...env,
  }
}
