import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { errorDescriptions } from '../../base/error-codes.ts'
import type { Context } from '../context.ts'
import { Answer, answers } from '../schemas.ts'

const schema = {
  tags: ['References'],
  summary: 'List the error codes of messages',
  description: 'Every code that `errorCode` of a message, or `error_code` of a callback, can have.',
  response: answers(
    200,
    'The codes, smallest first',
    Type.Array(Answer({ code: Type.Integer(), description: Type.String() })),
  ),
}

const codes = Object.entries(errorDescriptions)
  .map(([code, description]) => ({ code: Number(code), description }))
  .sort((a, b) => a.code - b.code)

export const referenceRoutes =
  (_: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.get('/references/error-codes', { schema }, async () => codes)
  }
