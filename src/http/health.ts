import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/errors.ts'
import { isEngineAtWork } from '../domain/sending/engines.ts'
import type { Context } from './context.ts'

/** `/healthz`: the process lives. `/readyz`: the service can do its work, the database answers and an engine sends. */
export function registerHealth(app: FastifyInstance, { sql }: Context) {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    const isAtWork = await isEngineAtWork(sql).catch(() => {
      throw notReady('The database does not answer')
    })
    if (!isAtWork) throw notReady('No engine is at work: start one with `tidings engine`')
    return { status: 'ready' }
  })
  app.get('/', async (_, reply) => reply.redirect('/docs'))
}

const notReady = (why: string) => new AppError('not_ready', why, { retryAfterSeconds: 2 })
