import { isIP } from 'node:net'
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import { isHttpUrl } from '../base/network/http-url.ts'
import { readTimestamp } from '../base/time/timestamp.ts'

const formats = {
  'date-time': (text: string) => readTimestamp(text) !== undefined,
  uri: isHttpUrl,
  ip: (text: string) => isIP(text) !== 0,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  int64: true,
  double: true,
} as const

const common = { allowUnionTypes: true, verbose: true, formats, discriminator: false } as const

const ajv = new Ajv({ ...common, coerceTypes: false, useDefaults: true })

/**
 * Validates bodies without conversion. Values of query and path are texts and are first converted to the type of the
 * schema. Each schema is compiled with its first value: to compile all of them takes a fifth of the start of a process.
 */
export function compileValidator({ schema, httpPart }: { schema: Rule; httpPart?: string }): ValidateFunction {
  const isText = httpPart === 'querystring' || httpPart === 'params'
  const types = isText ? Object.entries((schema.properties ?? {}) as Record<string, Rule>) : []
  let compiled: ValidateFunction | undefined
  const validate = (values: Rule) => {
    compiled ??= ajv.compile(schema)
    for (const [name, { type }] of types) if (name in values) values[name] = readAs(type, values[name])
    const isValid = compiled(values)
    validate.errors = compiled.errors
    return isValid
  }
  validate.errors = undefined as ValidateFunction['errors']
  return validate as unknown as ValidateFunction
}

/** Converts digits to a number, `true` and `false` to a boolean, and a single value to a list of one. Other values stay text. */
function readAs(type: unknown, value: unknown): unknown {
  if (type === 'array') return [value].flat()
  if (type === 'integer' && typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** Names the first wrong field by its path and the rule that it breaks: `schedule.hours[1]: must be 0 to 23`. */
export function validationMessage(errors: FastifySchemaValidationError[], context: string | undefined): string {
  const error = errors[0]!
  const path = pathOf(error, context)
  return `${path}: ${(wordings[error.keyword] ?? (() => error.message ?? 'is invalid'))(error.params, schemaOf(error))}`
}

type Rule = Record<string, unknown>

/** With `verbose`, Ajv adds the schema to the error. */
const schemaOf = (error: FastifySchemaValidationError) => (error as { parentSchema?: Rule }).parentSchema ?? {}

function pathOf(error: FastifySchemaValidationError, context: string | undefined): string {
  const steps = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') steps.push(String(error.params.missingProperty))
  const path = steps.reduce((so, step) => (/^\d+$/.test(step) ? `${so}[${step}]` : so ? `${so}.${step}` : step), '')
  return path || (context === 'querystring' ? 'query' : (context ?? 'body'))
}

const unescapePointer = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')

const wordings: Record<string, (params: Rule, schema: Rule) => string> = {
  required: () => 'is required',
  type: params => `must be ${[params.type].flat().map(withArticle).join(' or ')}`,
  enum: params => `must be one of ${(params.allowedValues as string[]).join(', ')}`,
  const: params => `must be ${params.allowedValue}`,
  minimum: boundsOf,
  maximum: boundsOf,
  minLength: params => (params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`),
  maxLength: params => `must have at most ${params.limit} characters`,
  minItems: params => (params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} items`),
  maxItems: params => `must have at most ${params.limit} items`,
  maxProperties: params => `must have at most ${params.limit} properties`,
  uniqueItems: () => 'must not repeat a value',
  pattern: (_, schema) => `must be ${schema.description ?? 'of another form'}`,
  format: params => formatWordings[String(params.format)] ?? `must be a ${params.format}`,
}

function boundsOf({ comparison }: Rule, { minimum, maximum }: Rule): string {
  const isTooLargeToKeep = comparison === '<=' && maximum === Number.MAX_SAFE_INTEGER
  if (minimum === undefined || isTooLargeToKeep) return `must be at most ${maximum}`
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
    ? `must be at least ${minimum}`
    : `must be ${minimum} to ${maximum}`
}

const formatWordings: Record<string, string> = {
  ip: 'must be an IP address',
  'date-time': 'must be an ISO 8601 timestamp with Z or an offset',
  uri: 'must be an http or https address',
  uuid: 'must be a UUID',
}

const withArticle = (type: unknown) =>
  /^[aeiou]/.test(String(type)) ? `an ${type}` : type === 'null' ? 'null' : `a ${type}`
