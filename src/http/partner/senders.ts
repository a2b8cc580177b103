import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { channelTypes } from '../../base/channel-types.ts'
import { countryCodeOf } from '../../base/countries.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { moneyToNumber } from '../../base/money.ts'
import { readTimestamp } from '../../base/timestamp.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import { once } from '../../domain/idempotency/idempotency.ts'
import { brands } from '../../domain/numbering/brand.ts'
import { commonTypes, type Sender, senderStatuses } from '../../domain/senders/sender.ts'
import {
  createSender,
  listSenders,
  requireSenderOf,
  suspendSender,
  unsuspendSender,
  updateSender,
} from '../../domain/senders/senders.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers, ById, DateTime, Id, NoBody, Nullable, OneOf, SomeOf } from '../schemas.ts'

const SenderName = Type.String({ minLength: 1, maxLength: 64 })
const DocumentIds = Type.Array(Type.String({ format: 'uuid' }), { maxItems: 100 })

const NewSender = Type.Object({
  companyId: Id,
  senderName: SenderName,
  channelType: OneOf(channelTypes),
  commonType: OneOf(commonTypes),
  brand: OneOf(brands),
  dateFrom: DateTime,
  countryId: Type.Optional(Id),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  documentIds: Type.Optional(DocumentIds),
})

const SenderChange = Type.Object({
  senderName: Type.Optional(SenderName),
  commonType: Type.Optional(OneOf(commonTypes)),
  dateFrom: Type.Optional(DateTime),
  dateTo: Type.Optional(DateTime),
  documentIds: Type.Optional(DocumentIds),
})

const Suspension = Type.Unsafe<{ reason?: string } | null>({
  type: ['object', 'null'],
  properties: { reason: Type.String({ maxLength: 2000 }) },
})

const SenderAnswer = Answer({
  id: Id,
  senderName: Type.String(),
  channelType: OneOf(channelTypes),
  counteragentName: Type.String(),
  counteragentInn: Type.String(),
  dateFrom: DateTime,
  dateTo: Nullable(DateTime),
  commonType: OneOf(commonTypes),
  brand: OneOf(brands),
  status: OneOf(senderStatuses),
  suspended: Type.Boolean(),
  suspendReason: Type.Optional(Type.String()),
  fee: Nullable(Type.Number()),
  managerComment: Nullable(Type.String()),
  rejectedAt: Nullable(DateTime),
  createdAt: DateTime,
})

const SenderFilter = Type.Object({
  companyId: Id,
  brand: SomeOf(brands),
  commonType: SomeOf(commonTypes),
  status: SomeOf(senderStatuses),
  channelType: SomeOf(channelTypes),
  countryCode: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Z]{2}$', description: 'two capital letters' }))),
})

const tags = ['Senders']
const response = answers(200, 'The sender name as it is now', SenderAnswer)

const schemas = {
  create: {
    tags,
    summary: 'Register a sender name',
    headers: IdempotencyHeader,
    body: NewSender,
    response: answers(201, 'The sender name was registered', SenderAnswer),
  },
  list: {
    tags,
    summary: 'List sender names',
    querystring: SenderFilter,
    response: answers(200, 'The sender names that the filters leave', Type.Array(SenderAnswer)),
  },
  get: {
    tags,
    summary: 'Read a sender name',
    params: ById,
    querystring: Type.Object({ companyId: Type.Optional(Id) }),
    response,
  },
  update: { tags, summary: 'Change or close a sender name', params: ById, body: SenderChange, response },
  suspend: { tags, summary: 'Stop all traffic under a name', params: ById, body: Suspension, response },
  unsuspend: { tags, summary: 'Allow traffic under a name again', params: ById, body: NoBody, response },
}

export const senderRoutes =
  ({ sql, clock }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/', { schema: schemas.create }, async (request, reply) => {
      const { companyId, countryId = RUSSIA, dateFrom, description, documentIds = [], ...sender } = request.body
      await requireCompany(sql, request.partner, companyId)
      const given = {
        ...sender,
        countryCode: requireCountry(countryId),
        dateFrom: timeOf(dateFrom),
        description,
        documentIds,
      }
      const created = await once(sql, onceOf(request), async tx =>
        presentSender(await createSender(tx, companyId, given)),
      )
      return reply.code(201).send(created)
    })

    api.get('/', { schema: schemas.list }, async request => {
      const { companyId, ...filter } = request.query
      await requireCompany(sql, request.partner, companyId)
      return (await listSenders(sql, companyId, filter)).map(presentSender)
    })

    api.get('/:id', { schema: schemas.get }, async request => {
      const sender = await requireSenderOf(sql, request.partner, request.params.id)
      const { companyId = sender.companyId } = request.query
      if (companyId !== sender.companyId) throw notFound('Sender')
      return presentSender(sender)
    })

    api.put('/:id', { schema: schemas.update }, async request => {
      const { dateFrom, dateTo, ...change } = request.body
      const sender = await requireSenderOf(sql, request.partner, request.params.id)
      const dates = { dateFrom: dateFrom && timeOf(dateFrom), dateTo: dateTo && timeOf(dateTo) }
      return presentSender(await updateSender(sql, sender, { ...change, ...dates } as never, clock()))
    })

    api.post('/:id/suspend', { schema: schemas.suspend }, async request => {
      const sender = await requireSenderOf(sql, request.partner, request.params.id)
      return presentSender(await suspendSender(sql, sender, request.body?.reason))
    })

    api.post('/:id/unsuspend', { schema: schemas.unsuspend }, async request => {
      const sender = await requireSenderOf(sql, request.partner, request.params.id)
      return presentSender(await unsuspendSender(sql, sender))
    })
  }

const RUSSIA = 1

function requireCountry(countryId: number): string {
  const code = countryCodeOf(countryId)
  if (!code) throw invalid('countryId: is unknown')
  return code
}

/** The schema has checked it already. */
const timeOf = (text: string): Date => readTimestamp(text)!.time

export const presentSender = (sender: Sender) => ({
  id: sender.senderId,
  senderName: sender.senderName,
  channelType: sender.channelType,
  counteragentName: sender.counteragentName,
  counteragentInn: sender.counteragentInn,
  dateFrom: sender.dateFrom.toISOString(),
  dateTo: sender.dateTo?.toISOString() ?? null,
  commonType: sender.commonType,
  brand: sender.brand,
  status: sender.status,
  suspended: sender.suspended,
  ...(sender.suspendReason === null ? {} : { suspendReason: sender.suspendReason }),
  fee: sender.fee === null ? null : moneyToNumber(sender.fee),
  managerComment: sender.managerComment,
  rejectedAt: sender.rejectedAt?.toISOString() ?? null,
  createdAt: sender.createdAt.toISOString(),
})
