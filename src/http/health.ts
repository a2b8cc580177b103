import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/errors.ts'
import type { Pool } from '../db/sql.ts'
import type { Context } from './context.ts'

/** `/healthz`: the process lives. `/readyz`: the service can do its work, the database answers and an engine sends. */
export function registerHealth(app: FastifyInstance, { sql }: Context) {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    const isAtWork = await engineSeen(sql).catch(() => {
      throw notReady('The database does not answer')
    })
    if (!isAtWork) throw notReady('No engine is at work: start one with `tidings engine`')
    return { status: 'ready' }
  })
  app.get('/', async (_, reply) => reply.redirect('/docs'))
}

/** Engines write down every few seconds, by the database's clock, that they are there. */
async function engineSeen(sql: Pool): Promise<boolean> {
  const [row] = await sql<{ seen: boolean }[]>`
    select exists (select from engines where seen_at > now() - interval '10 seconds') as seen`
  return row!.seen
}

const notReady = (why: string) => new AppError('not_ready', why, { retryAfterSeconds: 2 })
