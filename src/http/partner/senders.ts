import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { channelTypes } from '../../base/channel-types.ts'
import { notFound } from '../../base/errors.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import { once } from '../../domain/idempotency/idempotency.ts'
import { brands } from '../../domain/numbering/brand.ts'
import { reviewStatuses } from '../../domain/review/review.ts'
import { commonTypes } from '../../domain/senders/sender.ts'
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
import { answers, ById, Id, NoBody, SomeOf } from '../schemas.ts'
import {
  CountryCode,
  newSenderFields,
  presentSender,
  readNewSender,
  readSenderChange,
  SenderAnswer,
  SenderChangeBody,
} from '../senders.ts'

const NewSender = Type.Object({ companyId: Id, ...newSenderFields })

const Suspension = Type.Unsafe<{ reason?: string } | null>({
  type: ['object', 'null'],
  properties: { reason: Type.String({ maxLength: 2000 }) },
})

const SenderFilter = Type.Object({
  companyId: Id,
  brand: SomeOf(brands),
  commonType: SomeOf(commonTypes),
  status: SomeOf(reviewStatuses),
  channelType: SomeOf(channelTypes),
  countryCode: Type.Optional(Type.Array(CountryCode)),
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
  update: { tags, summary: 'Change or close a sender name', params: ById, body: SenderChangeBody, response },
  suspend: { tags, summary: 'Stop all traffic under a name', params: ById, body: Suspension, response },
  unsuspend: { tags, summary: 'Allow traffic under a name again', params: ById, body: NoBody, response },
}

export const senderRoutes =
  ({ sql, clock }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/', { schema: schemas.create }, async (request, reply) => {
      const { companyId, ...sender } = request.body
      await requireCompany(sql, request.partner, companyId)
      const given = readNewSender(sender)
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
      const sender = await requireSenderOf(sql, request.partner, request.params.id)
      return presentSender(await updateSender(sql, sender, readSenderChange(request.body), clock()))
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
