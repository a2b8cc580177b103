import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../base/errors.ts'

/**
 * Unknown fields of a body are ignored, because clients written for other services send some. To make misspelt fields
 * visible, the header `Tidings-Ignored-Fields` names the unknown fields. With `?strict=true` the request is refused.
 * Call it before the routes are added.
 */
export function nameIgnoredFields(app: FastifyInstance) {
  app.addHook('onRoute', route => {
    const fields = route.schema?.body ? fieldsOf(route.schema.body as Schema) : undefined
    if (!fields) return
    const name = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      // The route itself reads a form and its parts.
      done(request.rawBody === undefined ? undefined : nameIgnored(fields, request, reply))
    }
    // Before validation: if a required field is missing, the header shows its misspelt name.
    route.preValidation = [...[route.preValidation ?? []].flat(), name]
  })
}

/** Names the unknown fields in the header. In strict mode it returns the refusal. */
function nameIgnored(fields: Fields, request: FastifyRequest, reply: FastifyReply): Error | undefined {
  const isStrict = readStrict((request.query as { strict?: unknown }).strict)
  if (isStrict instanceof Error) return isStrict
  const found = new Found()
  fields.look(request.body, found)
  if (found.paths.length === 0) return undefined
  reply.header('tidings-ignored-fields', found.inHeader())
  return isStrict ? invalid(found.inWords()) : undefined
}

function readStrict(value: unknown): boolean | Error {
  if (value === undefined || value === 'false') return false
  return value === 'true' || invalid('strict: must be true or false')
}

// The unknown fields of a body --------------------------------------------------------------------------------------

const MOST_PATHS = 20
const MOST_NAME_CHARACTERS = 64

/** Collects the paths of unknown fields. An unknown field in many items of a list is listed for the first item only. */
class Found {
  readonly paths: string[] = []
  readonly way: (string | number)[] = []
  readonly #seen = new Map<Fields, Set<string>>()
  #left = 0

  add(fields: Fields, name: string) {
    const names = this.#seen.get(fields) ?? new Set()
    if (names.has(name)) return
    if (this.paths.length === MOST_PATHS) {
      this.#left += 1
      return
    }
    this.#seen.set(fields, names.add(name))
    this.paths.push(pathOf([...this.way, name]))
  }

  inHeader(): string {
    return [...this.paths, ...(this.#left > 0 ? ['...'] : [])].join(', ')
  }

  inWords(): string {
    return `${this.inHeader()}: ${this.paths.length > 1 ? 'are not known fields' : 'is not a known field'}`
  }
}

const pathOf = (way: (string | number)[]) =>
  way.reduce<string>((so, step) => {
    if (typeof step === 'number') return `${so}[${step}]`
    return so ? `${so}.${inAscii(step)}` : inAscii(step)
  }, '')

/** A header can contain only these characters. A comma separates names. */
const inAscii = (name: string) =>
  name
    .slice(0, MOST_NAME_CHARACTERS)
    .toWellFormed()
    .replace(/[^\w$@-]/gu, encodeURIComponent)
    .slice(0, MOST_NAME_CHARACTERS)

// The known fields of a schema --------------------------------------------------------------------------------------

export type Schema = {
  type?: string | readonly string[]
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  const?: unknown
  [BY_CHANNEL]?: Record<string, Schema>
}

/** On a schema: the fields depend on the `channelType` beside the value. */
export const BY_CHANNEL = Symbol('fields by channel')

/** The part of a schema that says which fields are known. */
type Fields = { takes(value: unknown): boolean; look(value: unknown, found: Found): void }

/** Undefined for a schema without fields, such as a string. */
function fieldsOf(schema: Schema): Fields | undefined {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fieldsOfChoice(choices)
  if (schema.items) return fieldsOfList(schema.items)
  return schema.properties ? fieldsOfObject(schema, schema.properties) : undefined
}

function fieldsOfChoice(choices: readonly Schema[]): Fields | undefined {
  const known = choices.map(choice => fieldsOf(choice) ?? (mayBeObject(choice) ? anyObject : undefined))
  const all = known.filter(fields => fields !== undefined)
  if (all.every(fields => fields === anyObject)) return undefined
  if (all.length === 1) return all[0]
  return {
    takes: value => all.some(fields => fields.takes(value)),
    look(value, found) {
      const fitting = all.filter(fields => fields.takes(value))
      if (fitting.length <= 1) fitting[0]?.look(value, found)
      else leastOf(fitting, value)?.look(value, found)
    },
  }
}

const mayBeObject = ({ type }: Schema) => type === undefined || [type].flat().includes('object')
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const anyObject: Fields = { takes: isObject, look() {} }

/** If a value matches several forms, the form with the fewest unknown fields counts. */
function leastOf(choices: Fields[], value: unknown): Fields | undefined {
  const counted = choices.map(fields => {
    const found = new Found()
    fields.look(value, found)
    return { fields, count: found.paths.length }
  })
  return counted.sort((a, b) => a.count - b.count)[0]?.fields
}

function fieldsOfList(items: Schema): Fields | undefined {
  const fields = fieldsOf(items)
  return (
    fields && {
      takes: Array.isArray,
      look(value, found) {
        if (!Array.isArray(value)) return
        for (let i = 0; i < value.length; i += 1) {
          found.way.push(i)
          fields.look(value[i], found)
          found.way.pop()
        }
      },
    }
  )
}

function fieldsOfObject(schema: Schema, properties: Record<string, Schema>): Fields {
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  const known = new Map(Object.entries(properties).map(([name, inner]) => [name, fieldsOf(inner) ?? null]))
  const byChannel = new Map(Object.entries(properties).map(([name, inner]) => [name, fieldsByChannel(inner)]))
  const constants = Object.entries(properties).filter(([, inner]) => inner.const !== undefined)
  const fields: Fields = {
    takes: value => isObject(value) && constants.every(([name, inner]) => value[name] === inner.const),
    look(value, found) {
      if (!isObject(value)) return
      for (const name in value) {
        const inner = known.get(name)
        if (inner === undefined && !isOpen) found.add(fields, name)
        const deeper = inner ?? (inner === null && byChannel.get(name)?.get(value.channelType))
        if (deeper) lookInto(deeper, name, value, found)
      }
    },
  }
  return fields
}

function lookInto(fields: Fields, name: string, value: Record<string, unknown>, found: Found) {
  found.way.push(name)
  fields.look(value[name], found)
  found.way.pop()
}

function fieldsByChannel(schema: Schema): Map<unknown, Fields> | undefined {
  const schemas = schema[BY_CHANNEL]
  if (!schemas) return undefined
  const entries = Object.entries(schemas).map(([channel, inner]) => [channel, fieldsOf(inner)] as const)
  return new Map(entries.filter((entry): entry is [string, Fields] => entry[1] !== undefined))
}
