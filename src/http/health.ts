import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/errors.ts'
import type { Context } from './context.ts'

/** `/healthz`: the process lives. `/readyz`: it can do its work, the database answers. */
export function registerHealth(app: FastifyInstance, { sql }: Context) {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await sql`select 1`.catch(() => {
      throw new AppError('not_ready', 'The database does not answer', { retryAfterSeconds: 2 })
    })
    return { status: 'ready' }
  })
  app.get('/', async (_, reply) => reply.redirect('/docs'))
}
