import type postgres from 'postgres'

type Transaction = Pick<postgres.TransactionSql, 'unsafe'>

/**
 * How long a session may stay idle inside a transaction before the server ends it. A process that is frozen there
 * (stopped, swapped out, on a machine that sleeps) would otherwise keep its locks, and with the lock of an account it
 * stops a whole company. Shorter than a lease, so that work that is taken over finds no lock in its way.
 */
export const IDLE_IN_TRANSACTION_MS = 5000

/** How long a statement waits for a lock: longer than a frozen process can keep one, shorter than a lease. */
export const LOCK_MS = 7000

const LONG_MS = 60_000

/**
 * For a transaction that works through a long request: there may be longer gaps between its statements, and it waits
 * longer for others of its kind. Not for a transaction that locks an account.
 */
export const allowLongWork = (sql: Transaction) => sql.unsafe(limitsOf(LONG_MS))

/** For the end of such a transaction: it locks what others wait for, so it may not be idle for longer than they are. */
export const endLongWork = (sql: Transaction) =>
  sql.unsafe(`select set_config('idle_in_transaction_session_timeout', '${IDLE_IN_TRANSACTION_MS}', true)`)

/** For a transaction that waits for all others to be done, however long they take. */
export const waitWithoutEnd = (sql: Transaction) => sql.unsafe(limitsOf(0))

const limitsOf = (ms: number) => `
  select set_config('idle_in_transaction_session_timeout', '${ms}', true), set_config('lock_timeout', '${ms}', true)`
