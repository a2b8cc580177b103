import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Sql } from '../../../db/sql.ts'
import { listKeys } from '../../../domain/keys/keys.ts'
import { requirePartner } from '../../../domain/partners/partners.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import type { Owner } from '../../../domain/request-log/request.ts'
import {
  countRequests,
  type ListedRequest,
  listRequests,
  type Place,
  statusClasses,
} from '../../../domain/request-log/request-log.ts'
import { Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf } from '../company-scope.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const Query = Type.Object({
  companyId: Type.Optional(Id),
  /** For staff who chose no company: the partner whose tokens made the requests. */
  partnerId: Type.Optional(Id),
  status: Type.Optional(OneOf(statusClasses)),
  key: Type.Optional(Id),
  method: Type.Optional(OneOf(methods)),
  requestId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  /** The `next` of the previous page of the list. */
  before: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,16}$' })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})

/** Types of answers, which the page imports. */
export type RequestEntry = ReturnType<typeof present>
export type RequestLogAnswer = {
  /** The log has requests with the keys of a company, or with the tokens of a partner. */
  of: Owner['kind']
  requests: RequestEntry[]
  next: string | null
  /** Minutes with too many requests: the log counts the rest of their requests. */
  unlisted: { minute: Date; unlisted: number }[]
  keys: { keyId: number; name: string }[]
  /** In the last 24 hours. */
  total: number
  refused: number
}
export type Method = (typeof methods)[number]
export type { StatusClass } from '../../../domain/request-log/request-log.ts'

const DAY_MS = 24 * 3_600_000

/** Requests of the last day: with the keys of a company, or with the partner's own tokens if it chose no company. */
export const requestLogRoutes =
  ({ sql, clock }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/requests',
      { config: { needs: 'developers.see' }, schema: { querystring: Query } },
      async ({ viewer, query }): Promise<RequestLogAnswer> => {
        const owner = await ownerOf(sql, viewer, query)
        const now = clock()
        const [page, counts, keys] = await Promise.all([
          listRequests(sql, owner, filterIn(query), query.perPage, now),
          countRequests(sql, owner, new Date(now.getTime() - DAY_MS)),
          owner.kind === 'COMPANY' ? listKeys(sql, owner.id) : [],
        ])
        return {
          of: owner.kind,
          requests: page.requests.map(present),
          next: page.next ? placeText(page.next) : null,
          unlisted: page.unlisted,
          keys: keys.map(({ keyId, name }) => ({ keyId, name })),
          total: counts.reduce((sum, { requests }) => sum + requests, 0),
          refused: counts.reduce((sum, { refused }) => sum + refused, 0),
        }
      },
    )
  }

async function ownerOf(sql: Sql, viewer: Viewer, query: { companyId?: number; partnerId?: number }): Promise<Owner> {
  if (query.companyId === undefined) {
    if (viewer.kind === 'PARTNER') return { kind: 'PARTNER', id: viewer.partnerId }
    if (viewer.kind === 'STAFF' && query.partnerId !== undefined)
      return { kind: 'PARTNER', id: (await requirePartner(sql, query.partnerId)).partnerId }
  }
  return { kind: 'COMPANY', id: (await companyOf(sql, viewer, query)).companyId }
}

const filterIn = ({ status, key, method, requestId, before }: Type.Static<typeof Query>) => ({
  statusClass: status,
  keyId: key,
  method,
  requestId,
  before: before === undefined ? undefined : placeIn(before),
})

const placeText = ({ at, requestNo }: Place) => `${at.getTime()}-${requestNo}`

function placeIn(text: string): Place {
  const [at, requestNo] = text.split('-')
  return { at: new Date(Number(at)), requestNo: Number(requestNo) }
}

const present = (request: ListedRequest) => ({
  id: placeText(request),
  at: request.at,
  method: request.method,
  route: request.route,
  status: request.status,
  tookMs: request.tookMs,
  address: request.address,
  requestId: request.requestId,
  /** Null for a token of a partner. */
  key: request.keyId === 0 ? null : { keyId: request.keyId, name: request.keyName ?? '' },
})
