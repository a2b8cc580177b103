import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../base/errors.ts'
import type { Pool } from '../../../db/sql.ts'
import { acceptedIn, type Refusal } from '../../../domain/messages/single.ts'
import { type SendContext, sendCode } from '../../../domain/verification/sends.ts'
import type { CodeChecker } from '../../../domain/verifications/checker.ts'
import { verifierChannels } from '../../../domain/verifiers/verifier.ts'
import { verifierFinder } from '../../../domain/verifiers/verifiers.ts'
import { sendError } from '../../error-handler.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { Answer, answers, OneOf } from '../../schemas.ts'
import { Destination, eventsOf, Maybe, tellingFields } from '../messages/message-request.ts'
import { answerOf } from '../refusals.ts'

const MOST_GUESS_CHARACTERS = 20

const CodeToSend = Type.Object({
  channelType: OneOf(verifierChannels),
  destination: Destination,
  gatewayId: Type.String({ minLength: 1, maxLength: 64 }),
  substitutions: Maybe(
    Type.Record(
      Type.String(),
      Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] }),
    ),
  ),
  clientIp: Maybe(Type.String({ format: 'ip' })),
  lang: Maybe(Type.String({ minLength: 2, maxLength: 10 })),
  externalMessageId: tellingFields.externalMessageId,
  callbackUrl: tellingFields.callbackUrl,
  callbackEvents: tellingFields.callbackEvents,
})

const Guess = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 64 }),
  code: Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    maxLength: MOST_GUESS_CHARACTERS,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
})

const sendSchema = {
  tags: ['Verification'],
  summary: 'Send a code',
  headers: IdempotencyHeader,
  body: CodeToSend,
  response: answers(200, 'The code is on its way', Answer({ uuid: Type.String({ format: 'uuid' }) })),
}

const checkSchema = {
  tags: ['Verification'],
  summary: 'Check a code',
  body: Guess,
  response: answers(
    200,
    'What the code is worth',
    Answer({ status: OneOf(['CONFIRMED', 'WRONG_CODE', 'EXPIRED', 'NOT_FOUND']) }),
  ),
}

export const verifierRoutes =
  (context: SendContext & { sql: Pool; checker: CodeChecker }): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, checker } = context
    const requireVerifier = verifierFinder(sql)

    api.post('/verifier/send', { schema: sendSchema }, async (request, reply) => {
      const { companyId, keyId } = request.caller
      const { body } = request
      const verifier = await requireVerifier(companyId, 'API', body.gatewayId)
      const code = {
        channelType: body.channelType,
        destination: body.destination,
        method: 'VERIFIER_API' as const,
        keyId,
        language: body.lang ?? undefined,
        substitutions: body.substitutions ?? undefined,
        clientAddress: body.clientIp ?? undefined,
        externalId: body.externalMessageId ?? undefined,
        callbackUrl: body.callbackUrl ?? undefined,
        callbackEvents: body.callbackEvents ? eventsOf(body.callbackEvents) : undefined,
      }
      const outcome = await sendCode(context, verifier, code, onceOf(request))
      request.span?.began(acceptedIn([outcome]))
      return outcome.kind === 'accepted' ? { uuid: outcome.uuid } : answerRefusal(reply, outcome)
    })

    api.post('/verifier/check', { schema: checkSchema }, async ({ body, caller }) => {
      const { status } = await checker.check(caller.companyId, body.uuid, String(body.code))
      return { status }
    })
  }

/** A refused code gets the same answer as a refused message. */
export function answerRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  if (refusal.why === 'too many')
    throw new AppError('too_many_requests', refusal.reason, { retryAfterSeconds: refusal.retryAfterSeconds })
  const { status, code, text } = answerOf(refusal)
  return sendError(reply, status, code, text)
}
