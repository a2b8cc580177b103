import type postgres from 'postgres'

type Transaction = Pick<postgres.TransactionSql, 'unsafe'>

/**
 * How long a session may stay idle inside a transaction before the server ends it. A process that is frozen there
 * (stopped, swapped out, on a machine that sleeps) would otherwise keep its locks, and with the locks of a company it
 * stops the whole company. It is shorter than a lease, so that a worker that takes over a lease is not blocked by such a
 * lock.
 */
export const IDLE_IN_TRANSACTION_MS = 5000

/** How long a statement waits for a lock: longer than a frozen process can hold one, and shorter than a lease. */
export const LOCK_MS = 7000

const LONG_MS = 60_000

/**
 * For a transaction that processes a long request: the pauses between its statements may be longer, and so may its
 * waits for locks. Not for a transaction that locks an account or statuses.
 */
export const allowLongWork = (sql: Transaction) => sql.unsafe(limitsOf(LONG_MS))

/** For the end of such a transaction: it locks rows that others need, so the usual limit of idle time applies again. */
export const endLongWork = (sql: Transaction) =>
  sql.unsafe(`select set_config('idle_in_transaction_session_timeout', '${IDLE_IN_TRANSACTION_MS}', true)`)

/** For a transaction that waits for all other transactions, without a time limit. */
export const waitWithoutEnd = (sql: Transaction) => sql.unsafe(limitsOf(0))

const limitsOf = (ms: number) => `
  select set_config('idle_in_transaction_session_timeout', '${ms}', true), set_config('lock_timeout', '${ms}', true)`
