import type { FastifyInstance } from 'fastify'
import { AppError } from '../../base/errors.ts'
import type { Partner } from '../../domain/partners/partner.ts'
import { createTokenReader } from '../../domain/partners/partners.ts'
import type { Context } from '../context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    partner: Partner
  }
}

/** Accepts only requests with a valid token, checked before the body is read. */
export function authenticatePartner(api: FastifyInstance, { sql, clock }: Context) {
  const partnerOf = createTokenReader(sql, clock)

  api.decorateRequest('partner')
  api.addHook('onRequest', async request => {
    const partner = await partnerOf(tokenIn(request.headers.authorization))
    if (!partner) throw notAuthenticated()
    request.partner = partner
  })
  api.addHook('onRoute', route => {
    route.schema = { security: [{ token: [] }], ...route.schema }
  })
}

function tokenIn(header: string | undefined): string {
  if (header === undefined) throw notAuthenticated()
  const match = /^(?:bearer|basic) +(\S+) *$/i.exec(header)
  if (!match) throw new AppError('bad_credentials', 'Bad credentials')
  return match[1]!
}

const notAuthenticated = () => new AppError('not_authenticated', 'Not Authenticated')
