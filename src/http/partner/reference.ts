import Type, { type TSchema } from 'typebox'
import { callbackOf, oneOfBy } from '../reference/callbacks.ts'
import type { Document, Schema } from '../reference/document.ts'
import { Answer, DateTime } from '../schemas.ts'

/** Adds the callbacks to the reference of the partner API. */
export function addPartnerCallbacks(document: Document) {
  document.components.schemas = { ...document.components.schemas, ...eventSchemas }
  document.webhooks = { callback: callbackOf(words, oneOfBy('event', names)) }
}

const named = <T extends string, S extends string>(event: T, status: S, fields: Record<string, TSchema>) =>
  Answer({
    event: Type.Unsafe<T>({ type: 'string', const: event }),
    messageUuid: Type.String({ format: 'uuid' }),
    destination: Type.String(),
    status: Type.Unsafe<S>({ type: 'string', const: status }),
    ...fields,
  })

/** A deep copy, because each place gets its own description. */
const copyOf = <T>(value: unknown) => JSON.parse(JSON.stringify(value)) as T

const names = { sent: 'Event_sent', delivered: 'Event_delivered', failed: 'Event_failed' }

const eventSchemas: Record<string, Schema> = copyOf({
  Event_sent: { ...named('sent', 'SENT', { sentAt: DateTime }), description: 'The operator took the message.' },
  Event_delivered: {
    ...named('delivered', 'DELIVERED', { deliveredAt: DateTime }),
    description: 'The message reached the subscriber.',
  },
  Event_failed: {
    ...named('failed', 'FAILED', { failedAt: DateTime, errorCode: Type.Integer() }),
    description: 'The message was refused, expired or not delivered.',
  },
})

const words = {
  operationId: 'receiveDispatchEvent',
  summary: 'A message of a dispatch changed',
  description:
    'Sent to `callbackUrl` of a dispatch, one JSON object for each event that `callbackEvents` names (`delivered` ' +
    'without it). A recipient that the answer to your own request rejected is not reported again.',
  example: {
    event: 'delivered',
    messageUuid: '01a1dd04-ea7b-71ee-b31a-86217960a4b1',
    destination: '79160000001',
    status: 'DELIVERED',
    deliveredAt: '2026-11-15T02:24:09.304Z',
  },
}
