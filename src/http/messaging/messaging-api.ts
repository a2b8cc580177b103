import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

/** The messaging API; `/v1/X` and `/api/v1/v1/X` are other spellings of the same addresses. */
export async function registerMessagingApi(app: FastifyInstance, _context: Context) {
  for (const prefix of ['/api/v1', '/v1', '/api/v1/v1']) {
    await app.register(
      async api => {
        api.get('/ping', async (_, reply) => reply.type('text/plain; charset=utf-8').send('PONG'))
      },
      { prefix },
    )
  }
}
