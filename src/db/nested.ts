import type { Pool, Transaction } from './sql.ts'

/**
 * A transaction that replaces a pool, for functions that begin a transaction of their own. Their transaction becomes a
 * savepoint and commits with the outer one.
 */
export function asPool(transaction: Transaction): Pool {
  const begin = (...args: unknown[]) => transaction.savepoint(args.at(-1) as (sql: Transaction) => unknown)
  return new Proxy(transaction, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  }) as unknown as Pool
}
