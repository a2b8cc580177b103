import {
  type Document,
  type DocumentedResponse,
  type Example,
  type Header,
  innerSchemas,
  type Operation,
  operationsOf,
  refTo,
  rootSchemas,
  type Schema,
  schemasOf,
} from './document.ts'
import { answerErrors, errorOf, helpAddress } from './errors.ts'
import { type SampleWords, sampleOf } from './samples.ts'

export type OperationWords = {
  operationId: string
  /** Replaces the description of the route. */
  description?: string
  /** Bodies that work with the demo data, the most common first. */
  examples?: Record<string, Example>
  /** Error codes in addition to the codes that follow from the schema of the operation. */
  errors?: number[]
}

/** The texts and names that the schemas of the routes do not have. */
export type Words = {
  tags: Record<string, string>
  /** By method and path, such as `POST /company`. */
  operations: Record<string, OperationWords>
  /** Schemas that get a name, with their place, such as `listMessages.200.items`. */
  components: Record<string, string>
  /**
   * Descriptions of fields and parameters, by name. If a name has another meaning in one place, the description has the
   * operation or component before the name, such as `Tariff.brand`.
   */
  fields: Record<string, string>
  /** The codes with status 401, which differ between the APIs. */
  notAuthenticated: number[]
  samples: SampleWords
}

/** Completes a document that was made from the schemas of the routes. */
export function completeDocument(document: Document, words: Words, addOwn?: (document: Document) => void) {
  document.tags = Object.entries(words.tags).map(([name, description]) => ({ name, description }))
  document.components.schemas = { Error: structuredClone(errorSchema) } // each document writes its own descriptions into it
  for (const [name, operation] of operationsOf(document)) nameOperation(operation, words.operations[name])
  for (const { holder } of rootSchemas(document)) holder.schema = withPlainNulls(holder.schema)
  addOwn?.(document)
  nameSchemas(document, words.components)
  describeFields(document, words.fields)
  for (const { holder } of rootSchemas(document)) nameTypes(holder.schema)
  for (const schema of Object.values(document.components.schemas)) nameTypes(schema)
  for (const [name, operation] of operationsOf(document)) {
    markOptionalBody(operation)
    addExamples(operation, words.operations[name]?.examples)
    addStrictness(operation)
    operation['x-codeSamples'] = [sampleOf(name, operation, words.samples)]
    addErrors(document, operation, words.notAuthenticated, words.operations[name]?.errors)
  }
}

// Operations --------------------------------------------------------------------------------------------------------

function nameOperation(operation: Operation, words: OperationWords | undefined) {
  operation.operationId = words?.operationId ?? operation.operationId
  operation.security ??= []
  for (const parameter of operation.parameters ?? []) {
    if (parameter.name === 'idempotency-key') parameter.name = 'Idempotency-Key'
  }
  // The sentence of the route about API keys comes last, in a paragraph of its own.
  const keys = /Takes a key of the type .*$/.exec(operation.description ?? '')?.[0]
  if (words?.description) operation.description = [words.description, keys].filter(Boolean).join('\n\n')
}

/** The generator marks every body as required. A body that may be null is optional. */
function markOptionalBody({ requestBody }: Operation) {
  const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
  if (requestBody && schemas.every(({ type }) => type?.includes('null'))) requestBody.required = false
}

/** Adds the same examples to every content type of a body. A multipart form may have the JSON in one of its parts. */
function addExamples({ requestBody }: Operation, examples: Record<string, Example> | undefined) {
  if (!examples) return
  for (const media of Object.values(requestBody?.content ?? {})) {
    const inPart = ({ summary, value }: Example) => ({
      summary,
      value: media.schema.properties?.body ? { body: value } : value,
    })
    media.examples = Object.fromEntries(Object.entries(examples).map(([name, example]) => [name, inPart(example)]))
  }
}

const strictParameter = {
  name: 'strict',
  in: 'query',
  required: false,
  description:
    'With `true`, a body with a field that the service does not know is refused (4000). Otherwise such fields are ignored and named in the header `Tidings-Ignored-Fields`.',
  schema: { type: 'boolean', default: false },
}

const ignoredFields: Header = {
  description:
    'Fields of the request body that the service does not know and ignored, separated by commas. Absent if there are none.',
  schema: { type: 'string' },
}

function addStrictness(operation: Operation) {
  const json = operation.requestBody?.content['application/json']
  if (!json || isEmptyBody(json.schema)) return
  operation.parameters ??= []
  if (!operation.parameters.some(({ name }) => name === 'strict')) operation.parameters.push({ ...strictParameter })
  for (const answer of Object.values(operation.responses)) {
    answer.headers = { ...answer.headers, 'Tidings-Ignored-Fields': ignoredFields }
  }
}

const isEmptyBody = (schema: Schema) => schema.type?.includes('null') && !schema.properties

// Errors ------------------------------------------------------------------------------------------------------------

const errorSchema: Schema = {
  title: 'Error',
  type: 'object',
  description: 'The error: a code for programs, a message for people.',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      description: 'The error. A success never has this key.',
      required: ['code', 'msg'],
      additionalProperties: false,
      properties: {
        code: { type: 'integer', description: 'A stable number. `/docs/errors` explains every one.', examples: [4000] },
        msg: {
          type: 'string',
          description: 'One sentence for people. Of a wrong field it begins with the path of the field.',
          examples: ['schedule.hours[1]: must be 0 to 23'],
        },
      },
    },
  },
}

const errorHeaders: Record<string, Header> = {
  'X-Request-Id': {
    description: 'Names this request in the log of the service. Quote it when you ask for help.',
    schema: { type: 'string' },
  },
  Link: {
    description: 'Where the code is explained, as `</docs/errors#4000>; rel="help"`.',
    schema: { type: 'string' },
  },
}

const retryAfter: Header = { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } }

/** Replaces the default answer by an answer for each error status of the operation. */
function addErrors(document: Document, operation: Operation, notAuthenticated: number[], more: number[] = []) {
  delete operation.responses.default
  const codes = [...new Set([...codesOf(operation, notAuthenticated), ...more])].sort((a, b) => a - b)
  const byStatus = Map.groupBy(codes, statusOf)
  for (const [status, group] of [...byStatus].sort(([a], [b]) => a - b)) {
    const name = `Error${group.join('_')}`
    document.components.responses = { ...document.components.responses, [name]: errorAnswer(group) }
    operation.responses[status] = { $ref: `#/components/responses/${name}` } as DocumentedResponse
  }
}

function codesOf({ parameters = [], requestBody, security = [] }: Operation, notAuthenticated: number[]): number[] {
  const has = (place: string) => parameters.some(parameter => parameter.in === place)
  const isOnce = parameters.some(({ name }) => name.toLowerCase() === 'idempotency-key')
  return [
    ...(requestBody || has('query') ? [4000] : []),
    ...(security.length > 0 ? notAuthenticated : []),
    ...(has('path') ? [4040] : []),
    ...(requestBody ? [4130, 4150] : []),
    ...(isOnce ? [4090, 4220] : []),
    5000,
    5030,
  ]
}

/** A request with a single message that is refused gets status 400 with the code of the message. */
const statusOf = (code: number) => answerErrors.find(entry => entry.code === code)?.status ?? 400

function errorAnswer(codes: number[]): DocumentedResponse {
  const lines = codes.map(code => `[${code}](${helpAddress(code)}) ${errorOf(code).title}: ${errorOf(code).meaning}`)
  const examples = codes.map(code => {
    const { title, meaning } = errorOf(code)
    return [String(code), { summary: title, value: { error: { code, msg: usualMessages[code] ?? meaning } } }]
  })
  const waits = codes.some(code => code === 4290 || code === 5030)
  return {
    description: lines.join('\n\n'),
    headers: { ...errorHeaders, ...(waits ? { 'Retry-After': retryAfter } : {}) },
    content: { 'application/json': { schema: refTo('Error'), examples: Object.fromEntries(examples) } },
  }
}

/** The usual `msg` of a code. */
const usualMessages: Record<number, string> = {
  4000: 'schedule.hours[1]: must be 0 to 23',
  4010: 'Not Authenticated',
  4012: 'Bad credentials',
  4013: 'IP not allowed',
  4020: 'The balance of the company is too small',
  4030: 'Access Denied',
  4031: 'Inappropriate dispatch status',
  4040: 'Not found',
  5000: 'Something went wrong on our side',
  7401: 'destination: is no valid number',
}

// Schemas -----------------------------------------------------------------------------------------------------------

/** Replaces a choice between a type and null by one schema with both types, if the meaning stays the same. */
export function withPlainNulls(schema: Schema): Schema {
  for (const { inner, replace } of innerSchemas(schema)) replace(withPlainNulls(inner))
  const [given, isNull, ...more] = schema.anyOf ?? []
  if (!given || more.length > 0 || isNull?.type !== 'null' || typeof given.type !== 'string') return schema
  const { anyOf: _, ...rest } = schema
  const values = given.enum ? { enum: [...given.enum, null] } : {}
  return { ...given, ...rest, type: [given.type, 'null'], ...values }
}

/**
 * Adds the types of a choice to its schema, because Scalar expects a type. Choices of objects are left out, because
 * openapi-typescript would add an empty object to them.
 */
function nameTypes(schema: Schema) {
  for (const { inner } of innerSchemas(schema)) nameTypes(inner)
  const types = schema.anyOf?.map(({ type }) => type) ?? []
  if (types.length > 0 && !types.includes(undefined)) schema.type ??= [...new Set(types.flat() as string[])]
}

/** Moves named schemas into the components, and replaces each use by a reference. */
function nameSchemas(document: Document, components: Record<string, string>) {
  const names = new Map(
    Object.entries(components).map(([name, place]) => [comparable(schemaAt(document, place)), name] as const),
  )
  const taken = (schema: Schema): Schema => {
    const name = names.get(comparable(schema))
    for (const { inner, replace } of innerSchemas(schema)) replace(taken(inner))
    if (!name) return schema
    const { description: _, ...rest } = schema
    schemasOf(document)[name] ??= { title: name, ...rest }
    return refTo(name)
  }
  for (const { holder } of rootSchemas(document)) holder.schema = taken(holder.schema)
  for (const schema of Object.values(schemasOf(document))) {
    for (const { inner, replace } of innerSchemas(schema)) replace(taken(inner))
  }
}

/** The schema of an answer repeats the description of the answer. Without it, equal schemas are equal. */
const comparable = ({ description: _, ...schema }: Schema) => JSON.stringify(schema)

/** Finds a schema by its place: `listMessages.200.items` is the items of the property `items` in the answer 200. */
function schemaAt(document: Document, place: string): Schema {
  const [operationId, status = '', ...steps] = place.split('.')
  const operation = operationsOf(document).find(([, one]) => one.operationId === operationId)?.[1]
  const schema = operation?.responses[status]?.content?.['application/json']?.schema
  if (!schema) throw new Error(`the reference names a schema at ${place}, and there is none`)
  return steps.reduce((at, step) => {
    const found = at.properties?.[step]
    if (!found) throw new Error(`the reference names a schema at ${place}, and there is none`)
    const { items, ...one } = found
    return items ?? one
  }, schema.items ?? schema)
}

// Descriptions ------------------------------------------------------------------------------------------------------

function describeFields(document: Document, fields: Record<string, string>) {
  for (const [, { operationId, parameters = [] }] of operationsOf(document)) {
    for (const parameter of parameters) {
      const description = fields[`${operationId}.${parameter.name}`] ?? fields[parameter.name]
      if (description) parameter.description = description
    }
  }
  for (const { owner, holder } of rootSchemas(document)) describeSchema(holder.schema, owner, fields)
  for (const [owner, schema] of Object.entries(schemasOf(document))) describeSchema(schema, owner, fields)
}

/** Example values in answers, for fields with the same meaning in all places. */
const fieldExamples: Record<string, unknown> = {
  brandId: 1,
  callbackUrl: 'https://shop.example.com/tidings',
  cascadeStep: 1,
  createdAt: '2026-11-15T05:58:43.779Z',
  createdTime: '2026-11-15T05:58:43.779Z',
  currency: 'RUB',
  destination: '79160000001',
  dispatchId: 1,
  errors: false,
  externalMessageId: 'order-17',
  filename: 'letter.pdf',
  messageUuid: '01a1ddc9-5d43-75d6-92c4-0cba6653d834',
  message_uuid: '01a1ddc9-5d43-75d6-92c4-0cba6653d834',
  msisdn: '79160000009',
  page: 1,
  perPage: 10,
  senderId: 1,
  senderName: 'ROMASHKA',
  totalPrice: 7.5,
  trafficCenterId: 1,
}

/** Descriptions in the schemas of routes may be fragments of error messages, so the texts of the reference replace them. */
function describeSchema(schema: Schema, owner: string, fields: Record<string, string>) {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const description = fields[`${owner}.${name}`] ?? fields[name]
    if (description) field.description = description
    if (fieldExamples[name] !== undefined && !field.enum && !field.const && !field.pattern)
      field.examples = [fieldExamples[name]]
  }
  for (const { inner } of innerSchemas(schema)) describeSchema(inner, owner, fields)
}
