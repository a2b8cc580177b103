import type { Pool, Transaction } from './sql.ts'

/**
 * A transaction in the place of a pool, for verbs that begin a transaction of their own: theirs becomes a savepoint, and
 * what they do commits with the rest.
 */
export function asPool(transaction: Transaction): Pool {
  const begin = (...args: unknown[]) => transaction.savepoint(args.at(-1) as (sql: Transaction) => unknown)
  return new Proxy(transaction, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  }) as unknown as Pool
}
