import type postgres from 'postgres'
import { isConnectionLost } from '../base/database-losses.ts'

type Transaction = postgres.TransactionSql
type Work = (sql: Transaction) => unknown
type Begin = (options: string, work: Work) => Promise<unknown>
type State = { lost: boolean }

/**
 * Guards transactions against a flaw of the driver: when the connection is lost inside one, the driver still sends
 * the rollback, and whatever the transaction's function goes on to send, over the same connection object, which by
 * then has no socket or belongs to somebody else's transaction.
 *
 * So once the connection is lost, statements of that transaction are refused here, and its function is never seen to
 * end: the driver has told the caller of the loss already, and has nothing to roll back.
 */
export function guardTransactions<Pool extends { begin: unknown }>(pool: Pool): Pool {
  const begin = pool.begin as Begin

  pool.begin = (async (...args: [string, Work] | [Work]) => {
    const work = args.at(-1) as Work
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

function untilLost(work: Work, sql: Transaction, state: State): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      if (!state.lost) settle()
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

/** The same transaction, refusing to speak when its connection is gone. */
function guarded(sql: Transaction, state: State): Transaction {
  const refuseLost = () => {
    if (state.lost)
      throw Object.assign(new Error('the connection of this transaction was lost'), { code: 'CONNECTION_CLOSED' })
  }
  return new Proxy(sql, {
    apply(target, self, args) {
      refuseLost()
      return Reflect.apply(target, self, args)
    },
    get(target, name) {
      if (name === 'unsafe' || name === 'savepoint') refuseLost()
      return Reflect.get(target, name)
    },
  })
}
