import { connect as dial, type Socket } from 'node:net'
import postgres from 'postgres'
import { UsageError } from '../base/errors.ts'
import { formatMoney, type Money, money } from '../base/money.ts'
import { knowArrays } from './arrays.ts'
import { IDLE_IN_TRANSACTION_MS, LOCK_MS } from './patience.ts'
import { guardTransactions } from './transaction.ts'

type Types = { money: Money; bigint: number }

/** A pool or a transaction. It is never optional, so that no statement runs outside its transaction by mistake. */
export type Sql = Pool | Transaction
export type Transaction = postgres.TransactionSql<Types>

/** The driver's own type of `begin` loses the type of the result when it is generic or a list. */
export interface Pool
  extends postgres.ISql<Types>,
    Pick<postgres.Sql<Types>, 'end' | 'options' | 'listen' | 'reserve'> {
  begin<T>(work: (sql: Transaction) => Promise<T>): Promise<T>
  begin<T>(options: string, work: (sql: Transaction) => Promise<T>): Promise<T>
}

/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export type ConnectOptions = {
  max?: number
  name?: string
  /** How long a session may be idle inside a transaction, and wait for a lock. */
  idleInTransactionMs?: number
  lockMs?: number
}

const OLDEST_SERVER = 15
const CONNECT_TIMEOUT_SECONDS = 10

/**
 * Every numeric in our schema is money with four places; every bigint is an id or a count within 2^53. Cast sums of
 * bigint to bigint: PostgreSQL makes them numeric.
 */
export function connect(url: string, options: ConnectOptions = {}): Pool {
  const dialler = createDialler()
  const { address, ...socket } = driverAddress(url)
  const settings = {
    ...socket,
    max: options.max ?? 10,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => {},
    connection: {
      application_name: options.name ?? 'tidings',
      TimeZone: 'UTC',
      idle_in_transaction_session_timeout: options.idleInTransactionMs ?? IDLE_IN_TRANSACTION_MS,
      lock_timeout: options.lockMs ?? LOCK_MS,
    },
    types: {
      money: { to: 1700, from: [1700], serialize: formatMoney, parse: money },
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    // Columns in snake_case become properties in camelCase. Values of JSON columns keep their keys.
    transform: { column: { from: postgres.toCamel } },
    socket: dialler.dial,
    fetch_types: false,
    backoff,
  }
  const pool = postgres(address, settings) as unknown as Pool
  knowArrays(pool.options)
  pool.reserve = refuseReserve
  const end = pool.end
  pool.end = options => end(options).finally(dialler.hangUp)
  return guardTransactions(pool)
}

/**
 * In an address `host=/folder` names the folder of the server's socket, as for the programs of PostgreSQL. The driver
 * wants its path.
 */
export function driverAddress(url: string): { address: string; path?: string } {
  const found = /([?&])host=((?:\/|%2f)[^&]*)&?/i.exec(url)
  if (!found) return { address: url }
  const [all, sign, folder = ''] = found
  const address = url.replace(all, sign ?? '').replace(/[?&]$/, '')
  const port = new URL(address).port || '5432'
  return { address, path: `${decodeURIComponent(folder)}/.s.PGSQL.${port}` }
}

/**
 * The driver never resolves a reservation that needs a new connection, unless it reads the array types:
 * https://github.com/porsager/postgres/issues/1219
 */
const refuseReserve: Pool['reserve'] = () => {
  throw new Error('no connection can be reserved: use a transaction, or a pool of one')
}

/** Seconds before the next connection attempt to a lost server: few, because a restart is short, and at most two. */
const backoff = (retries: number) => Math.min(0.05 * 2 ** retries, 2) * (0.5 + Math.random() / 2)

/**
 * Connects like the driver, host after host, but without Nagle's algorithm: COPY writes twice before it reads, and a
 * transaction with a small COPY waited 88 ms for acknowledgements instead of 1 ms. It remembers its sockets, because
 * the driver can forget a socket after a lost connection, and the process would not end before that socket.
 */
function createDialler() {
  const open = new Set<Socket>()
  let attempts = 0

  function keep(socket: Socket): Socket {
    open.add(socket)
    return socket.once('close', () => open.delete(socket))
  }

  return {
    dial(options: { host: string[]; port: number[]; path: string | false }) {
      if (options.path) return keep(dial(options.path)).on('error', likeClosedPort)
      const place = attempts++ % options.host.length
      const address = { host: options.host[place]!, port: options.port[place]! }
      return Object.assign(keep(dial({ ...address, noDelay: true })), address) // the errors of the driver contain them
    },
    hangUp() {
      for (const socket of open) socket.destroy()
    },
  }
}

/** A server that does not run has no socket. For the code that retries this is the same as a closed port. */
function likeClosedPort(error: NodeJS.ErrnoException) {
  if (error.code === 'ENOENT') error.code = 'ECONNREFUSED'
}

/** Throws one clear sentence when the database cannot be reached or is too old. The address has no password. */
export async function checkServer(sql: Sql, url: string): Promise<void> {
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`.catch(error => {
    throw new UsageError(`The database at ${addressOf(url)} does not answer: ${reasonOf(error)}. Check DATABASE_URL.`)
  })
  if (Number.parseInt(row!.version, 10) < OLDEST_SERVER) {
    throw new UsageError(
      `PostgreSQL ${OLDEST_SERVER} or newer is needed; the database at ${addressOf(url)} is ${row!.version}.`,
    )
  }
}

function addressOf(url: string): string {
  const { path } = driverAddress(url)
  if (path) return path
  const afterUser = url.replace(/^[^/]*\/\//, '').replace(/^[^/]*@/, '')
  return afterUser.split('?')[0]!
}

const reasonOf = (error: { code?: string; message?: string }) => error.message || error.code || 'unknown error'
