import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { channelTypes } from '../../base/channel-types.ts'
import { money, moneyToNumber } from '../../base/money.ts'
import { readTimestamp } from '../../base/time/timestamp.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import type { AcceptanceSummary } from '../../domain/dispatches/acceptance-summary.ts'
import { createDispatch } from '../../domain/dispatches/creating.ts'
import {
  callbackEvents,
  type Dispatch,
  dispatchStatuses,
  MOST_RECIPIENTS,
  MOST_TEMPLATE_CHARACTERS,
  type NewDispatch,
  type Progress,
  type Recipient,
  type Schedule,
} from '../../domain/dispatches/dispatch.ts'
import { dryRunDispatch } from '../../domain/dispatches/dry-run.ts'
import { startDispatch, stopDispatch } from '../../domain/dispatches/lifecycle.ts'
import { listDispatches, requireDispatchProgress } from '../../domain/dispatches/reading.ts'
import { addMessages } from '../../domain/dispatches/writing.ts'
import { bodyLimits } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { createIngestQueue } from '../ingest-queue.ts'
import {
  Answer,
  answers,
  ById,
  DateTime,
  Defaulted,
  Id,
  NoBody,
  Nullable,
  OneOf,
  Page,
  PageOf,
  PerPage,
} from '../schemas.ts'

const MOST_SUBSTITUTIONS = 100

const Recipients = Type.Unsafe<Recipient[]>(
  Type.Array(
    Type.Object({
      destination: Type.String({ description: 'Phone number in digits with country code' }),
      substitutions: Type.Optional(
        Type.Unsafe({
          type: 'object',
          maxProperties: MOST_SUBSTITUTIONS,
          additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        }),
      ),
      customText: Type.Optional(
        Nullable(Type.String({ description: 'Full text; overrides the text of the dispatch' })),
      ),
    }),
    { minItems: 1, maxItems: MOST_RECIPIENTS },
  ),
)

/** Integers of a range without repetition. */
const Distinct = (minimum: number, maximum: number) =>
  Type.Array(Type.Integer({ minimum, maximum }), { minItems: 1, uniqueItems: true })

const NewDispatchBody = Type.Object({
  companyId: Id,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  senderIds: Type.Array(Id, { minItems: 1, maxItems: 100 }),
  channelType: OneOf(channelTypes),
  text: Type.String({ maxLength: MOST_TEMPLATE_CHARACTERS, description: 'Text with placeholders written as {name}' }),
  messages: Recipients,
  schedule: Type.Optional(
    Type.Object(
      { startAt: DateTime, hours: Distinct(0, 23), days: Distinct(1, 7) },
      {
        description: 'Hours and weekdays (1 Monday to 7 Sunday) are read in the offset of startAt',
      },
    ),
  ),
  callbackUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 2048 })),
  callbackEvents: Type.Optional(Type.Array(OneOf(callbackEvents), { minItems: 1, uniqueItems: true })),
})

const CreationAnswer = Answer({
  id: Type.Integer(),
  status: OneOf(dispatchStatuses),
  priceEstimate: Answer({ total: Type.Number(), currency: Type.String(), parts: Type.Integer() }),
  total: Type.Integer(),
  success: Type.Integer(),
  failed: Type.Integer(),
  messages: Type.Array(
    Answer({
      destination: Type.String(),
      messageUuid: Type.String({ format: 'uuid' }),
      parts: Type.Integer(),
      // Null in a dispatch of the messaging API under a name without registration.
      senderId: Nullable(Id),
    }),
  ),
})

const Counts = Answer({
  total: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  pending: Type.Integer(),
})

const DispatchAnswer = Answer({
  id: Id,
  name: Type.String(),
  status: OneOf(dispatchStatuses),
  channelType: OneOf(channelTypes),
  parts: Counts,
  messages: Counts,
  priceEstimate: Type.Number(),
  createdAt: DateTime,
  startedAt: Nullable(DateTime),
})

const tags = ['Dispatches']
const DryRun = Type.Object({
  dryRun: Defaulted(Type.Boolean({ default: false, description: 'Answer as usual, but store nothing' })),
})
const ListQuery = Type.Object({
  companyId: Id,
  status: Type.Optional(OneOf(dispatchStatuses)),
  page: Page,
  perPage: PerPage(10),
})
const Moved = Answer({ id: Id, status: OneOf(dispatchStatuses) })

const moved = answers(200, 'The dispatch and its status now', Moved)

const schemas = {
  create: {
    tags,
    summary: 'Create a dispatch',
    headers: IdempotencyHeader,
    querystring: DryRun,
    body: NewDispatchBody,
    response: answers(200, 'The accepted messages and their highest price', CreationAnswer),
  },
  append: {
    tags,
    summary: 'Add messages to a dispatch that is not started',
    headers: IdempotencyHeader,
    params: ById,
    body: Type.Object({ messages: Recipients }),
    response: answers(200, 'The accepted messages of this request and their highest price', CreationAnswer),
  },
  start: { tags, summary: 'Start or resume', params: ById, body: NoBody, response: moved },
  stop: {
    tags,
    summary: 'Stop sending; unsent messages wait for the next start',
    params: ById,
    body: NoBody,
    response: moved,
  },
  list: {
    tags,
    summary: 'List dispatches, newest first',
    querystring: ListQuery,
    response: answers(200, 'A page of dispatches', PageOf(DispatchAnswer)),
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
    const inTurn = createIngestQueue(sql.options.max)
    const bodyLimit = bodyLimits.recipients

    api.post('/', { schema: schemas.create, bodyLimit }, (request, reply) =>
      inTurn(reply, async () => {
        const { companyId, messages, schedule, ...dispatch } = request.body
        const wanted = {
          partner: request.partner,
          companyId,
          recipients: messages,
          dispatch: { ...dispatch, schedule: schedule && scheduleOf(schedule) } as NewDispatch,
          once: onceOf(request),
        }
        const create = request.query.dryRun ? dryRunDispatch : createDispatch
        return presentAcceptance(await create(sql, numbering(), wanted))
      }),
    )

    api.post('/:id/messages', { schema: schemas.append, bodyLimit }, (request, reply) =>
      inTurn(reply, async () => {
        const wanted = {
          partner: request.partner,
          dispatchId: request.params.id,
          recipients: request.body.messages,
          linkBase: `${publicUrl}/s`,
          once: onceOf(request),
        }
        return presentAcceptance(await addMessages(sql, numbering(), wanted))
      }),
    )

    api.post('/:id/start', { schema: schemas.start }, async request => {
      await startDispatch(sql, request.partner, request.params.id, { billingZone, now: clock() })
      return { id: request.params.id, status: 'STARTED' as const }
    })

    api.post('/:id/stop', { schema: schemas.stop }, async request => {
      await stopDispatch(sql, request.partner, request.params.id, { billingZone, now: clock() })
      return { id: request.params.id, status: 'STOPPED' as const }
    })

    api.get('/', { schema: schemas.list }, async request => {
      const { companyId, status, page, perPage } = request.query
      await requireCompany(sql, request.partner, companyId)
      const { total, items } = await listDispatches(sql, companyId, status, page, perPage)
      return { page, perPage, total, items: items.map(presentDispatch) }
    })

    api.get('/:id', { schema: schemas.get }, async request =>
      presentDispatch(await requireDispatchProgress(sql, request.partner, request.params.id)),
    )
  }

/** The schema has validated startAt. */
function scheduleOf({ startAt, hours, days }: { startAt: string; hours: number[]; days: number[] }): Schedule {
  const { time, offsetMinutes } = readTimestamp(startAt)!
  return { startAt: time, offsetMinutes, hours, days }
}

const presentAcceptance = (acceptance: AcceptanceSummary) => ({
  id: acceptance.dispatchId,
  status: acceptance.status,
  priceEstimate: {
    total: moneyToNumber(money(acceptance.estimate)),
    currency: acceptance.currency,
    parts: acceptance.parts,
  },
  total: acceptance.total,
  success: acceptance.success,
  failed: acceptance.total - acceptance.success,
  messages: acceptance.accepted.map(({ uuid, destination, parts, senderId }) => ({
    destination,
    messageUuid: uuid,
    parts,
    senderId,
  })),
})

const presentDispatch = (dispatch: Dispatch & Progress) => ({
  id: dispatch.dispatchId,
  name: dispatch.name,
  status: dispatch.status,
  channelType: dispatch.channelType,
  parts: dispatch.parts,
  messages: dispatch.messages,
  priceEstimate: moneyToNumber(dispatch.priceEstimate),
  createdAt: dispatch.createdAt.toISOString(),
  startedAt: dispatch.startedAt?.toISOString() ?? null,
})
