import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type StopOutcome, stopMessages } from '../../../domain/stopping/stopping.ts'
import type { Context } from '../../context.ts'
import { Answer, answers } from '../../schemas.ts'

const MOST_UUIDS = 10_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const codes = { stopped: 200, maybe: 202, 'too late': 403, unknown: 404 } as const

const schema = {
  tags: ['Messages'],
  summary: 'Stop messages',
  description:
    'Code 200: it will not go out; 202: a worker has it and looks once more; 403: handed over or at its end; 404: unknown.',
  body: Type.Object({ uuids: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: MOST_UUIDS }) }),
  response: answers(
    200,
    'What became of each, in the order given',
    Answer({
      errors: Type.Boolean(),
      items: Type.Array(Answer({ messageUuid: Type.String(), code: Type.Integer() })),
    }),
  ),
}

export const stopRoutes =
  ({ sql, clock, billingZone }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/message/stop', { schema }, async request => {
      const { uuids } = request.body
      const readable = [...new Set(uuids.filter(uuid => UUID.test(uuid)).map(uuid => uuid.toLowerCase()))]
      const context = { billingZone, now: clock() }
      const outcomes = readable.length > 0 ? await stopMessages(sql, request.caller.companyId, readable, context) : []
      return present(uuids, outcomes)
    })
  }

function present(uuids: string[], outcomes: StopOutcome[]) {
  const byUuid = new Map(outcomes.map(({ uuid, outcome }) => [uuid, outcome]))
  const items = uuids.map(messageUuid => ({
    messageUuid,
    code: codes[byUuid.get(messageUuid.toLowerCase()) ?? 'unknown'],
  }))
  return { errors: items.some(({ code }) => code >= 400), items }
}
