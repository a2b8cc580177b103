import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { FlashcallResult } from '../../../domain/flashcalls/flashcall.ts'
import { reportFlashcall } from '../../../domain/flashcalls/flashcalls.ts'
import { once } from '../../../domain/idempotency/idempotency.ts'
import type { Context } from '../../context.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { Answer, answers, OneOf } from '../../schemas.ts'
import { Maybe } from './message-request.ts'

/** The results that clients may report. One is misspelt since the beginning, and many clients use it. */
const results = {
  NUMBER_VERIFIED: 'NUMBER_VERIFIED',
  NUMBER_VERIFIERD: 'NUMBER_VERIFIED',
  WRONG_CODE: 'WRONG_CODE',
} as const satisfies Record<string, FlashcallResult>

const MOST_CODE_CHARACTERS = 20

const Conversion = Type.Object({
  messageUuid: Type.String({ format: 'uuid' }),
  result: OneOf(Object.keys(results) as (keyof typeof results)[]),
  code: Maybe(
    Type.Unsafe<string | number>({
      type: ['string', 'integer'],
      maxLength: MOST_CODE_CHARACTERS,
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The code that the subscriber typed',
    }),
  ),
})

const schema = {
  tags: ['Flash calls'],
  summary: 'Report the result of a flash call',
  description:
    'Whether the subscriber typed the code of the call. Kept once a message: a repeat changes nothing, except that ' +
    '`NUMBER_VERIFIED` replaces an earlier `WRONG_CODE`. `NUMBER_VERIFIERD` means the same as `NUMBER_VERIFIED`.',
  headers: IdempotencyHeader,
  body: Conversion,
  response: answers(200, 'It is kept', Answer({})),
}

export const flashcallRoutes =
  ({ sql, clock }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/flashcall-conversion', { schema }, request => {
      const { messageUuid: uuid, result, code } = request.body
      const report = { uuid, result: results[result], code: code?.toString() }
      return once(sql, onceOf(request), async tx => {
        await reportFlashcall(tx, request.caller.companyId, report, clock())
        return {}
      })
    })
  }
