import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** A request id that is safe in a header and in a log line. */
const TAKEN_OVER = /^[\w.:@/+=-]{1,128}$/

/** The `X-Request-Id` of the client, so that both sides find the request by the same id. A new id if there is none. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && TAKEN_OVER.test(given) ? given : randomUUID()
}

/** Call it before any other hook is added. After a hook that refuses a request, no further hook runs. */
export function showRequestId(app: FastifyInstance) {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
}
