import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { channelTypes } from '../../../base/channel-types.ts'
import { refusalOfText } from '../../../base/content/channel-text.ts'
import { invalid } from '../../../base/errors.ts'
import { moscowTime } from '../../../base/time/local-time.ts'
import type { Pool } from '../../../db/sql.ts'
import {
  addRecipients,
  createClientDispatch,
  listShownDispatches,
  requireDispatchOf,
  requireShownDispatch,
  type ShownDispatch,
} from '../../../domain/dispatches/client-dispatches.ts'
import {
  type CascadeStep,
  type ClientDispatch,
  clientEvents,
  type DispatchOptions,
  type DispatchStatus,
  MOST_RECIPIENTS,
  MOST_TEMPLATE_CHARACTERS,
  type Recipient,
} from '../../../domain/dispatches/dispatch.ts'
import { endDispatch, startCreatedDispatch } from '../../../domain/dispatches/lifecycle.ts'
import type { RecipientResult as RecipientAnswer } from '../../../domain/dispatches/writing.ts'
import { bodyLimits } from '../../bodies/body.ts'
import type { Context } from '../../context.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { createIngestQueue, type InTurn } from '../../ingest-queue.ts'
import {
  Answer,
  answers,
  ById,
  DateTime,
  ErrorAnswer,
  Id,
  NoBody,
  Nullable,
  OneOf,
  Page,
  PerPage,
} from '../../schemas.ts'
import type { Caller } from '../auth.ts'
import { checkerOf } from '../check.ts'
import { hasPlaceholders, readStepContent } from '../content/step-content.ts'
import { Step } from './cascades.ts'
import { eventsOf, Maybe, onlySet, refusalOf, SenderName, scheduleFields, tellingFields } from './message-request.ts'
import { validateHeadersAlone } from './messages.ts'

/** The highest rate in each term. */
const MOST_BY_TERM = { second: 10_000, minute: 600_000, hour: 36_000_000, day: 864_000_000 } as const
const SECONDS_OF = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const
const rateTerms = ['second', 'minute', 'hour', 'day'] as const
type RateTerm = (typeof rateTerms)[number]

const { tags: Tags, shortUrl, callbackUrl } = tellingFields

export const NewDispatchBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  channelType: Maybe(OneOf(channelTypes, { description: 'Required, unless there is a cascade' })),
  senderName: Maybe(SenderName),
  text: Maybe(
    Type.String({
      minLength: 1,
      maxLength: MOST_TEMPLATE_CHARACTERS,
      description: 'Text with placeholders written as {name}',
    }),
  ),
  cascade: Maybe(
    Type.Array(Step, {
      minItems: 2,
      maxItems: 10,
      description: 'All steps, in place of channelType, senderName and text',
    }),
  ),
  rate: Maybe(Type.Integer({ minimum: 1, description: 'Most parts in each rateTerm' })),
  rateTerm: Maybe(
    Type.Unsafe<RateTerm | number>({
      type: ['string', 'integer'],
      description: 'second, minute, hour or day; a number alone means that many a minute',
    }),
  ),
  ...scheduleFields,
  tags: Tags,
  shortUrl,
  callbackUrl,
  callbackEvents: Maybe(Type.Array(OneOf(clientEvents))),
})

type Form = Type.Static<typeof NewDispatchBody>

const MOST_SUBSTITUTIONS = 100

const RecipientForm = Type.Object({
  destination: Type.String({ description: 'Phone number in digits with country code' }),
  substitutions: Maybe(
    Type.Unsafe<NonNullable<Recipient['substitutions']>>({
      type: 'object',
      maxProperties: MOST_SUBSTITUTIONS,
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    }),
  ),
})
const RecipientForms = Type.Array(RecipientForm, { minItems: 1, maxItems: MOST_RECIPIENTS })
type RecipientForm = Type.Static<typeof RecipientForm>

const checkRecipients = checkerOf(RecipientForms, '')

const statuses = { created: 'CREATED', sending: 'STARTED', stopped: 'STOPPED', completed: 'COMPLETED' } as const
const statusWords = ['created', 'sending', 'stopped', 'completed'] as const
const wordOf = (status: DispatchStatus) => statusWords.find(word => statuses[word] === status)!

const Counts = Answer({
  total: Type.Integer(),
  delivered: Type.Integer(),
  undelivered: Type.Integer({ description: 'Failed after sending' }),
  unsent: Type.Integer({ description: 'Failed before sending' }),
  sent: Type.Integer(),
  sending: Type.Integer({ description: 'Waiting' }),
})

const DispatchAnswer = Answer({
  dispatchId: Id,
  dispatchName: Type.String(),
  created: DateTime,
  localSendTime: Nullable(Type.String()),
  localCompletionTime: Nullable(Type.String()),
  useLocalTime: Type.Boolean(),
  status: OneOf(statusWords),
  source: OneOf(['API', 'PARTNER'], { description: 'Which API it was made with' }),
  message: Type.String({ description: 'The text; of a cascade, that of the first step' }),
  trafficCenterId: Nullable(Id),
  trafficCenterName: Nullable(Type.String()),
  base: Type.Integer({ description: 'Recipients submitted, accepted or not' }),
  parts: Counts,
  messages: Counts,
})

const Created = Answer({ dispatchId: Id })

const tags = ['Dispatches']

const schemas = {
  create: {
    tags,
    summary: 'Create a dispatch',
    description: 'The new dispatch has no recipients. Add recipients next, then start it.',
    headers: IdempotencyHeader,
    body: NewDispatchBody,
    response: answers(200, 'The dispatch', Created),
  },
  append: {
    tags,
    summary: 'Add recipients to a dispatch that has not been started',
    description: `One recipient, or an array of 1 to ${MOST_RECIPIENTS}. A wrong recipient does not affect the others.`,
    params: ById,
    headers: IdempotencyHeader,
    body: Type.Unsafe<unknown>({ anyOf: [RecipientForm, RecipientForms] }),
    response: answers(
      200,
      'What became of each, in the order given',
      Type.Array(
        Type.Unsafe<unknown>({
          anyOf: [
            Answer({ destination: Type.String(), messageUuid: Type.String({ format: 'uuid' }) }),
            Answer({ destination: Type.String(), errorCode: Type.Integer() }),
          ],
        }),
      ),
    ),
  },
  start: {
    tags,
    summary: 'Start a dispatch',
    description:
      'Works once. The highest price of all messages is reserved. Without enough money the dispatch does not start.',
    params: ById,
    body: NoBody,
    response: answers(200, 'The dispatch', Created),
  },
  stop: {
    tags,
    summary: 'Stop a dispatch for good',
    description: 'Messages that were not sent to an operator yet become unsent.',
    params: ById,
    body: NoBody,
    response: { 200: { type: 'null', description: 'Stopped; there is no body' }, default: ErrorAnswer },
  },
  list: {
    tags,
    summary: 'List dispatches, newest first',
    querystring: Type.Object({ status: Type.Optional(OneOf(statusWords)), page: Page, per_page: PerPage(10) }),
    response: answers(
      200,
      'A page of dispatches',
      Answer({ total: Type.Integer(), items: Type.Array(DispatchAnswer) }),
    ),
  },
  get: {
    tags,
    summary: 'Read a dispatch',
    params: ById,
    response: answers(200, 'The dispatch and how far it has come', DispatchAnswer),
  },
}

export const dispatchRoutes =
  ({ sql, clock, numbering, billingZone, publicUrl }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    const inTurn = queueOf(sql)
    const linkBase = `${publicUrl}/s`

    api.post('/dispatch', { schema: schemas.create }, async request =>
      createClientDispatch(sql, request.caller.companyId, {
        dispatch: dispatchOf(request.body, request.caller),
        once: onceOf(request),
        now: clock(),
      }),
    )

    api.post(
      '/dispatch/:id/messages',
      // A single object counts as an array of one, so its form is checked below.
      { schema: schemas.append, bodyLimit: bodyLimits.recipients, validatorCompiler: validateHeadersAlone },
      (request, reply) =>
        inTurn(reply, async () => {
          const home = await requireDispatchOf(sql, request.caller.companyId, request.params.id)
          const recipients = recipientsOf(request.body)
          const wanted = { recipients, linkBase, once: onceOf(request) }
          return (await addRecipients(sql, numbering(), home, wanted)).map(presentAnswer)
        }),
    )

    api.post('/dispatch/:id/start', { schema: schemas.start }, async request => {
      const { companyId, dispatchId } = await requireDispatchOf(sql, request.caller.companyId, request.params.id)
      await startCreatedDispatch(sql, { companyId, dispatchId }, { billingZone, now: clock() })
      return { dispatchId }
    })

    api.post('/dispatch/:id/stop', { schema: schemas.stop }, async (request, reply) => {
      const home = await requireDispatchOf(sql, request.caller.companyId, request.params.id)
      await endDispatch(sql, home, { billingZone, now: clock() })
      return reply.code(200).send()
    })

    api.get('/dispatch', { schema: schemas.list }, async request => {
      const { status, page, per_page: perPage } = request.query
      const { companyId } = request.caller
      const wanted = status && statuses[status]
      const { total, items } = await listShownDispatches(sql, companyId, wanted, { page, perPage })
      return { total, items: items.map(presentDispatch) }
    })

    api.get('/dispatch/:id', { schema: schemas.get }, async request =>
      presentDispatch(await requireShownDispatch(sql, request.caller.companyId, request.params.id)),
    )
  }

/** One queue for all prefixes of the API. */
const queues = new WeakMap<Pool, InTurn>()

function queueOf(sql: Pool): InTurn {
  const queue = queues.get(sql) ?? createIngestQueue(sql.options.max)
  queues.set(sql, queue)
  return queue
}

function recipientsOf(body: unknown): Recipient[] {
  if (body === null || typeof body !== 'object') throw invalid('body: must be a recipient or an array of recipients')
  const forms = Array.isArray(body) ? body : [body]
  if (forms.length === 0) throw invalid('body: must not be empty')
  if (forms.length > MOST_RECIPIENTS) throw invalid(`body: must have at most ${MOST_RECIPIENTS} items`)
  const wrong = checkRecipients(forms)
  if (wrong) throw invalid(wrong)
  return forms.map(({ destination, substitutions }: RecipientForm) =>
    substitutions ? { destination, substitutions } : { destination },
  )
}

const presentAnswer = ({ destination, uuid, errorCode }: RecipientAnswer) =>
  errorCode === null ? { destination, messageUuid: uuid } : { destination, errorCode }

// A dispatch as a client writes it ---------------------------------------------------------------------------------

export function dispatchOf(form: Form, { trafficCenterId }: Pick<Caller, 'trafficCenterId'>): ClientDispatch {
  const cascade = form.cascade ? form.cascade.map(stepOf) : null
  return {
    ...(cascade ? firstOf(form, cascade) : plainOf(form)),
    name: form.name,
    centerId: trafficCenterId,
    partsPerSecond: partsPerSecondOf(form),
    options: optionsOf(form),
    callbackUrl: form.callbackUrl ?? null,
    callbackEvents: form.callbackUrl ? eventsOf(form.callbackEvents) : null,
    cascade,
  }
}

function plainOf({ channelType, senderName, text }: Form) {
  if (!channelType) throw invalid('channelType: is required')
  if (!senderName) throw invalid('senderName: is required')
  if (!text) throw invalid('text: is required')
  const wrong = refusalOf({ channelType, senderName })
  if (wrong) throw invalid(wrong)
  const unfit = hasPlaceholders(text) ? undefined : refusalOfText(channelType, text)
  if (unfit) throw invalid(`text: ${unfit}`)
  return { channelType, senderName, text }
}

function firstOf(form: Form, [first]: CascadeStep[]) {
  for (const field of ['channelType', 'senderName', 'text'] as const) {
    if (form[field]) throw invalid(`${field}: must not stand beside a cascade`)
  }
  const { channelType, senderName, text } = first!
  return { channelType, senderName, text }
}

const USUAL_STEP_TTL = 3600

/** The last step has no condition and no ttl. */
function stepOf(step: Type.Static<typeof Step>, index: number, { length }: unknown[]): CascadeStep {
  const refuse = (reason: string) => invalid(`cascade[${index}].${reason}`)
  const { channelType, senderName } = step
  const isLast = index === length - 1
  if (isLast && step.condition) throw refuse('condition: the last step has none')
  if (isLast && step.ttl) throw refuse('ttl: the last step has none')
  const wrong = refusalOf(step)
  if (wrong) throw refuse(wrong)
  const said = readStepContent(channelType, step.content)
  if (typeof said === 'string') throw refuse(said)
  const wait = isLast
    ? { condition: null, ttl: null }
    : { condition: step.condition ?? ('not_delivered' as const), ttl: step.ttl ?? USUAL_STEP_TTL }
  return { channelType, senderName, ...said, ...wait }
}

/** `rate` parts in each `rateTerm`. A number in `rateTerm` means that many parts a minute. */
function partsPerSecondOf({ rate, rateTerm }: Form): number | null {
  if (typeof rateTerm === 'number') {
    if (typeof rate === 'number') throw invalid('rate: must not stand beside a number in rateTerm')
    return perSecond('rateTerm', rateTerm, 'minute')
  }
  if (!isTerm(rateTerm)) throw invalid(`rateTerm: must be one of ${rateTerms.join(', ')}`)
  if (typeof rate !== 'number') {
    if (rateTerm) throw invalid('rate: is required with rateTerm')
    return null
  }
  if (!rateTerm) throw invalid('rateTerm: is required with rate')
  return perSecond('rate', rate, rateTerm)
}

const isTerm = (term: string | null | undefined): term is RateTerm | null | undefined =>
  term === null || term === undefined || (rateTerms as readonly string[]).includes(term)

function perSecond(field: string, rate: number, term: RateTerm): number {
  if (rate < 1 || rate > MOST_BY_TERM[term]) throw invalid(`${field}: must be 1 to ${MOST_BY_TERM[term]} a ${term}`)
  return rate / SECONDS_OF[term]
}

/** The options of the client. Options that the client did not give are left out. */
function optionsOf(form: Form): DispatchOptions {
  const { hours, days, localSendTime, localCompletionTime, rate, rateTerm } = form
  const given = onlySet({ tags: form.tags, hours, days, localSendTime, localCompletionTime, rate, rateTerm })
  return { ...given, useLocalTime: form.useLocalTime ?? true, shortUrl: form.shortUrl ?? false }
}

/** A dispatch of the partner API shows its start in the time zone of Moscow, as `useLocalTime: false` means. */
const presentDispatch = (dispatch: ShownDispatch) => ({
  dispatchId: dispatch.dispatchId,
  dispatchName: dispatch.name,
  created: dispatch.createdAt.toISOString(),
  localSendTime: dispatch.options?.localSendTime ?? (dispatch.startAt ? moscowTime(dispatch.startAt) : null),
  localCompletionTime: dispatch.options?.localCompletionTime ?? null,
  useLocalTime: dispatch.options?.useLocalTime ?? false,
  status: wordOf(dispatch.status),
  source: dispatch.api === 'messaging' ? ('API' as const) : ('PARTNER' as const),
  message: dispatch.text,
  trafficCenterId: dispatch.centerId,
  trafficCenterName: dispatch.centerName,
  base: dispatch.messageCount,
  parts: dispatch.parts,
  messages: dispatch.messages,
})
