import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Owner } from '../domain/request-log/request.ts'
import { RequestWriter } from '../domain/request-log/writer.ts'
import type { Context } from './context.ts'

const MOST_CHARACTERS = 200

/** Records the requests to the public APIs for the cabinet. Requests without a valid key or token have no owner and are left out. */
export function listRequests(app: FastifyInstance, { sql, log, clock }: Context) {
  const writer = new RequestWriter({ sql, log })
  app.decorateRequest('usedKey', undefined)
  app.addHook('onResponse', (request, reply, done) => {
    const owner = ownerOf(request)
    if (owner)
      writer.note({
        owner,
        keyId: request.usedKey?.keyId ?? 0,
        at: clock(),
        method: request.method,
        route: (request.routeOptions.url ?? '').slice(0, MOST_CHARACTERS),
        status: reply.statusCode,
        tookMs: Math.round(reply.elapsedTime),
        address: request.ip ?? '',
        requestId: request.id,
      })
    done()
  })
  app.addHook('onClose', () => writer.stop())
}

function ownerOf({ usedKey, partner }: FastifyRequest): Owner | undefined {
  if (usedKey) return { kind: 'COMPANY', id: usedKey.companyId }
  return partner && { kind: 'PARTNER', id: partner.partnerId }
}
