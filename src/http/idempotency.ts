import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Once } from '../domain/idempotency/idempotency.ts'

/** The header of every POST that creates something. For 24 hours, the same key with the same request gets the first answer again. */
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

/** `content` replaces the body in the comparison of requests. Bytes of multipart bodies differ in each repetition. */
export function onceOf(request: FastifyRequest, content = request.rawBody ?? Buffer.alloc(0)): Once {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return undefined
  const head = Buffer.from(`${addressOf(request)}\n`)
  return { owner: ownerOf(request), key, request: Buffer.concat([head, content]) }
}

/** The route with its parameters. The URL itself does not identify the route: its prefix and its trailing slash vary. */
const addressOf = ({ method, routeOptions, server, params, query }: FastifyRequest) =>
  JSON.stringify([method, routeOptions.url!.slice(server.prefix.length), params, query])

/** All API keys of a company share their idempotency keys. */
const ownerOf = ({ partner, caller }: FastifyRequest) =>
  caller ? `company:${caller.companyId}` : `partner:${partner.partnerId}`
