import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { changedMeanwhile, invalid, notFound } from '../../../base/errors.ts'
import type { Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import { requirePartner } from '../../../domain/partners/partners.ts'
import {
  activatePerson,
  changeRole,
  deactivatePerson,
  invitePerson,
  listPeople,
  renewInvitation,
  requirePerson,
} from '../../../domain/people/people.ts'
import { type Person, type Place, type Role, roles, type Viewer } from '../../../domain/people/person.ts'
import { Id } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { OfCompany } from '../company-scope.ts'
import { subjectOf } from '../sign-in/account.ts'
import { LinkMails, type MailAnswer } from './link-mails.ts'

const OfPlace = Type.Object({ ...OfCompany.properties, partnerId: Type.Optional(Id) })
const Login = Type.String({ minLength: 1, maxLength: 255 })
const RoleName = Type.String({ maxLength: 20 })
const Invitation = Type.Object({ login: Login, role: RoleName, name: Type.Optional(Type.String({ maxLength: 100 })) })
/** `seen` is the role that the page showed. If the person has another role by now, the change is refused. */
const Change = Type.Object({
  role: Type.Optional(RoleName),
  seen: Type.Optional(RoleName),
  isActive: Type.Optional(Type.Boolean()),
})
const ByPerson = Type.Object({ personId: Id })

/** Types of requests and answers, which the page imports. */
export type Invitation = Type.Static<typeof Invitation>
export type PersonChange = Type.Static<typeof Change>
export type ListedPerson = ReturnType<typeof present>
export type PeopleAnswer = { people: ListedPerson[]; roles: readonly Role[] }
/** The cabinet shows the link only in this answer, also if it was mailed. */
export type LinkAnswer = { link: string; expiresAt: Date; mail: MailAnswer }
export type InvitedAnswer = LinkAnswer & { personId: number }

/**
 * The people of the viewer's own company, partner or staff. `companyId` chooses a company that the viewer may see.
 * `partnerId`, for staff, chooses a partner.
 */
export const peopleRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, clock, publicUrl } = context
    const mails = new LinkMails(context)
    const linkOf = (token: string) => `${publicUrl}/cabinet/accept-invitation#${token}`

    api.get(
      '/people',
      { config: { needs: 'people.see' }, schema: { querystring: OfPlace } },
      async ({ viewer, query }): Promise<PeopleAnswer> => {
        const place = await placeOf(sql, viewer, query)
        const apiLogin = await apiLoginOf(sql, place)
        const people = (await listPeople(sql, place)).map(person => present(person, apiLogin))
        return { people, roles: roles[place.kind] }
      },
    )

    api.post(
      '/people',
      { config: { needs: 'people.change' }, schema: { querystring: OfPlace, body: Invitation } },
      async (request, reply): Promise<InvitedAnswer> => {
        const { viewer, actor, query, body } = request
        const place = await placeOf(sql, viewer, query)
        const mailLink = await mails.prepare(request, place)
        const made = await sql.begin(async tx => {
          const invited = await invitePerson(tx, place, body, clock())
          const subject = { kind: 'person', id: invited.personId, name: body.login }
          const after = { login: body.login, role: body.role, ...(body.name === undefined ? {} : { name: body.name }) }
          await recordChange(tx, actor, { what: 'person.invited', ...place, subject, after })
          return invited
        })
        const { personId, token, expiresAt } = made
        const link = linkOf(token)
        const mail = await mailLink({ personId, login: body.login, isInvitation: true, link, expiresAt })
        reply.code(201)
        return { personId, link, expiresAt, mail }
      },
    )

    api.patch(
      '/people/:personId',
      { config: { needs: 'people.change' }, schema: { querystring: OfPlace, params: ByPerson, body: Change } },
      async ({ viewer, actor, query, params, body }, reply) => {
        if (params.personId === viewer.personId) throw invalid('You cannot change your own role: ask somebody else')
        const place = await placeOf(sql, viewer, query)
        await sql.begin(tx => change(tx, actor, place, params.personId, body))
        return reply.code(204).send()
      },
    )

    /** Makes a new link for a person who lost the link or the password. */
    api.post(
      '/people/:personId/invitation',
      { config: { needs: 'people.change' }, schema: { querystring: OfPlace, params: ByPerson } },
      async (request): Promise<LinkAnswer> => {
        const { viewer, actor, query, params } = request
        const place = await placeOf(sql, viewer, query)
        const person = await requirePerson(sql, place, params.personId)
        const mailLink = await mails.prepare(request, place)
        const { token, expiresAt } = await sql.begin(async tx => {
          await recordChange(tx, actor, { what: 'person.link_renewed', ...subjectOf(person) })
          return renewInvitation(tx, person.personId, clock())
        })
        const { personId, login, isInvited: isInvitation } = person
        const link = linkOf(token)
        return { link, expiresAt, mail: await mailLink({ personId, login, isInvitation, link, expiresAt }) }
      },
    )
  }

async function change(
  sql: Transaction,
  actor: Actor,
  place: Place,
  personId: number,
  { role, seen, isActive }: PersonChange,
) {
  const person = await requirePerson(sql, place, personId)
  const subject = subjectOf(person)
  if (seen !== undefined && seen !== person.role) throw changedMeanwhile()
  if (role !== undefined) {
    await changeRole(sql, person, role)
    const roles = { before: { role: person.role }, after: { role } }
    await recordChange(sql, actor, { what: 'person.role_changed', ...subject, ...roles })
  }
  if (isActive === undefined || isActive === (person.disabledAt === null)) return
  await (isActive ? activatePerson(sql, person) : deactivatePerson(sql, person))
  await recordChange(sql, actor, { what: isActive ? 'person.activated' : 'person.deactivated', ...subject })
}

async function placeOf(sql: Sql, viewer: Viewer, named: Type.Static<typeof OfPlace>): Promise<Place> {
  const { companyId, partnerId } = named
  if (companyId !== undefined && partnerId !== undefined) throw invalid('Name a company or a partner, not both')
  if (companyId !== undefined) {
    await requireCompanyWithin(sql, viewer, companyId)
    return { kind: 'COMPANY', companyId, partnerId: null }
  }
  if (partnerId === undefined) return viewer
  if (viewer.kind !== 'STAFF') throw notFound('Partner')
  await requirePartner(sql, partnerId)
  return { kind: 'PARTNER', companyId: null, partnerId }
}

const apiLoginOf = async (sql: Sql, place: Place): Promise<string | undefined> =>
  place.kind === 'PARTNER' ? (await requirePartner(sql, place.partnerId)).login : undefined

const present = (person: Person, apiLogin: string | undefined) => ({
  personId: person.personId,
  role: person.role,
  login: person.login,
  /** The partner API accepts this login too, also if the person may not sign in to the cabinet. */
  isApiLogin: person.login === apiLogin,
  name: person.name,
  isInvited: person.isInvited,
  isActive: person.disabledAt === null,
  hasSecondFactor: person.hasSecondFactor,
  createdAt: person.createdAt,
})
