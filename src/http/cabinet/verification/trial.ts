import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError, invalid } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { may } from '../../../domain/people/rights.ts'
import { Intake } from '../../../domain/singles/intake.ts'
import { codeLengthOf, sendCode } from '../../../domain/verification/sends.ts'
import { CodeChecker } from '../../../domain/verifications/checker.ts'
import { CodeBox } from '../../../domain/verifications/code-box.ts'
import type { CheckStatus } from '../../../domain/verifications/verification.ts'
import { verifierChannels } from '../../../domain/verifiers/verifier.ts'
import { refusalText } from '../../messaging/refusals.ts'
import { OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { ById, verifierFor } from './find-verifier.ts'

const Try = Type.Object({
  channelType: OneOf(verifierChannels),
  destination: Type.String({ minLength: 1, maxLength: 64 }),
  language: Type.Optional(Type.String({ minLength: 2, maxLength: 10 })),
})
const Guess = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 64 }),
  code: Type.String({ minLength: 1, maxLength: 20 }),
})

export type TryForm = Type.Static<typeof Try>
export type TryAnswer = { uuid: string; codeLength: number }
export type GuessAnswer = { status: CheckStatus; triesLeft: number }

const change = { needs: 'settings.change' } as const

/** Sends a code to the person's own phone, and checks the typed code. */
export const trialRoutes =
  ({ sql, clock, secret, numbering, billingZone, publicUrl }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const codes = new CodeBox(secret)
    const checker = new CodeChecker(sql, codes)
    const intake = new Intake({ sql, clock, numbering, billingZone, linkBase: `${publicUrl}/s` })

    /** Sends a real code, at its normal price. */
    api.post(
      '/verification/:kind/:id/try',
      { config: change, schema: { params: ById, body: Try } },
      async ({ viewer, actor, params, body }): Promise<TryAnswer> => {
        refuseWhoMayNotSend(viewer)
        const verifier = await verifierFor(sql, viewer, params)
        const { companyId, settings } = verifier
        const request = { ...body, destination: digitsOf(body.destination), method: 'VERIFIER_API' as const }
        const outcome = await sendCode({ codes, intake, numbering }, verifier, request)
        if (outcome.kind === 'refused') {
          if (outcome.why === 'too many')
            throw new AppError('too_many_requests', outcome.reason, { retryAfterSeconds: outcome.retryAfterSeconds })
          throw invalid(refusalText(outcome))
        }
        const subject = { kind: 'message', id: outcome.uuid }
        const after = { verifier: verifier.verifierId }
        await sql.begin(tx => recordChange(tx, actor, { what: 'message.sent', companyId, subject, after }))
        return { uuid: outcome.uuid, codeLength: codeLengthOf(settings, body.channelType) }
      },
    )

    api.post(
      '/verification/:kind/:id/try/check',
      { config: change, schema: { params: ById, body: Guess } },
      async ({ viewer, params, body }): Promise<GuessAnswer> => {
        refuseWhoMayNotSend(viewer)
        const { companyId } = await verifierFor(sql, viewer, params)
        const { status, triesLeft } = await checker.check(companyId, body.uuid, body.code.replaceAll(/\s/g, ''))
        return { status, triesLeft }
      },
    )
  }

function refuseWhoMayNotSend(viewer: Viewer) {
  if (!may(viewer, 'traffic.send')) throw new AppError('access_denied', 'Your role does not allow it')
}

const digitsOf = (number: string) => number.replaceAll(/[\s()+-]/g, '')
