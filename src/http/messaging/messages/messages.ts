import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import { type Acceptance, acceptedIn } from '../../../domain/messages/single.ts'
import type { Intake } from '../../../domain/singles/intake.ts'
import { bodyLimits } from '../../bodies/body.ts'
import { errorBody, sendError } from '../../error-handler.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { Answer, answers } from '../../schemas.ts'
import { compileValidator } from '../../validation.ts'
import { answerOf } from '../refusals.ts'
import { Message, readMessageRequest } from './message-request.ts'

const MOST_MESSAGES = 1000

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
      // Each message is checked separately, so that a wrong message does not affect the others.
      { schema, bodyLimit: bodyLimits.messages, validatorCompiler: validateHeadersAlone },
      async (request, reply) => {
        const forms = listOf(request.body, MOST_MESSAGES)
        const messageRequests = forms.map(form => readMessageRequest(form, request.caller))
        const right = messageRequests.filter(messageRequest => typeof messageRequest !== 'string')
        const once = onceOf(request)
        const accepted = right.length > 0 ? await intake.accept(request.caller.companyId, right, once) : []
        request.span?.began(acceptedIn(accepted))
        return answerItems(reply, forms, outcomesOf(messageRequests, accepted))
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

export function outcomesOf(messageRequests: (object | string)[], accepted: Acceptance[]): Acceptance[] {
  const next = accepted.values()
  return messageRequests.map(messageRequest =>
    typeof messageRequest === 'string'
      ? { kind: 'refused', why: 'invalid', reason: messageRequest }
      : next.next().value!,
  )
}

/** One item for each message, in the same order. If all messages are refused, the request is refused like its first message. */
export function answerItems(reply: FastifyReply, forms: unknown[], outcomes: Acceptance[]) {
  const refusals = outcomes.filter(outcome => outcome.kind === 'refused')
  if (refusals.length === outcomes.length) {
    const { status, code, text } = answerOf(refusals[0]!)
    return sendError(reply, status, code, text)
  }
  return { errors: refusals.length > 0, items: outcomes.map((outcome, i) => itemOf(outcome, idIn(forms[i]))) }
}

function itemOf(outcome: Acceptance, externalMessageId: string | undefined) {
  const echo = externalMessageId === undefined ? {} : { externalMessageId }
  if (outcome.kind === 'accepted') return { messageUuid: outcome.uuid, code: 201, ...echo }
  const { status, code, text } = answerOf(outcome)
  return { code: status, ...errorBody(code, text), ...echo }
}

function idIn(form: unknown): string | undefined {
  const id = (form as { externalMessageId?: unknown } | null)?.externalMessageId
  return typeof id === 'string' ? id : undefined
}
