import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, AuditAction } from '../../../domain/audit-log/entry.ts'
import { type PartnerSummary, partnerSummaries } from '../../../domain/overview/summaries.ts'
import { lockedLogins } from '../../../domain/partners/login-limits.ts'
import { type ListedPartner, partnerStates } from '../../../domain/partners/partner.ts'
import {
  disablePartner,
  enablePartner,
  pageOfPartners,
  requireListedPartner,
  unlockPartner,
} from '../../../domain/partners/partners.ts'
import { createPartnerWithOwner, newPassword, replacePartnerPassword } from '../../../domain/people/partner-owners.ts'
import { Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'

const List = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 100 })),
  state: Type.Optional(OneOf(partnerStates)),
  /** The last partner of the previous page of the list, or the first partner of the next page. */
  after: Type.Optional(Id),
  before: Type.Optional(Id),
})
const NewPartner = Type.Object({ login: Type.String({ minLength: 1, maxLength: 255 }) })
const State = Type.Object({ isActive: Type.Boolean() })
const ByPartner = Type.Object({ partnerId: Id })

/** Types of requests and answers, which the pages import. */
export type ShownPartner = ReturnType<typeof present>
export type PartnersAnswer = { items: ShownPartner[]; hasBefore: boolean; hasAfter: boolean }
/** The cabinet shows the password only in this answer. */
export type PasswordAnswer = { partnerId: number; password: string }

const PER_PAGE = 50

/** Partners and the state of their logins, for staff. */
export const partnerRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    partnerReadRoutes(api, context)
    partnerPasswordRoutes(api, context)
    partnerStateRoutes(api, context)
  }

/** Lists partners, and reads one. */
function partnerReadRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const shown = async (partners: Listed[]) => {
    const moment = { now: clock(), billingZone }
    const [standings, locked] = await Promise.all([
      partnerSummaries(sql, idsOf(partners), moment),
      lockedLogins(sql, loginsOf(partners), moment.now),
    ])
    return partners.map(partner => present(partner, standings.get(partner.partnerId)!, locked.has(partner.login)))
  }

  api.get(
    '/partners',
    { config: { needs: 'partners.see' }, schema: { querystring: List } },
    async ({ query }): Promise<PartnersAnswer> => {
      const { after, before, search, state } = query
      const page = await pageOfPartners(sql, { search: search?.trim(), state }, { after, before }, PER_PAGE)
      return { ...page, items: await shown(page.items) }
    },
  )

  api.get(
    '/partners/:partnerId',
    { config: { needs: 'partners.see' }, schema: { params: ByPartner } },
    async ({ params: { partnerId } }): Promise<ShownPartner> => {
      const [partner] = await shown([await requireListedPartner(sql, partnerId)])
      return partner!
    },
  )
}

/** Creates partners, and replaces passwords. */
function partnerPasswordRoutes(api: CabinetApi, { sql }: CabinetContext) {
  /** The owner signs in with this login and password. The partner API accepts the same pair. */
  api.post(
    '/partners',
    { config: { needs: 'partners.change' }, schema: { body: NewPartner } },
    async ({ actor, body: { login } }, reply): Promise<PasswordAnswer> => {
      const password = newPassword()
      const partnerId = await sql.begin(async tx => {
        const made = await createPartnerWithOwner(tx, login, password)
        await record(tx, actor, 'partner.created', { ...made, login }, { after: { login } })
        return made.partnerId
      })
      reply.code(201)
      return { partnerId, password }
    },
  )

  api.post(
    '/partners/:partnerId/password',
    { config: { needs: 'partners.change' }, schema: { params: ByPartner } },
    async ({ actor, params: { partnerId } }): Promise<PasswordAnswer> => {
      const partner = await requireListedPartner(sql, partnerId)
      const password = newPassword()
      await replacePartnerPassword(sql, partner.login, password, tx =>
        record(tx, actor, 'partner.password_changed', partner),
      )
      return { partnerId, password }
    },
  )
}

/** Enables, disables and unlocks partners. */
function partnerStateRoutes(api: CabinetApi, { sql }: CabinetContext) {
  const enable = (actor: Actor, partner: Named) =>
    sql.begin(async tx => {
      await enablePartner(tx, partner.login)
      await record(tx, actor, 'partner.enabled', partner)
    })

  const disable = (actor: Actor, partner: Named) =>
    disablePartner(sql, partner.login, tx => record(tx, actor, 'partner.disabled', partner))

  api.put(
    '/partners/:partnerId/state',
    { config: { needs: 'partners.change' }, schema: { params: ByPartner, body: State } },
    async ({ actor, params, body: { isActive } }, reply) => {
      const partner = await requireListedPartner(sql, params.partnerId)
      if (isActive !== (partner.disabledAt === null)) await (isActive ? enable : disable)(actor, partner)
      return reply.code(204).send()
    },
  )

  api.post(
    '/partners/:partnerId/unlock',
    { config: { needs: 'partners.change' }, schema: { params: ByPartner } },
    async ({ actor, params }, reply) => {
      const partner = await requireListedPartner(sql, params.partnerId)
      await sql.begin(async tx => {
        await unlockPartner(tx, partner.login)
        await record(tx, actor, 'partner.unlocked', partner)
      })
      return reply.code(204).send()
    },
  )
}

type Listed = ListedPartner & { createdAt: Date }

const idsOf = (partners: Listed[]) => partners.map(({ partnerId }) => partnerId)
const loginsOf = (partners: Listed[]) => partners.map(({ login }) => login)

type Named = { partnerId: number; login: string }

function record(tx: Transaction, actor: Actor, what: AuditAction, { partnerId, login }: Named, fields: object = {}) {
  const subject = { kind: 'partner', id: partnerId, name: login }
  return recordChange(tx, actor, { what, partnerId, subject, ...fields })
}

const present = (
  { partnerId, login, currency, disabledAt, createdAt }: Listed,
  { companies, sent, delivered, failed }: PartnerSummary,
  isLocked: boolean,
) => ({
  partnerId,
  login,
  currency,
  createdAt,
  isActive: disabledAt === null,
  /** After failed logins the API refuses the partner for ten minutes from networks that it has not used before. */
  isLocked,
  companies,
  today: { sent, delivered, failed },
})
