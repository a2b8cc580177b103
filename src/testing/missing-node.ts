import type { Pool } from '../db/sql.ts'

/**
 * A worker of a Citus cluster that can be taken away: while `isAway`, every transaction fails as its coordinator reports it.
 * For parts that serve one company with these connections, and the others with connections of their own.
 */
export function aNodeOf(sql: Pool) {
  const node = { isAway: false, sql }
  node.sql = new Proxy(sql, {
    get(target, name, receiver) {
      if (name !== 'begin' || !node.isAway) return Reflect.get(target, name, receiver)
      return () => Promise.reject(nodeAway())
    },
  })
  return node
}

export const nodeAway = () =>
  Object.assign(new Error('connection to the remote node failed'), { code: '08006', severity: 'ERROR' })
