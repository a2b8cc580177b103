import { type ChannelType, channelTypes } from '../../base/channel-types.ts'
import { callbackOperation, callbackSchemas } from './callback-schemas.ts'
import { contentForms } from './content-schema.ts'

/**
 * What the schemas of the routes do not say, since it is read by hand: the forms of `content`, what depends on the
 * channel, what is meant where nothing is said, and the callbacks.
 */
export function completeReference(document: Document) {
  document.components.schemas = { ...document.components.schemas, ...contentSchemas, ...eventSchemas }
  document.webhooks = { callback: { post: { ...callbackOperation, requestBody: json(events) } } }
  for (const [path, methods] of Object.entries(document.paths)) {
    const bodies = Object.values(methods).flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
    for (const { schema } of bodies) complete(schema, path === '/dispatch')
  }
}

export type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  components: { schemas?: Record<string, object> }
  webhooks?: Record<string, object>
}
type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; [keyword: string]: unknown }

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: Schema) => ({ required: true, content: { 'application/json': { schema } } })

const contentSchemas = Object.fromEntries(channelTypes.map(channel => [`Content_${channel}`, contentForms[channel]]))
const eventSchemas = Object.fromEntries(
  Object.entries(callbackSchemas).map(([event, schema]) => [`Event_${event}`, schema]),
)
const events = { type: 'array', minItems: 1, maxItems: 100, items: { anyOf: Object.keys(eventSchemas).map(ref) } }

/** `isTemplate`: texts have placeholders, and are held to their channel when these are filled in. */
function complete(schema: Schema, isTemplate: boolean) {
  const { properties = {}, items, anyOf = [] } = schema
  for (const inner of [...Object.values(properties), ...anyOf, ...(items ? [items] : [])]) complete(inner, isTemplate)
  for (const [name, said] of Object.entries(whenAbsent)) Object.assign(properties[name] ?? {}, said)
  if (properties.ttl && properties.content) completeMessage(schema, properties, isTemplate)
}

/** Nothing is filled in where a request is read: a member that is absent and one that is null are the same. */
const whenAbsent: Record<string, object> = {
  useLocalTime: { default: true, description: "Whether times are on the subscriber's clock; false: on that of Moscow" },
  shortUrl: { default: false, description: 'Whether links in the text become short ones' },
  callbackEvents: {
    default: ['delivered'],
    description: 'Which events are told, when there is a callbackUrl; an empty array is as good as absent',
  },
  condition: { default: 'not_delivered', description: 'When the next step goes out; the last step has none' },
}

/** A message, or a step of a cascade, which has a condition. */
function completeMessage(schema: Schema, properties: Record<string, Schema>, isTemplate: boolean) {
  const description = isTemplate ? 'By channel; its text may have placeholders written as {name}' : 'By channel'
  properties.content = { description, anyOf: Object.keys(contentSchemas).map(ref) }
  const bounds = '60 to 86400 seconds, for FLASHCALL and VOICECODE from 30'
  const ttl = properties.condition
    ? { default: 3600, description: `How long the step has, ${bounds}; the last step has none` }
    : { description: `How long it has from acceptance or localSendTime on, ${bounds}; 25 hours unless given` }
  Object.assign(properties.ttl!, ttl)
  schema.allOf = channelTypes.map(channel => ({
    if: { required: ['channelType'], properties: { channelType: { const: channel } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { ...(isTemplate ? {} : { content: ref(`Content_${channel}`) }), ...rulesOf(channel) } },
  }))
}

const rulesOf = (channel: ChannelType) => ({ ttl: secondsFrom(60), ...otherRules[channel] })

const secondsFrom = (minimum: number) => ({ minimum, maximum: 86_400 })
const otherRules: Partial<Record<ChannelType, object>> = {
  FLASHCALL: { ttl: secondsFrom(30) },
  VOICECODE: { ttl: secondsFrom(30), senderName: { pattern: '^[Vv][Oo][Ii][Cc][Ee][Cc][Oo][Dd][Ee]$' } },
  TEXT_TO_SPEECH: { senderName: { pattern: '^\\d{11}$' } },
}
