import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { acceptInvitation, invitedPerson } from '../../../domain/people/people.ts'
import type { Person } from '../../../domain/people/person.ts'
import { rightsOf } from '../../../domain/people/rights.ts'
import { endSession } from '../../../domain/people/sessions.ts'
import { signIn } from '../../../domain/people/sign-in.ts'
import { KIB } from '../../bodies/body.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { subjectOf } from './account.ts'
import { actorOf } from './actor.ts'

const BODY_LIMIT = 16 * KIB

const Credentials = Type.Object({
  login: Type.String({ minLength: 1, maxLength: 255 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
})
const Code = Type.Object({ code: Type.String({ minLength: 6, maxLength: 20 }) })
const Token = Type.String({ minLength: 1, maxLength: 100 })
const Acceptance = Type.Object({ token: Token, password: Type.String({ minLength: 1, maxLength: 1024 }) })

/** Types of requests and answers, which the page imports. */
export type Credentials = Type.Static<typeof Credentials>
export type SecondFactorCode = Type.Static<typeof Code>
export type Acceptance = Type.Static<typeof Acceptance>
export type ServiceAnswer = { isDemo: boolean }
export type SessionAnswer = { person: SignedInPerson }
export type SignInAnswer = { needsSecondFactor: boolean }
export type InvitationAnswer = { login: string; name: string }
export type AcceptanceAnswer = { login: string }

/** Signing in and out, and the person of the session. */
export const sessionRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    signInRoutes(api, context)
    invitationRoutes(api, context)
  }

const anyone = { needs: 'no session' } as const

/** Signs in and out. */
function signInRoutes(api: CabinetApi, { sql, clock, cookie, secondFactors, demo = false }: CabinetContext) {
  const agentOf = ({ headers }: FastifyRequest) => headers['user-agent'] ?? ''

  /** The settings that the page needs before signing in. */
  api.get('/service', { config: anyone }, async (): Promise<ServiceAnswer> => ({ isDemo: demo }))

  api.get('/session', { config: { needs: 'signed in' } }, async ({ viewer }): Promise<SessionAnswer> => {
    return { person: presentPerson(viewer) }
  })

  api.post(
    '/session',
    { config: anyone, bodyLimit: BODY_LIMIT, schema: { body: Credentials } },
    async (request, reply): Promise<SignInAnswer> => {
      const attempt = { ...request.body, address: request.ip, agent: agentOf(request) }
      const { session, needsSecondFactor } = await signIn(sql, attempt, clock())
      cookie.write(reply, session)
      return { needsSecondFactor }
    },
  )

  api.post(
    '/session/second-factor',
    { config: { needs: 'half' }, bodyLimit: BODY_LIMIT, schema: { body: Code } },
    async (request, reply): Promise<SignInAnswer> => {
      const given = { ...request.body, address: request.ip }
      const { session } = await secondFactors.complete(request.viewer, given, clock())
      cookie.write(reply, session)
      return { needsSecondFactor: false }
    },
  )

  api.delete('/session', { config: { needs: 'half' } }, async ({ viewer, actor }, reply) => {
    await sql.begin(async tx => {
      await endSession(tx, viewer.personId, viewer.sessionHash)
      await recordChange(tx, actor, { what: 'session.ended', ...subjectOf(viewer) })
    })
    cookie.clear(reply)
    return reply.code(204).send()
  })
}

/** Reads and accepts invitations. */
function invitationRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  // POST, because logs keep addresses, and the token must not be in them.
  api.post(
    '/invitation',
    { config: anyone, bodyLimit: BODY_LIMIT, schema: { body: Type.Object({ token: Token }) } },
    async ({ body }): Promise<InvitationAnswer> => {
      const person = await invitedPerson(sql, body.token, clock())
      if (!person) throw notFound('Invitation')
      return { login: person.login, name: person.name }
    },
  )

  api.post(
    '/invitation/accept',
    { config: anyone, bodyLimit: BODY_LIMIT, schema: { body: Acceptance } },
    async (request): Promise<AcceptanceAnswer> => {
      const { token, password } = request.body
      const { login } = await acceptInvitation(sql, token, password, clock(), (tx, person) =>
        recordChange(tx, actorOf(request, person), { what: 'person.joined', ...subjectOf(person) }),
      )
      return { login }
    },
  )
}

/**
 * The person's data for the page, which chooses its navigation by them. The server checks the rights of every request
 * again.
 */
export const presentPerson = (person: Person) => ({
  personId: person.personId,
  kind: person.kind,
  role: person.role,
  companyId: person.companyId,
  partnerId: person.partnerId,
  login: person.login,
  name: person.name,
  language: person.language,
  theme: person.theme,
  hasSecondFactor: person.hasSecondFactor,
  rights: rightsOf(person),
})

export type SignedInPerson = ReturnType<typeof presentPerson>
