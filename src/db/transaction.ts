import type postgres from 'postgres'
import { isConnectionLost } from '../base/database-losses.ts'
import { refuseUnwritable } from './statement-values.ts'

type Transaction = postgres.TransactionSql
type Work = (sql: Transaction) => unknown
type Begin = (options: string, work: Work) => Promise<unknown>
type State = { lost: boolean }

/**
 * Guards transactions against a bug of the driver (https://github.com/porsager/postgres/issues/1216 and 1208, open in
 * version 3.4.9). When the connection is lost inside a transaction, the driver still sends the rollback and later
 * statements of the transaction over the same connection object. By then the object has no socket, or it belongs to
 * another transaction.
 *
 * So after a lost connection this guard rejects all statements of the transaction, and the function of the transaction
 * never appears to end. The driver has already rejected the transaction, and has nothing to roll back.
 *
 * `settings` is a statement for the beginning of each transaction.
 */
export function guardTransactions<Pool extends { begin: unknown }>(pool: Pool, settings?: string): Pool {
  const begin = pool.begin as Begin
  // Sent together with the first statement of the work. Its error is the error of the transaction.
  const withSettings = (work: Work) => (sql: Transaction) => {
    if (settings) void sql.unsafe(settings).execute()
    return work(sql)
  }

  pool.begin = (async (...args: [string, Work] | [Work]) => {
    const work = withSettings(args.at(-1) as Work)
    const state = { lost: false }
    try {
      return await begin(typeof args[0] === 'string' ? args[0] : '', sql => untilLost(work, guarded(sql, state), state))
    } catch (error) {
      state.lost = true
      throw error
    }
  }) as Pool['begin']
  return pool
}

function untilLost(work: Work, sql: Transaction, state: State, onLost = () => {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => (state.lost ? onLost() : settle())
    Promise.resolve(work(sql)).then(
      value => end(() => resolve(value)),
      error => {
        if (isConnectionLost(error)) state.lost = true
        end(() => reject(error))
      },
    )
  })
}

/** The same transaction. It rejects statements after its connection is lost, and statements that the driver cannot write. */
function guarded(sql: Transaction, state: State): Transaction {
  const refuseLost = () => {
    if (state.lost) throw connectionLost()
  }
  return new Proxy(sql, {
    apply(target, self, args) {
      refuseLost()
      refuseUnwritable(args)
      return Reflect.apply(target, self, args)
    },
    get(target, name) {
      if (name === 'unsafe' || name === 'savepoint') refuseLost()
      return name === 'savepoint' ? guardedSavepoint(target, state) : Reflect.get(target, name)
    },
  })
}

/**
 * The driver gives the work of a savepoint an object of its own, which must be guarded too. After a lost connection the
 * driver must not roll back to the savepoint, so for the driver the work never ends. The caller gets the error.
 */
const guardedSavepoint =
  (sql: Transaction, state: State) =>
  (...args: [string, Work] | [Work]): Promise<unknown> => {
    const work = args.at(-1) as Work
    const lost = Promise.withResolvers<never>()
    const onLost = () => lost.reject(connectionLost())
    const inner: Work = own => untilLost(work, guarded(own, state), state, onLost)
    const ended = typeof args[0] === 'string' ? sql.savepoint(args[0], inner) : sql.savepoint(inner)
    return Promise.race([ended, lost.promise])
  }

const connectionLost = () =>
  Object.assign(new Error('the connection of this transaction was lost'), { code: 'CONNECTION_CLOSED' })
