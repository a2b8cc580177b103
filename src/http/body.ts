import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../base/errors.ts'
import { parseJson } from './json/parse.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for comparing repeated requests. */
    rawBody: Buffer | undefined
  }
}

export const KIB = 1024
export const MIB = 1024 * KIB

/** How large a body may be. A route that is not named here takes what any form filled in by hand would need. */
export const bodyLimits = { usual: MIB, token: 16 * KIB, messages: 16 * MIB, recipients: 32 * MIB }

export const tooLargeFor = (limitBytes: number) =>
  new AppError('too_large', `The request body is larger than ${inWords(limitBytes)}`)

const inWords = (sizeBytes: number) => (sizeBytes < MIB ? `${sizeBytes / KIB} KiB` : `${sizeBytes / MIB} MiB`)

/**
 * JSON bodies. An empty one counts as none, whatever its content type says. Text that PostgreSQL cannot keep (a NUL,
 * half of a surrogate pair) is refused at the door.
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
