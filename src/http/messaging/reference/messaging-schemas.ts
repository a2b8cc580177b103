import { type ChannelType, channelTypes } from '../../../base/channel-types.ts'
import { MOST_TEMPLATE_CHARACTERS } from '../../../domain/dispatches/dispatch.ts'
import { callbackOf, oneOfBy } from '../../reference/callbacks.ts'
import { withPlainNulls } from '../../reference/complete.ts'
import { type Document, innerSchemas, refTo, type Schema } from '../../reference/document.ts'
import { contentForms } from '../content/content-schema.ts'
import { callbackSchemas, callbackWords } from './callback-schemas.ts'

/**
 * Completes the schemas of the routes: the forms of `content`, fields that depend on the
 * channel, and the callbacks.
 */
export function addMessagingSchemas(document: Document) {
  const schemas = document.components.schemas!
  addContents(schemas)
  addMessages(schemas, bodyOf(document, '/message'))
  addCascades(schemas, bodyOf(document, '/message/cascade'))
  addDispatchSteps(schemas, bodyOf(document, '/dispatch'))
  addCallbacks(document)
}

const bodyOf = ({ paths }: Document, path: string) => paths[path]!.post!.requestBody!.content['application/json']!
type Body = ReturnType<typeof bodyOf>
type Schemas = Record<string, Schema>

const copyOf = <T>(value: unknown) => JSON.parse(JSON.stringify(value)) as T
const byChannel = (nameOf: (channel: ChannelType) => string) =>
  Object.fromEntries(channelTypes.map(channel => [channel, nameOf(channel)]))

// Contents ----------------------------------------------------------------------------------------------------------

function addContents(schemas: Schemas) {
  for (const channel of channelTypes) {
    const forms = withPlainNulls(copyOf<Schema>(contentForms[channel]))
    schemas[`Content_${channel}`] = choiceOf(schemas, `Content_${channel}`, forms)
    // Texts with placeholders are checked for their channel when the placeholders are filled in.
    schemas[`StepContent_${channel}`] = choiceOf(schemas, `StepContent_${channel}`, withPlaceholders(copyOf(forms)))
  }
}

/** Each form of a content with its own `contentType` gets a name. */
function choiceOf(schemas: Schemas, name: string, forms: Schema): Schema {
  const kinds = forms.anyOf?.map(form => form.properties?.contentType?.const as string | undefined) ?? []
  if (kinds.length === 0 || kinds.includes(undefined)) return forms
  const names = Object.fromEntries(kinds.map(kind => [kind!, `${name}_${kind}`]))
  for (const [i, kind] of kinds.entries()) schemas[names[kind!]!] = forms.anyOf![i]!
  return oneOfBy('contentType', names)
}

function withPlaceholders(schema: Schema): Schema {
  for (const { inner, replace } of innerSchemas(schema)) replace(withPlaceholders(inner))
  if (!schema.type?.includes('string') || schema.const || schema.enum) return schema
  const { minLength: _, pattern: __, format: ___, ...rest } = schema
  return { ...rest, maxLength: MOST_TEMPLATE_CHARACTERS }
}

// Messages and steps ------------------------------------------------------------------------------------------------

/** One schema for each channel, and a choice between them by `channelType`. */
function addMessages(schemas: Schemas, body: Body) {
  const [message, list] = body.schema.anyOf as [Schema, Schema]
  const { channelType: _, senderName, content: __, ttl, ...options } = message.properties!
  for (const channel of channelTypes) {
    const own = { ...channelFields(channel, senderName!, ttl!), content: refTo(`Content_${channel}`) }
    const properties = { ...own, ...copyOf<Record<string, Schema>>(options) }
    schemas[`NewMessage_${channel}`] = { title: channel, type: 'object', required: message.required!, properties }
  }
  schemas.NewMessage = oneOfBy(
    'channelType',
    byChannel(channel => `NewMessage_${channel}`),
  )
  body.schema = { anyOf: [refTo('NewMessage'), { ...list, items: refTo('NewMessage') }] }
}

function addCascades(schemas: Schemas, body: Body) {
  const [cascade, list] = body.schema.anyOf as [Schema, Schema]
  const steps = cascade.properties!.cascade!
  steps.items = addSteps(schemas, steps.items!, 'CascadeStep', 'Content')
  schemas.NewCascade = cascade
  body.schema = { anyOf: [refTo('NewCascade'), { ...list, items: refTo('NewCascade') }] }
}

function addDispatchSteps(schemas: Schemas, { schema }: Body) {
  const steps = schema.properties!.cascade!
  steps.items = addSteps(schemas, steps.items!, 'DispatchStep', 'StepContent')
}

function addSteps(schemas: Schemas, step: Schema, name: string, contents: string): Schema {
  const { senderName, ttl, condition } = step.properties!
  for (const channel of channelTypes) {
    const fields = channelFields(channel, senderName!, ttl!)
    const properties = { ...fields, content: refTo(`${contents}_${channel}`), condition: copyOf<Schema>(condition) }
    schemas[`${name}_${channel}`] = { title: channel, type: 'object', required: step.required!, properties }
  }
  schemas[name] = oneOfBy(
    'channelType',
    byChannel(channel => `${name}_${channel}`),
  )
  return refTo(name)
}

const channelFields = (channel: ChannelType, senderName: Schema, ttl: Schema): Record<string, Schema> => ({
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
    document.components.schemas![name] = copyOf<Schema>(callbackSchemas[event])
  }
  const events = { type: 'array', minItems: 1, maxItems: 100, items: oneOfBy('callback_event', names) }
  document.webhooks = { callback: callbackOf(callbackWords, events) }
}
