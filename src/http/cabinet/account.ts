import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../../base/errors.ts'
import { changeOwnPassword, changePreferences } from '../../domain/people/people.ts'
import { type Language, languages, themes } from '../../domain/people/person.ts'
import { endSession, endSessions, sessionsOf } from '../../domain/people/sessions.ts'
import { OneOf } from '../schemas.ts'
import type { CabinetContext } from './cabinet-context.ts'

const Password = Type.String({ minLength: 1, maxLength: 1024 })
const Code = Type.String({ minLength: 6, maxLength: 20 })

const NewPassword = Type.Object({ before: Password, password: Password })
const NewSecondFactor = Type.Object({ secret: Type.String({ maxLength: 64 }), code: Code })

const Preferences = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  language: Type.Optional(Type.Unsafe<Language | null>({ type: ['string', 'null'], enum: [...languages, null] })),
  theme: Type.Optional(OneOf(themes)),
})

/** What the page asks and gets; it imports these types. */
export type Preferences = Type.Static<typeof Preferences>
export type NewPassword = Type.Static<typeof NewPassword>
export type NewSecondFactor = Type.Static<typeof NewSecondFactor>
export type ListedSession = {
  id: string
  /** The session that asks. */
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

/** What every person may do with the own account. */
export const accountRoutes =
  ({ sql, clock, secondFactors }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const config = { needs: 'signed in' } as const

    api.patch('/account', { config, schema: { body: Preferences } }, async ({ viewer, body }, reply) => {
      await changePreferences(sql, viewer, body)
      return reply.code(204).send()
    })

    api.put('/account/password', { config, schema: { body: NewPassword } }, async ({ viewer, body }, reply) => {
      await changeOwnPassword(sql, viewer, body.before, body.password)
      return reply.code(204).send()
    })

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
      async ({ viewer, params }, reply) => {
        if (!(await endSession(sql, viewer.personId, Buffer.from(params.id, 'base64url')))) throw notFound('Session')
        return reply.code(204).send()
      },
    )

    /** All but this one. */
    api.delete(
      '/account/sessions',
      { config },
      async ({ viewer }): Promise<EndedAnswer> => ({
        ended: await endSessions(sql, viewer.personId, viewer.sessionHash),
      }),
    )

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
      async ({ viewer, body }): Promise<RecoveryCodesAnswer> => ({
        recoveryCodes: await secondFactors.switchOn(viewer, body.secret, body.code, clock()),
      }),
    )

    api.post(
      '/account/second-factor/recovery-codes',
      { config, schema: { body: Type.Object({ code: Code }) } },
      async ({ viewer, body }): Promise<RecoveryCodesAnswer> => ({
        recoveryCodes: await secondFactors.renewRecoveryCodes(viewer, body.code, clock()),
      }),
    )

    api.delete(
      '/account/second-factor',
      { config, schema: { body: Type.Object({ code: Code }) } },
      async ({ viewer, body }, reply) => {
        await secondFactors.switchOff(viewer, body.code, clock())
        return reply.code(204).send()
      },
    )
  }
