import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import Type from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { Acceptance, Refusal } from '../../domain/messages/single.ts'
import type { Intake } from '../../domain/singles/intake.ts'
import { bodyLimits } from '../body.ts'
import { errorBody, sendError } from '../error-handler.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers } from '../schemas.ts'
import { compileValidator } from '../validation.ts'
import { Message, readWish } from './wish.ts'

const MOST_MESSAGES = 1000
const INVALID = 4000

const Accepted = Answer({
  messageUuid: Type.String({ format: 'uuid' }),
  code: Type.Unsafe<201>({ type: 'integer', const: 201 }),
  externalMessageId: Type.Optional(Type.String()),
})
const Refused = Answer({
  code: Type.Unsafe<400 | 402 | 403>({ type: 'integer', enum: [400, 402, 403] }),
  error: Answer({ code: Type.Integer(), msg: Type.String() }),
  externalMessageId: Type.Optional(Type.String()),
})
export const AcceptanceAnswer = Answer({
  errors: Type.Boolean(),
  items: Type.Array(Type.Unsafe<unknown>({ anyOf: [Accepted, Refused] })),
})

const schema = {
  tags: ['Messages'],
  summary: 'Send messages',
  description:
    'One message, or an array of 1 to 1000. Each is accepted or refused on its own; when all are refused, so is the request.',
  headers: IdempotencyHeader,
  body: Type.Unsafe<unknown>({ anyOf: [Message, Type.Array(Message, { minItems: 1, maxItems: MOST_MESSAGES })] }),
  response: answers(200, 'What became of each, in the order given', AcceptanceAnswer),
}

export const messageRoutes =
  ({ intake }: { intake: Intake }): FastifyPluginAsync =>
  async api => {
    api.post(
      '/message',
      // Each message is looked at on its own: a wrong one does not spoil the others.
      { schema, bodyLimit: bodyLimits.messages, validatorCompiler: validateHeadersAlone },
      async (request, reply) => {
        const forms = listOf(request.body, MOST_MESSAGES)
        const wishes = forms.map(form => readWish(form, request.caller))
        const right = wishes.filter(wish => typeof wish !== 'string')
        const once = onceOf(request)
        const accepted = right.length > 0 ? await intake.accept(request.caller.companyId, right, once) : []
        return answerItems(reply, forms, outcomesOf(wishes, accepted))
      },
    )
  }

export const validateHeadersAlone: typeof compileValidator = options =>
  options.httpPart === 'body'
    ? ((() => true) as unknown as ReturnType<typeof compileValidator>)
    : compileValidator(options)

/** A single object counts as an array of one. */
export function listOf(body: unknown, most: number): unknown[] {
  const list = Array.isArray(body) ? body : [body]
  if (body === null || typeof body !== 'object') throw invalid('body: must be a message or an array of messages')
  if (list.length === 0) throw invalid('body: must not be empty')
  if (list.length > most) throw invalid(`body: must have at most ${most} items`)
  return list
}

export function outcomesOf(wishes: (object | string)[], accepted: Acceptance[]): Acceptance[] {
  const next = accepted.values()
  return wishes.map(wish =>
    typeof wish === 'string' ? { kind: 'refused', why: 'invalid', code: INVALID, reason: wish } : next.next().value!,
  )
}

/** One item a message in the same order; a request of which nothing is left is refused as its first message is. */
export function answerItems(reply: FastifyReply, forms: unknown[], outcomes: Acceptance[]) {
  const refusals = outcomes.filter(outcome => outcome.kind === 'refused')
  if (refusals.length === outcomes.length) {
    const first = refusals[0]!
    return sendError(reply, statusOf(first), first.code, first.reason)
  }
  return { errors: refusals.length > 0, items: outcomes.map((outcome, i) => itemOf(outcome, idIn(forms[i]))) }
}

const statusOf = ({ why }: Refusal) => (why === 'no funds' ? 402 : 400)

function itemOf(outcome: Acceptance, externalMessageId: string | undefined) {
  const echo = externalMessageId === undefined ? {} : { externalMessageId }
  if (outcome.kind === 'accepted') return { messageUuid: outcome.uuid, code: 201, ...echo }
  return { code: statusOf(outcome), ...errorBody(outcome.code, outcome.reason), ...echo }
}

function idIn(form: unknown): string | undefined {
  const id = (form as { externalMessageId?: unknown } | null)?.externalMessageId
  return typeof id === 'string' ? id : undefined
}
