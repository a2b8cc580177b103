import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** What may stand in a header and in a log line as it is. */
const TAKEN_OVER = /^[\w.:@/+=-]{1,128}$/

/** The client's own `X-Request-Id`, so that both sides find the request under one name; a new one without it. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && TAKEN_OVER.test(given) ? given : randomUUID()
}

/** To be called before any other hook is added: a hook that refuses a request ends the list. */
export function showRequestId(app: FastifyInstance) {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
}
