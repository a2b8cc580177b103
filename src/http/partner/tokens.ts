import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { logIn } from '../../domain/partners/log-in.ts'
import { bodyLimits } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import { Answer, answers } from '../schemas.ts'

const Credentials = Type.Object({ login: Type.String({ maxLength: 255 }), password: Type.String({ maxLength: 1024 }) })

const schema = {
  tags: ['Token'],
  summary: 'Get a token',
  description: 'A token lives for 24 hours, or until the password is changed.',
  body: Credentials,
  response: answers(200, 'The token', Answer({ token: Type.String() })),
}

export const tokenRoutes =
  ({ sql, clock }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/auth/token', { schema, bodyLimit: bodyLimits.token }, request =>
      logIn(sql, { ...request.body, address: request.ip }, clock()),
    )
  }
