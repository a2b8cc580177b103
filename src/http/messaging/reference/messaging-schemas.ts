import { type ChannelType, channelTypes } from '../../../base/channel-types.ts'
import { MOST_TEMPLATE_CHARACTERS } from '../../../domain/dispatches/dispatch.ts'
import { callbackOf, oneOfBy } from '../../reference/callbacks.ts'
import { withPlainNulls } from '../../reference/complete.ts'
import { type Document, innerSchemas, type Media, refTo, type Schema, schemasOf } from '../../reference/document.ts'
import { contentFormsOf } from '../content/content-schema.ts'
import { callbackSchemas, callbackWords } from './callback-schemas.ts'

/**
 * Completes the schemas of the routes: the forms of `content`, fields that depend on the
 * channel, and the callbacks.
 */
export function addMessagingSchemas(document: Document) {
  const schemas = schemasOf(document)
  addContents(schemas)
  addMessages(schemas, bodyOf(document, '/message'))
  addCascades(schemas, bodyOf(document, '/message/cascade'))
  addDispatchSteps(schemas, bodyOf(document, '/dispatch'))
  addCallbacks(document)
}

function bodyOf({ paths }: Document, path: string): Media {
  const body = paths[path]?.post?.requestBody?.content['application/json']
  if (!body) throw new Error(`The document has no body of POST ${path}`)
  return body
}

type Schemas = Record<string, Schema>

const copyOf = <T>(value: unknown) => JSON.parse(JSON.stringify(value)) as T
const byChannel = (nameOf: (channel: ChannelType) => string) =>
  Object.fromEntries(channelTypes.map(channel => [channel, nameOf(channel)]))

// Contents ----------------------------------------------------------------------------------------------------------

function addContents(schemas: Schemas) {
  for (const channel of channelTypes) {
    const forms = withPlainNulls(copyOf<Schema>(contentFormsOf(channel)))
    schemas[`Content_${channel}`] = choiceOf(schemas, `Content_${channel}`, forms)
    // Texts with placeholders are checked for their channel when the placeholders are filled in.
    schemas[`StepContent_${channel}`] = choiceOf(schemas, `StepContent_${channel}`, withPlaceholders(copyOf(forms)))
  }
}

/** Each form of a content with its own `contentType` gets a name. */
function choiceOf(schemas: Schemas, name: string, forms: Schema): Schema {
  const kinds = (forms.anyOf ?? []).map(form => ({ form, kind: form.properties?.contentType?.const }))
  const named = kinds.flatMap(({ form, kind }) => (typeof kind === 'string' ? [{ form, kind }] : []))
  if (named.length === 0 || named.length < kinds.length) return forms
  for (const { form, kind } of named) schemas[`${name}_${kind}`] = form
  return oneOfBy('contentType', Object.fromEntries(named.map(({ kind }) => [kind, `${name}_${kind}`])))
}

function withPlaceholders(schema: Schema): Schema {
  for (const { inner, replace } of innerSchemas(schema)) replace(withPlaceholders(inner))
  if (!schema.type?.includes('string') || schema.const || schema.enum) return schema
  const { minLength: _, pattern: __, format: ___, ...rest } = schema
  return { ...rest, maxLength: MOST_TEMPLATE_CHARACTERS }
}

// Messages and steps ------------------------------------------------------------------------------------------------

/** One schema for each channel, and a choice between them by `channelType`. */
function addMessages(schemas: Schemas, body: Media) {
  const { single: message, list } = singleOrList(body)
  const { channelType: _, senderName, content: __, ttl, ...options } = message.properties ?? {}
  for (const channel of channelTypes) {
    const own = { ...channelFields(channel, senderName, ttl), content: refTo(`Content_${channel}`) }
    const properties = { ...own, ...copyOf<Record<string, Schema>>(options) }
    schemas[`NewMessage_${channel}`] = { title: channel, type: 'object', required: message.required ?? [], properties }
  }
  schemas.NewMessage = oneOfBy(
    'channelType',
    byChannel(channel => `NewMessage_${channel}`),
  )
  body.schema = { anyOf: [refTo('NewMessage'), { ...list, items: refTo('NewMessage') }] }
}

function addCascades(schemas: Schemas, body: Media) {
  const { single: cascade, list } = singleOrList(body)
  addSteps(schemas, cascade, 'CascadeStep', 'Content')
  schemas.NewCascade = cascade
  body.schema = { anyOf: [refTo('NewCascade'), { ...list, items: refTo('NewCascade') }] }
}

const addDispatchSteps = (schemas: Schemas, { schema }: Media) =>
  addSteps(schemas, schema, 'DispatchStep', 'StepContent')

/** The body is one object, or a list of such objects. */
function singleOrList({ schema }: Media): { single: Schema; list: Schema } {
  const [single, list] = schema.anyOf ?? []
  if (!single || !list) throw new Error('The body must allow one object or a list')
  return { single, list }
}

/** Replaces the items of `cascade` by a choice between the channels. */
function addSteps(schemas: Schemas, { properties: fields = {} }: Schema, name: string, contents: string) {
  const steps = fields.cascade
  const step = steps?.items
  if (!steps || !step) throw new Error(`The schema of ${name} has no steps`)
  const { senderName, ttl, condition } = step.properties ?? {}
  for (const channel of channelTypes) {
    const own = channelFields(channel, senderName, ttl)
    const properties = { ...own, content: refTo(`${contents}_${channel}`), condition: copyOf<Schema>(condition) }
    schemas[`${name}_${channel}`] = { title: channel, type: 'object', required: step.required ?? [], properties }
  }
  schemas[name] = oneOfBy(
    'channelType',
    byChannel(channel => `${name}_${channel}`),
  )
  steps.items = refTo(name)
}

const channelFields = (
  channel: ChannelType,
  senderName: Schema | undefined,
  ttl: Schema | undefined,
): Record<string, Schema> => ({
  channelType: { type: 'string', const: channel },
  senderName: { ...senderName, ...senderNameRules[channel] },
  ttl: { ...ttl, minimum: quickChannels.includes(channel) ? 30 : 60, maximum: 86_400 },
})

const quickChannels: ChannelType[] = ['FLASHCALL', 'VOICECODE']
const senderNameRules: Partial<Record<ChannelType, Schema>> = {
  VOICECODE: { pattern: '^[Vv][Oo][Ii][Cc][Ee][Cc][Oo][Dd][Ee]$' },
  TEXT_TO_SPEECH: { pattern: '^\\d{11}$' },
}

// Callbacks ---------------------------------------------------------------------------------------------------------

function addCallbacks(document: Document) {
  const names = Object.fromEntries(Object.keys(callbackSchemas).map(event => [event, `Event_${event}`]))
  for (const [event, name] of Object.entries(names)) {
    schemasOf(document)[name] = copyOf<Schema>(callbackSchemas[event])
  }
  const events = { type: 'array', minItems: 1, maxItems: 100, items: oneOfBy('callback_event', names) }
  document.webhooks = { callback: callbackOf(callbackWords, events) }
}
