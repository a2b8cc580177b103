import type postgres from 'postgres'

/** Not the type of sql.ts, which imports this file. */
type Statements = Pick<postgres.ISql, 'unsafe'>

/** Options of the driver that its types lack. It calls this when it has sent a statement: may it send the next one? */
type Options = { onexecute?: () => boolean }

const SEND_ALONE: Options = { onexecute: () => false }

/**
 * Sends no statement before the last one on its connection has ended. Without this, the driver sends several when all
 * connections are in use, and a pooler can lose the second: it gives the session to another client as soon as the first
 * statement has ended, while the second waits to be described, and its answer is lost. The caller would wait
 * for ever: https://github.com/porsager/postgres/issues/970. The setting `max_pipeline: 0` of the driver breaks its
 * transactions. Within a transaction a pooler keeps the session, so its statements can still be sent together.
 */
export function withoutPipelining<Pool extends object>(pool: Pool): Pool {
  const statements = pool as Statements
  const { unsafe } = statements
  statements.unsafe = (text, parameters, options) => unsafe(text, parameters, { ...SEND_ALONE, ...options })
  return new Proxy(pool, {
    apply(target, self, args) {
      const part: { options?: Options } = Reflect.apply(target as never, self, args)
      if (part.options) Object.assign(part.options, SEND_ALONE)
      return part
    },
  })
}
