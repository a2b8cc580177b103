import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { once } from '../../domain/idempotency/idempotency.ts'
import { saveSubscribers } from '../../domain/subscribers/subscribers.ts'
import { MIB } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers, OneOf } from '../schemas.ts'

/** Channels in which a subscriber has an address in addition to the number. */
const channelsWithSubscribers = ['TELEGRAM', 'PUSH', 'VK', 'VIBER', 'WHATSAPP'] as const

const MOST_SUBSCRIBERS = 10_000
/** Enough for ten thousand push subscriptions, the longest addresses. */
const BODY_LIMIT_BYTES = 16 * MIB

const ExternalId = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  minimum: -Number.MAX_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The address of the subscriber in the channel: the id of the chat with the bot, or a push subscription',
})

const Subscribers = Type.Object({
  channelType: OneOf(channelsWithSubscribers),
  senderName: Type.String({ minLength: 1, maxLength: 64 }),
  subscribers: Type.Array(Type.Object({ destination: Type.String(), externalId: ExternalId }), {
    minItems: 1,
    maxItems: MOST_SUBSCRIBERS,
  }),
})

const schema = {
  tags: ['Subscribers'],
  summary: 'Upload the subscribers of a bot or application',
  description:
    'Up to 10,000 at once. One whose `destination` is no number, or whose `externalId` is empty or too long, is ' +
    'rejected. A subscriber that is already known counts as accepted.',
  headers: IdempotencyHeader,
  body: Subscribers,
  response: answers(
    200,
    'How many were taken, and how many not',
    Answer({ accepted: Type.Integer(), rejected: Type.Integer() }),
  ),
}

export const subscriberRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.post('/subscribers', { schema, bodyLimit: BODY_LIMIT_BYTES }, async request => {
      const { caller, body } = request
      const { channelType, senderName } = body
      const subscribers = body.subscribers.map(({ destination, externalId }) => ({
        destination,
        address: String(externalId),
      }))
      return once(sql, onceOf(request), tx =>
        saveSubscribers(tx, caller.companyId, { channelType, senderName, subscribers }),
      )
    })
  }
