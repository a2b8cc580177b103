/** The parts of an OpenAPI 3.1 document that are completed here. */

export type Schema = {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  pattern?: string
  [keyword: string]: unknown
}

export type Example = { summary: string; value: unknown }
export type Media = { schema: Schema; examples?: Record<string, Example> }
export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  example?: unknown
  schema: Schema
}
export type Header = { description: string; schema: Schema }
export type DocumentedResponse = {
  $ref?: string
  description: string
  headers?: Record<string, Header>
  content?: Record<string, Media>
}

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, DocumentedResponse>
  security?: object[]
  'x-codeSamples'?: object[]
}

export type Document = {
  info: { title: string; description: string }
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas?: Record<string, Schema>
    responses?: Record<string, DocumentedResponse>
    securitySchemes: object
  }
  webhooks?: Record<string, { post: Operation }>
}

/** The named schemas of the document. */
export function schemasOf({ components }: Document): Record<string, Schema> {
  components.schemas ??= {}
  return components.schemas
}

export const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Every operation with its name, such as `POST /company`. */
export const operationsOf = ({ paths }: Document): [string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )

/** The schemas directly inside a schema, each with a function that replaces it. */
export function innerSchemas(schema: Schema): { inner: Schema; replace: (by: Schema) => void }[] {
  const found: { inner: Schema; replace: (by: Schema) => void }[] = []
  const add = (inner: Schema | boolean | undefined, replace: (by: Schema) => void) => {
    if (typeof inner === 'object') found.push({ inner, replace })
  }
  const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema
  for (const [name, inner] of Object.entries(properties))
    add(inner, by => {
      properties[name] = by
    })
  for (const list of [anyOf, oneOf, allOf])
    for (const [i, inner] of list.entries())
      add(inner, by => {
        list[i] = by
      })
  add(schema.items, by => {
    schema.items = by
  })
  add(schema.additionalProperties, by => {
    schema.additionalProperties = by
  })
  return found
}

/** The outermost schemas: bodies, answers, parameters and components, each with the name of its owner. */
export function rootSchemas(document: Document): { owner: string; holder: { schema: Schema } }[] {
  const operations = [...operationsOf(document).map(([, operation]) => operation), ...webhooksOf(document)]
  return operations.flatMap(({ operationId, parameters = [], requestBody, responses }) => {
    const answers = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}))
    const bodies = Object.values(requestBody?.content ?? {})
    return [...bodies, ...answers, ...parameters].map(holder => ({ owner: operationId, holder }))
  })
}

export const webhooksOf = ({ webhooks = {} }: Document): Operation[] => Object.values(webhooks).map(({ post }) => post)
