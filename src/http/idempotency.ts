import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Once } from '../domain/idempotency/idempotency.ts'

/** Every creating POST takes it: the same key with the same request gets the first answer again, for 24 hours. */
export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]*$',
      description: 'printable ASCII characters',
    }),
  ),
})

/** `content` stands for the body where its bytes differ from one sending to the next, as multipart bodies do. */
export function onceOf(request: FastifyRequest, content = request.rawBody ?? Buffer.alloc(0)): Once {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return undefined
  const head = Buffer.from(`${addressOf(request)}\n`)
  return { owner: ownerOf(request), key, request: Buffer.concat([head, content]) }
}

/** The route and what fills it: an address has several spellings, by its prefix and the slash at its end. */
const addressOf = ({ method, routeOptions, server, params, query }: FastifyRequest) =>
  JSON.stringify([method, routeOptions.url!.slice(server.prefix.length), params, query])

/** Keys of the messaging API share their company's. */
const ownerOf = ({ partner, caller }: FastifyRequest) =>
  caller ? `company:${caller.companyId}` : `partner:${partner.partnerId}`
