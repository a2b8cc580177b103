import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { channelTypes } from '../../../base/channel-types.ts'
import {
  acceptedIn,
  type CascadePlan,
  cascadeConditions,
  type MessageRequest,
} from '../../../domain/messages/single.ts'
import type { Intake } from '../../../domain/singles/intake.ts'
import { bodyLimits } from '../../bodies/body.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { answers, OneOf } from '../../schemas.ts'
import { checkerOf } from '../check.ts'
import { ContentSchema } from '../content/content.ts'
import {
  Destination,
  type From,
  Maybe,
  type MessageForm,
  readMessageRequest,
  SenderName,
  scheduleFields,
  Ttl,
  tellingFields,
} from './message-request.ts'
import { AcceptanceAnswer, answerItems, listOf, outcomesOf, validateHeadersAlone } from './messages.ts'

const MOST_CASCADES = 1000
const DEFAULT_TTL_SECONDS = 3600

export const Step = Type.Object({
  channelType: OneOf(channelTypes),
  senderName: SenderName,
  content: ContentSchema,
  condition: Maybe(OneOf(cascadeConditions)),
  ttl: Maybe(Ttl),
})

const Cascade = Type.Object({
  destination: Destination,
  cascade: Type.Array(Step, { minItems: 2, maxItems: 10 }),
  ...scheduleFields,
  ...tellingFields,
})

type CascadeForm = Type.Static<typeof Cascade>

const schema = {
  tags: ['Messages'],
  summary: 'Send messages that go on to another channel',
  description:
    'The next step goes out when the one before it failed, or its `ttl` passed without its condition being met.',
  headers: IdempotencyHeader,
  body: Type.Unsafe<unknown>({ anyOf: [Cascade, Type.Array(Cascade, { minItems: 1, maxItems: MOST_CASCADES })] }),
  response: answers(200, 'What became of each; the id is that of the first step', AcceptanceAnswer),
}

export const cascadeRoutes =
  ({ intake }: { intake: Intake }): FastifyPluginAsync =>
  async api => {
    api.post(
      '/message/cascade',
      { schema, bodyLimit: bodyLimits.messages, validatorCompiler: validateHeadersAlone },
      async (request, reply) => {
        const forms = listOf(request.body, MOST_CASCADES)
        const messageRequests = forms.map(form => readCascade(form, request.caller))
        const right = messageRequests.filter(messageRequest => typeof messageRequest !== 'string')
        const accepted = right.length > 0 ? await intake.accept(request.caller.companyId, right, onceOf(request)) : []
        request.span?.began(acceptedIn(accepted))
        return answerItems(reply, forms, outcomesOf(messageRequests, accepted))
      },
    )
  }

const check = checkerOf(Cascade, '')

/** The message request of the first step with the plan of all steps, or the mistake with its path. */
export function readCascade(value: unknown, caller: From): MessageRequest | string {
  const wrong = check(value)
  if (wrong) return wrong
  const form = value as CascadeForm
  const plan: CascadePlan = []
  for (const [i, step] of form.cascade.entries()) {
    const planned = readStep(form, step, i, caller)
    if (typeof planned === 'string') return `cascade[${i}].${planned}`
    plan.push(planned)
  }
  return { ...plan[0]!.request, cascade: { step: 1, plan } }
}

/** `localSendTime` holds for the first step. Hours, days and the end hold for all steps. */
function readStep({ cascade, ...form }: CascadeForm, step: Type.Static<typeof Step>, index: number, caller: From) {
  const { condition, ttl, ...said } = step
  const isLast = index === cascade.length - 1
  if (isLast && (condition ?? ttl ?? null) !== null) return `${condition ? 'condition' : 'ttl'}: the last step has none`
  const ttlSeconds = isLast ? null : (ttl ?? DEFAULT_TTL_SECONDS)
  const message = { ...form, ...said, ttl: ttlSeconds } satisfies MessageForm
  const messageRequest = readMessageRequest(index === 0 ? message : { ...message, localSendTime: null }, caller)
  if (typeof messageRequest === 'string') return messageRequest
  return { request: messageRequest, condition: condition ?? 'not_delivered', ttlSeconds }
}
