import type postgres from 'postgres'
import { isConnectionLost } from '../base/database-losses.ts'
import { refuseUnwritable } from './statement-values.ts'

type Transaction = postgres.TransactionSql
type Work = (sql: Transaction) => unknown
type Begin = (options: string, work: Work) => Promise<unknown>
/** Of a transaction, shared with its savepoints. */
type State = { lost: boolean }
/** Of a transaction or one of its savepoints. */
type Scope = { state: State; isOver: boolean; outer?: Scope }

/**
 * Guards transactions against a bug of the driver (https://github.com/porsager/postgres/issues/1216 and 1208, open in
 * version 3.4.9). When the connection is lost inside a transaction, the driver still sends the rollback and later
 * statements of the transaction over the same connection object. By then the object has no socket, or it belongs to
 * another transaction.
 *
 * So after a lost connection this guard rejects all statements of the transaction, and the function of the transaction
 * never appears to end. The driver has already rejected the transaction, and has nothing to roll back.
 *
 * It also rejects statements that come after the function has failed or returned. When one of several functions that work
 * in parallel fails, the driver rolls back, but the others may be between two statements. Their next statement would be
 * committed by itself, outside of any transaction.
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
    const scope = { state, isOver: false }
    try {
      return await begin(typeof args[0] === 'string' ? args[0] : '', sql => untilLost(work, guarded(sql, scope), scope))
    } catch (error) {
      state.lost = true
      throw error
    }
  }) as Pool['begin']
  return pool
}

function untilLost(work: Work, sql: Transaction, scope: Scope, onLost = () => {}): Promise<unknown> {
  const { state } = scope
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      scope.isOver = true
      if (state.lost) onLost()
      else settle()
    }
    Promise.resolve(work(sql)).then(
      value => end(() => resolve(value)),
      error => {
        if (isConnectionLost(error)) state.lost = true
        end(() => reject(error))
      },
    )
  })
}

/** The same transaction. It rejects statements after its connection is lost or its work is over, and statements that the driver cannot write. */
function guarded(sql: Transaction, scope: Scope): Transaction {
  const refuseLate = () => {
    if (isOver(scope)) throw new Error('a statement came after its transaction was over')
    if (scope.state.lost) throw connectionLost()
  }
  return new Proxy(sql, {
    apply(target, self, args) {
      refuseLate()
      refuseUnwritable(args)
      return Reflect.apply(target, self, args)
    },
    get(target, name) {
      if (name === 'unsafe' || name === 'savepoint') refuseLate()
      return name === 'savepoint' ? guardedSavepoint(target, scope) : Reflect.get(target, name)
    },
  })
}

/**
 * The driver gives the work of a savepoint an object of its own, which must be guarded too. After a lost connection the
 * driver must not roll back to the savepoint, so for the driver the work never ends. The caller gets the error.
 */
const guardedSavepoint =
  (sql: Transaction, outer: Scope) =>
  (...args: [string, Work] | [Work]): Promise<unknown> => {
    const work = args.at(-1) as Work
    const lost = Promise.withResolvers<never>()
    const onLost = () => lost.reject(connectionLost())
    const scope = { state: outer.state, isOver: false, outer }
    const inner: Work = own => untilLost(work, guarded(own, scope), scope, onLost)
    const ended = typeof args[0] === 'string' ? sql.savepoint(args[0], inner) : sql.savepoint(inner)
    return Promise.race([ended, lost.promise])
  }

const isOver = ({ isOver: isItself, outer }: Scope): boolean => isItself || (outer !== undefined && isOver(outer))

const connectionLost = () =>
  Object.assign(new Error('the connection of this transaction was lost'), { code: 'CONNECTION_CLOSED' })
