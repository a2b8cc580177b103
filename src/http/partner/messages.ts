import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { moneyToNumber } from '../../base/money.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import { requireDispatch } from '../../domain/dispatches/reading.ts'
import { type Message, messageStatuses } from '../../domain/messages/message.ts'
import { pageOfMessages } from '../../domain/messages/messages.ts'
import type { Context } from '../context.ts'
import { Answer, answers, DateTime, Id, Nullable, OneOf, Page, PageOf, PerPage } from '../schemas.ts'

const MessageAnswer = Answer({
  messageUuid: Type.String({ format: 'uuid' }),
  destination: Type.String(),
  text: Nullable(Type.String()),
  parts: Type.Integer(),
  status: OneOf(messageStatuses),
  price: Type.Number(),
  senderId: Nullable(Type.Integer()),
  brandId: Type.Integer(),
  createdAt: DateTime,
  sentAt: Nullable(DateTime),
  deliveredAt: Nullable(DateTime),
  errorCode: Type.Optional(Type.Integer({ description: 'Present when FAILED' })),
})

const schema = {
  tags: ['Messages'],
  summary: 'List the messages of a dispatch, in the order submitted',
  querystring: Type.Object({
    dispatchId: Id,
    status: Type.Optional(OneOf(messageStatuses)),
    page: Page,
    perPage: PerPage(100),
  }),
  response: answers(200, 'A page of messages', PageOf(MessageAnswer)),
}

export const messageRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.get('/', { schema }, async request => {
      const { dispatchId, status, page, perPage } = request.query
      const dispatch = await requireDispatch(sql, request.partner, dispatchId)
      const { total, items } = await pageOfMessages(sql, dispatch, status, page, perPage)
      return { page, perPage, total, items: items.map(presentMessage) }
    })
  }

/** Consecutive messages of one request share their time, so it is formatted once. */
let last = { prefix: '', text: '' }

function createdAtOf(uuid: string): string {
  const prefix = uuid.slice(0, 13)
  if (prefix !== last.prefix) last = { prefix, text: timeOfUuid7(uuid).toISOString() }
  return last.text
}

export const presentMessage = (message: Message) => ({
  messageUuid: message.uuid,
  destination: message.destination,
  text: message.text,
  parts: message.parts,
  status: message.status,
  price: moneyToNumber(message.finalPrice ?? message.price),
  senderId: message.senderId,
  brandId: message.brandId,
  createdAt: createdAtOf(message.uuid),
  sentAt: message.sentAt?.toISOString() ?? null,
  deliveredAt: message.status === 'DELIVERED' ? message.finalAt!.toISOString() : null,
  ...(message.errorCode === null ? {} : { errorCode: message.errorCode }),
})
