import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { kindOf, type SubjectKind } from '../../../domain/verifications/guard.ts'
import { type BlockedSubject, searchBlocked, unblockSubject } from '../../../domain/verifications/verifications.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'

const Blocked = Type.Object({ ...OfCompany.properties, search: Type.Optional(Type.String({ maxLength: 100 })) })
const Unblock = Type.Object({ subject: Type.String({ minLength: 1, maxLength: 200 }) })

export type BlockedAnswer = { blocked: ListedBlock[]; isMore: boolean }
export type ListedBlock = ReturnType<typeof presentBlocked>

const MOST_BLOCKED = 100

/** Numbers, addresses and prefixes that are blocked for codes for some time. */
export const blockRoutes =
  ({ sql }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/verification/blocked',
      { config: { needs: 'settings.see' }, schema: { querystring: Blocked } },
      async ({ viewer, query }): Promise<BlockedAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const text = (query.search ?? '').replaceAll(/[\s()+]/g, '')
        const found = await searchBlocked(sql, companyId, text, MOST_BLOCKED + 1)
        return { blocked: found.slice(0, MOST_BLOCKED).map(presentBlocked), isMore: found.length > MOST_BLOCKED }
      },
    )

    api.post(
      '/verification/unblock',
      { config: { needs: 'settings.change' }, schema: { querystring: OfCompany, body: Unblock } },
      async ({ viewer, actor, query, body }, reply) => {
        const { companyId } = await companyOf(sql, viewer, query)
        await sql.begin(async tx => {
          if (!(await unblockSubject(tx, companyId, body.subject))) throw notFound('Block')
          const subject = { kind: 'block', id: body.subject }
          await recordChange(tx, actor, { what: 'verifier.unblocked', subject, companyId })
        })
        return reply.code(204).send()
      },
    )
  }

const presentBlocked = ({ subject, blockedUntil, blocks, reason }: BlockedSubject) => ({
  subject,
  kind: kindOf(subject) as SubjectKind,
  value: subject.includes(':') ? subject.slice(subject.indexOf(':') + 1) : null,
  until: blockedUntil,
  times: blocks,
  reason,
})
