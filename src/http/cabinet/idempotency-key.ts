import type { FastifyRequest } from 'fastify'
import Type from 'typebox'

/** The key of a request that must take effect once, also if a click, a reload or a lost answer repeats it. */
export const KeyHeader = Type.Object({
  'idempotency-key': Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\x20-\\x7e]*$' }),
})

export const onceOf = (request: FastifyRequest, companyId: number) => ({
  owner: `cabinet:${companyId}`,
  key: String(request.headers['idempotency-key']),
  request: Buffer.concat([Buffer.from(`${request.url}\n`), request.rawBody ?? Buffer.alloc(0)]),
})
