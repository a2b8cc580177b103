import type { Operation, Schema } from './document.ts'

/** Callbacks in the reference of both APIs. */

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const rules =
  'Answer with a status from 200 to 299 within 15 seconds. Otherwise the event is sent again every 5 minutes, for a ' +
  'day. An event may arrive twice: events with the same `webhook-id` are the same. Requests are signed as Standard ' +
  'Webhooks describes; `docs/callbacks.md` shows how to check the signature.'

type CallbackWords = { operationId: string; summary: string; description: string; example: unknown }

/** A webhook: one POST with these events. */
export const callbackOf = (words: CallbackWords, schema: Schema): { post: Operation } => ({
  post: {
    operationId: words.operationId,
    tags: ['Callbacks'],
    summary: words.summary,
    description: `${words.description}\n\n${rules}`,
    security: [],
    parameters: [
      header('webhook-id', 'The id of the events in the request: the same events have the same id.'),
      header('webhook-timestamp', 'When this try was made, in seconds since 1970.'),
      header('webhook-signature', '`v1,` and the HMAC-SHA256 over `id.timestamp.body`, in Base64.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, examples: { event: { summary: words.summary, value: words.example } } },
      },
    },
    responses: { '2XX': { description: 'Your server took the events.' } },
  },
})

/** One of these schemas. The field of that name decides which. */
export const oneOfBy = (field: string, names: Record<string, string>): Schema => ({
  oneOf: Object.values(names).map(name => ({ $ref: `#/components/schemas/${name}` })),
  discriminator: {
    propertyName: field,
    mapping: Object.fromEntries(Object.entries(names).map(([value, name]) => [value, `#/components/schemas/${name}`])),
  },
})
