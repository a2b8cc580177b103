import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../base/errors.ts'
import { parseJson } from '../json/parse.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as received. Repeated requests are compared by them. */
    rawBody: Buffer | undefined
  }
}

export const KIB = 1024
export const MIB = 1024 * KIB

/** The largest body of a route, in bytes. `usual` holds for routes without a limit of their own. */
export const bodyLimits = { usual: MIB, token: 16 * KIB, messages: 16 * MIB, recipients: 32 * MIB }

export const tooLargeFor = (limitBytes: number) =>
  new AppError('too_large', `The request body is larger than ${inWords(limitBytes)}`)

const inWords = (sizeBytes: number) => (sizeBytes < MIB ? `${sizeBytes / KIB} KiB` : `${sizeBytes / MIB} MiB`)

/**
 * Parses JSON bodies. An empty body counts as no body, with any content type. Text that PostgreSQL cannot store (a NUL,
 * half of a surrogate pair) is refused before the route runs.
 */
export function acceptJsonBodies(app: FastifyInstance) {
  app.decorateRequest('rawBody', undefined)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', ({ headers }, _, done) => {
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
    if (isEmpty) delete headers['content-type']
    done()
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    request.rawBody = body
    return parseJson(body)
  })
}
