import { connect as dial, Socket } from 'node:net'
import postgres from 'postgres'
import { within } from '../base/concurrency/within.ts'
import {
  type DatabaseAddress,
  driverHost,
  type Host,
  isWatched,
  placeOf,
  readDatabaseAddress,
} from '../base/database-address.ts'
import { UsageError } from '../base/errors.ts'
import { formatMoney, type Money, money } from '../base/money.ts'
import { knowArrays } from './arrays.ts'
import { IDLE_IN_TRANSACTION_MS, LOCK_MS } from './patience.ts'
import { withoutPipelining } from './pipelining.ts'
import { type Probe, ServerChoice, type ServerState } from './server-choice.ts'
import { refuseUnwritable } from './statement-values.ts'
import { openSecure } from './tls.ts'
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
  /** False for a pooler that is too old for prepared statements. */
  prepare?: boolean
  /** A connection on which nothing is sent or received for so long is closed, also while a statement runs. */
  silenceMs?: number
  /** A pooler such as PgBouncer shares sessions between clients, so each transaction gets the two limits above. */
  isPooled?: boolean
}

const OLDEST_SERVER = 15
const CONNECT_TIMEOUT_SECONDS = 10

/**
 * Every numeric in our schema is money with four places; every bigint is an id or a count within 2^53. Cast sums of
 * bigint to bigint: PostgreSQL makes them numeric.
 */
export function connect(url: string, options: ConnectOptions = {}): Pool {
  const address = readDatabaseAddress(url)
  const dialler = createDialler(address, options.silenceMs)
  const pool = connectThrough(dialler, address, options)
  const end = pool.end
  pool.end = options => {
    dialler.stopChoosing()
    return end(options).finally(() => dialler.hangUp())
  }
  const beside = (most: number) => connectFew(dialler, address, { ...options, max: most })
  diallers.set(pool, { connectBeside: beside, hangUp: dialler.hangUp })
  return pool
}

/**
 * Further connections, at most `most`, to the server that the pool has chosen among its hosts. Their statements do not wait
 * while all connections of the pool are in use. They are closed before the pool.
 */
export const connectBeside = (pool: Pool, most = 1): Pool => diallers.get(pool)!.connectBeside(most)

/** Closes the connections that were opened before this moment of `performance.now()`. Their statements fail. */
export const hangUp = (pool: Pool, openedBefore: number): void => diallers.get(pool)!.hangUp(openedBefore)

const diallers = new WeakMap<Pool, { connectBeside(most: number): Pool; hangUp(openedBefore: number): void }>()

type Dialler = {
  dial(): Promise<Socket>
  /** How many connections failed one after another. */
  failures(): number
}

function connectFew({ dial, failures }: Dialler, address: DatabaseAddress, options: ConnectOptions): Pool {
  const sockets = new Set<Socket>()
  const dialKept = async () => {
    const socket = await dial()
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
  const pool = connectThrough({ dial: dialKept, failures }, address, options)
  const end = pool.end
  // The driver would wait until a server that hangs closes its side.
  pool.end = options =>
    end(options).finally(() => {
      for (const socket of sockets) socket.destroy()
    })
  return pool
}

function connectThrough({ dial, failures }: Dialler, address: DatabaseAddress, options: ConnectOptions): Pool {
  const { isPooled = false, prepare = true } = options
  const limits = {
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? IDLE_IN_TRANSACTION_MS,
    lock_timeout: options.lockMs ?? LOCK_MS,
  }
  const settings = {
    ...driverHost(address.hosts[0]!),
    ssl: false, // the sockets have it
    max: options.max ?? 10,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => {},
    connection: { application_name: options.name ?? 'tidings', TimeZone: 'UTC', ...(isPooled ? {} : limits) },
    prepare,
    types: {
      money: { to: 1700, from: [1700], serialize: formatMoney, parse: money },
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    // Columns in snake_case become properties in camelCase. Values of JSON columns keep their keys.
    transform: { column: { from: postgres.toCamel } },
    socket: dial,
    fetch_types: false,
    backoff: () => backoff(failures()),
  }
  const pool = postgres(address.driverUrl, settings) as unknown as Pool
  knowArrays(pool.options)
  pool.reserve = refuseReserve
  const guarded = isPooled ? guardTransactions(withoutPipelining(pool), setLocal(limits)) : guardTransactions(pool)
  return refusingUnwritable(guarded)
}

const refusingUnwritable = (pool: Pool): Pool =>
  new Proxy(pool, {
    apply(target, self, args) {
      refuseUnwritable(args)
      return Reflect.apply(target, self, args)
    },
  })

const setLocal = (limits: Record<string, number>) =>
  Object.entries(limits)
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ')

/**
 * The driver never resolves a reservation that needs a new connection, unless it reads the array types:
 * https://github.com/porsager/postgres/issues/1219
 */
const refuseReserve: Pool['reserve'] = () => {
  throw new Error('no connection can be reserved: use a transaction, or a pool of one')
}

/** Seconds before the next connection attempt to a lost server: few, because a restart is short, and at most two. */
const backoff = (failures: number) => Math.min(0.05 * 2 ** failures, 2) * (0.5 + Math.random() / 2)

/**
 * Opens the sockets of the driver. With several hosts, or with `target_session_attrs`, `ServerChoice` chooses the host:
 * without a word about it a primary, because every process writes.
 *
 * The sockets have no Nagle's algorithm: COPY writes twice before it reads, and a transaction with a small COPY waited
 * 88 ms for acknowledgements instead of 1 ms. The dialler remembers its sockets, because the driver can forget a socket
 * after a lost connection, and the process would not end before that socket.
 */
function createDialler(address: DatabaseAddress, silenceMs = 0) {
  const { hosts, target, tls } = address
  /** With the time at which each was opened. */
  const open = new Map<Socket, number>()
  const remember = (socket: Socket) => {
    open.set(socket, performance.now())
    return socket.once('close', () => open.delete(socket))
  }
  const hangUp = (openedBefore = Number.POSITIVE_INFINITY) => {
    for (const [socket, openedAt] of open) if (openedAt < openedBefore) socket.destroy()
  }
  let failures = 0
  const countFailures = (socket: Socket) => {
    socket.once('connect', () => {
      failures = 0
    })
    socket.once('error', () => {
      failures += 1
    })
    return socket
  }
  const choice = isWatched({ hosts, target })
    ? new ServerChoice({
        hosts,
        target: target ?? 'read-write',
        open: host => new HostProbe({ ...address, hosts: [host], target: undefined }),
        onChange: hangUp,
      })
    : undefined

  return {
    async dial(): Promise<Socket> {
      try {
        const host = choice ? (choice.current ?? (await choice.find())) : hosts[0]!
        const openPlain = () => remember(openSocket(host))
        // As in libpq, the socket of a folder has no TLS.
        const socket =
          tls && !host.path
            ? remember(await openSecure(openPlain, host, tls, CONNECT_TIMEOUT_SECONDS * 1000))
            : openPlain()
        socket.setTimeout(silenceMs, () => socket.destroy()) // 0 is no limit
        if (!socket.connecting) failures = 0 // a socket with TLS is connected
        return closeWithoutError(countFailures(healWrites(socket)))
      } catch (error) {
        return closeWithoutError(countFailures(brokenSocket(error)))
      }
    },
    failures: () => failures,
    hangUp,
    stopChoosing: () => choice?.stop(),
  }
}

function openSocket({ host, port, path }: Host): Socket {
  if (path) return dial(path).on('error', likeClosedPort)
  return Object.assign(dial({ host, port, noDelay: true }), { host, port }) // the errors of the driver contain them
}

/** Turns of the event loop. The driver writes in the first or second one, however busy the process is. */
const MOST_UNWRITTEN_TURNS = 10

/**
 * Works around a bug of the driver. When a connection is lost in the moment in which a statement waits to be written, the
 * driver keeps the bytes of the statement and writes nothing more, until there are 1024 bytes: the next connection
 * sends no start-up message and ends with a time-out. So a socket on which nothing was written is closed. The driver
 * tries again and adds a start-up message each time, until it writes. The bytes before the last start-up message are
 * of statements that were rejected, and are removed.
 */
function healWrites(socket: Socket): Socket {
  const { write } = socket
  let isWritten = false
  const look = (turns: number) => {
    if (isWritten || socket.destroyed) return
    if (turns < MOST_UNWRITTEN_TURNS) setImmediate(look, turns + 1)
    else socket.destroy()
  }
  setImmediate(look, 1)
  socket.write = (chunk: Uint8Array | string, ...more: unknown[]) => {
    isWritten = true
    socket.write = write
    return Reflect.apply(write, socket, [chunk instanceof Buffer ? fromStart(chunk) : chunk, ...more])
  }
  return socket
}

const START_UP = Buffer.from('\0\x03\0\0user\0', 'latin1')
const LENGTH_BYTES = 4

function fromStart(chunk: Buffer): Buffer {
  const start = chunk.lastIndexOf(START_UP)
  return start < LENGTH_BYTES ? chunk : chunk.subarray(start - LENGTH_BYTES)
}

/**
 * Works around a bug of the driver. When a socket fails, the driver rejects the statements that it sent over it. The socket
 * is closed a moment later. In between, the driver may give the connection another statement. When the socket is closed
 * with an error, the driver rejects nothing more, so the caller of this statement would wait for ever, or even get the
 * answer to a later statement of the next socket. When it is closed without an error, the driver rejects all statements that
 * are left.
 */
function closeWithoutError(socket: Socket): Socket {
  const { emit } = socket
  const emitClose = (name: string, ...args: unknown[]) =>
    Reflect.apply(emit, socket, name === 'close' ? [name, false] : [name, ...args])
  socket.emit = emitClose as Socket['emit']
  return socket
}

/** The driver loses a connection for ever when its socket is not made, so it gets a socket that fails. */
function brokenSocket(error: unknown): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(error as Error))
  return socket
}

const PROBE_MS = 4000

/** A connection of its own to one host, which asks for the role of the server. After an error it is opened anew. */
class HostProbe implements Probe {
  readonly #address: DatabaseAddress
  #connection: { sql: postgres.Sql; close(): void } | undefined

  /** With one host. */
  constructor(address: DatabaseAddress) {
    this.#address = address
  }

  async ask(): Promise<ServerState> {
    this.#connection ??= this.#connect()
    try {
      return await within(PROBE_MS, selectState(this.#connection.sql))
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  #connect() {
    const dialler = createDialler(this.#address)
    const settings = {
      ...driverHost(this.#address.hosts[0]!),
      ssl: false,
      max: 1,
      connect_timeout: PROBE_MS / 1000,
      connection: { application_name: 'tidings watch' },
      onnotice: () => {},
      prepare: false,
      fetch_types: false,
      socket: dialler.dial,
    }
    const sql = postgres(this.#address.driverUrl, settings)
    return { sql, close: () => void sql.end({ timeout: 0 }).finally(() => dialler.hangUp()) }
  }
}

async function selectState(sql: postgres.Sql): Promise<ServerState> {
  const [row] = await sql<ServerState[]>`
    select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly",
      extract(epoch from pg_postmaster_start_time())::text as "startedAt",
      case when pg_is_in_recovery() then 0
        else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`
  return row!
}

/** A server that does not run has no socket. For the code that retries this is the same as a closed port. */
function likeClosedPort(error: NodeJS.ErrnoException) {
  if (error.code === 'ENOENT') error.code = 'ECONNREFUSED'
}

/**
 * Throws one clear sentence when the database cannot be reached or is too old. The address has no password. Returns
 * whether a session keeps its settings: a pooler refuses or ignores them.
 */
export async function checkServer(sql: Sql, url: string): Promise<{ keepsSettings: boolean }> {
  const [row] = await selectVersion(sql).catch(error => {
    if (isSettingRefused(error)) return []
    throw new UsageError(`The database at ${placeOf(url)} does not answer: ${reasonOf(error)}. Check DATABASE_URL.`)
  })
  if (!row) return { keepsSettings: false }
  if (Number.parseInt(row.version, 10) < OLDEST_SERVER) {
    throw new UsageError(
      `PostgreSQL ${OLDEST_SERVER} or newer is needed; the database at ${placeOf(url)} is ${row.version}.`,
    )
  }
  return { keepsSettings: row.lockTimeout !== '0' }
}

const selectVersion = (sql: Sql) => sql<{ version: string; lockTimeout: string }[]>`
  select current_setting('server_version') as version, current_setting('lock_timeout') as lock_timeout`

/** PgBouncer: "unsupported startup parameter: lock_timeout". */
const isSettingRefused = ({ code, message = '' }: { code?: string; message?: string }) =>
  code === '08P01' && message.includes('startup parameter')

const reasonOf = (error: { code?: string; message?: string }) => error.message || error.code || 'unknown error'
