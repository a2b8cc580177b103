import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../../../base/errors.ts'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, Change } from '../../../domain/audit-log/entry.ts'
import { changeOwnPassword, changePreferences } from '../../../domain/people/people.ts'
import { type Language, languages, type Person, themes } from '../../../domain/people/person.ts'
import { endSession, endSessions, sessionsOf } from '../../../domain/people/sessions.ts'
import { OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'

const Password = Type.String({ minLength: 1, maxLength: 1024 })
const Code = Type.String({ minLength: 6, maxLength: 20 })

const NewPassword = Type.Object({ before: Password, password: Password })
const NewSecondFactor = Type.Object({ secret: Type.String({ maxLength: 64 }), code: Code, password: Password })

const Preferences = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  language: Type.Optional(Type.Unsafe<Language | null>({ type: ['string', 'null'], enum: [...languages, null] })),
  theme: Type.Optional(OneOf(themes)),
})

/** Types of requests and answers, which the page imports. */
export type Preferences = Type.Static<typeof Preferences>
export type NewPassword = Type.Static<typeof NewPassword>
export type NewSecondFactor = Type.Static<typeof NewSecondFactor>
export type ListedSession = {
  id: string
  /** True for the session of this request. */
  isThis: boolean
  address: string
  agent: string
  createdAt: Date
  usedAt: Date
}
export type SessionsAnswer = { sessions: ListedSession[] }
export type EndedAnswer = { ended: number }
export type SecondFactorAnswer = { isOn: boolean; recoveryCodesLeft: number }
export type ProposalAnswer = { secret: string; address: string }
export type RecoveryCodesAnswer = { recoveryCodes: string[] }

const config = { needs: 'signed in' } as const

/** Routes for the person's own account. */
export const accountRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    profileRoutes(api, context)
    sessionListRoutes(api, context)
    secondFactorRoutes(api, context)
  }

/** Preferences and the password. */
function profileRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  api.patch('/account', { config, schema: { body: Preferences } }, async ({ viewer, actor, body }, reply) => {
    const { name, language, theme } = viewer
    const before = { name, language, theme }
    const after = {
      name: body.name ?? name,
      language: body.language === undefined ? language : body.language,
      theme: body.theme ?? theme,
    }
    await sql.begin(async tx => {
      await changePreferences(tx, viewer, body)
      await recordOwn(tx, actor, viewer, { what: 'account.changed', before, after })
    })
    return reply.code(204).send()
  })

  api.put('/account/password', { config, schema: { body: NewPassword } }, async (request, reply) => {
    const { viewer, actor, body, ip } = request
    await changeOwnPassword(sql, viewer, { ...body, address: ip }, clock(), tx =>
      recordOwn(tx, actor, viewer, { what: 'account.password_changed' }),
    )
    return reply.code(204).send()
  })
}

/** The sessions of the person. */
function sessionListRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  api.get('/account/sessions', { config }, async ({ viewer }): Promise<SessionsAnswer> => {
    const sessions = await sessionsOf(sql, viewer.personId, clock())
    return {
      sessions: sessions.map(({ sessionHash, ...session }) => ({
        id: sessionHash.toString('base64url'),
        isThis: sessionHash.equals(viewer.sessionHash),
        ...session,
      })),
    }
  })

  api.delete(
    '/account/sessions/:id',
    { config, schema: { params: Type.Object({ id: Type.String({ maxLength: 100 }) }) } },
    async ({ viewer, actor, params }, reply) => {
      await sql.begin(async tx => {
        if (!(await endSession(tx, viewer.personId, Buffer.from(params.id, 'base64url')))) throw notFound('Session')
        await recordOwn(tx, actor, viewer, { what: 'session.ended' })
      })
      return reply.code(204).send()
    },
  )

  /** Ends all other sessions of the person. */
  api.delete(
    '/account/sessions',
    { config },
    async ({ viewer, actor }): Promise<EndedAnswer> =>
      sql.begin(async tx => {
        const ended = await endSessions(tx, viewer.personId, viewer.sessionHash)
        await recordOwn(tx, actor, viewer, { what: 'sessions.ended', after: { ended } })
        return { ended }
      }),
  )
}

/** The second factor. */
function secondFactorRoutes(api: CabinetApi, { clock, secondFactors }: CabinetContext) {
  api.get(
    '/account/second-factor',
    { config },
    async ({ viewer }): Promise<SecondFactorAnswer> => ({
      isOn: viewer.hasSecondFactor,
      recoveryCodesLeft: await secondFactors.recoveryCodesLeft(viewer),
    }),
  )

  api.post(
    '/account/second-factor/proposal',
    { config },
    async ({ viewer }): Promise<ProposalAnswer> => secondFactors.propose(viewer),
  )

  api.post(
    '/account/second-factor',
    { config, schema: { body: NewSecondFactor } },
    async ({ viewer, actor, body, ip }): Promise<RecoveryCodesAnswer> => {
      const given = { ...body, address: ip }
      const recoveryCodes = await secondFactors.switchOn(viewer, given, clock(), tx =>
        recordOwn(tx, actor, viewer, { what: 'account.second_factor_on' }),
      )
      return { recoveryCodes }
    },
  )

  api.post(
    '/account/second-factor/recovery-codes',
    { config, schema: { body: Type.Object({ code: Code }) } },
    async ({ viewer, actor, body, ip }): Promise<RecoveryCodesAnswer> => {
      const given = { ...body, address: ip }
      const recoveryCodes = await secondFactors.renewRecoveryCodes(viewer, given, clock(), tx =>
        recordOwn(tx, actor, viewer, { what: 'account.recovery_codes_renewed' }),
      )
      return { recoveryCodes }
    },
  )

  api.delete(
    '/account/second-factor',
    { config, schema: { body: Type.Object({ code: Code }) } },
    async ({ viewer, actor, body, ip }, reply) => {
      await secondFactors.switchOff(viewer, { ...body, address: ip }, clock(), tx =>
        recordOwn(tx, actor, viewer, { what: 'account.second_factor_off' }),
      )
      return reply.code(204).send()
    },
  )
}

/** The audit entry of a change of the person's own account. */
const recordOwn = (sql: Transaction, actor: Actor, person: Person, change: Pick<Change, 'what' | 'before' | 'after'>) =>
  recordChange(sql, actor, { ...change, ...subjectOf(person) })

/** The person as the subject of an audit entry, with the company or partner. */
export const subjectOf = ({ personId, login, companyId, partnerId }: Person) => ({
  subject: { kind: 'person', id: personId, name: login },
  companyId,
  partnerId,
})
