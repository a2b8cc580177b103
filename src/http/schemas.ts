import Type, { type TSchema } from 'typebox'

/** Schemas that several resources share. Answers allow no other fields: the tests compare every answer with its schema. */

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const DateTime = Type.String({ format: 'date-time' })

/** `T` or null, as OpenAPI 3.1 writes it. */
export const Nullable = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Type.Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options })

/** One value or several. The query repeats the parameter for each value. */
export const SomeOf = <const T extends readonly string[]>(values: T) =>
  Type.Optional(Type.Unsafe<T[number][]>({ type: 'array', items: { type: 'string', enum: values } }))

export const ById = Type.Object({ id: Id })

/** Optional in requests. The default makes it always present for the handler. */
export const Defaulted = <T extends TSchema>(schema: T) => Type.Optional(schema) as unknown as T

export const Page = Defaulted(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }))
export const PerPage = (size: number) => Defaulted(Type.Integer({ minimum: 1, maximum: 1000, default: size }))

export const Answer = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false })

export const PageOf = <T extends TSchema>(item: T) =>
  Answer({ page: Type.Integer(), perPage: Type.Integer(), total: Type.Integer(), items: Type.Array(item) })

export const ErrorAnswer = {
  ...Answer({ error: Answer({ code: Type.Integer(), msg: Type.String() }) }),
  description: 'The error: a code for programs, a message for people',
}

/** The answers of a route: success with a description for the reference, and the error object for every other status. */
export const answers = <S extends number, T extends TSchema>(status: S, description: string, schema: T) =>
  ({ [status]: { ...schema, description }, default: ErrorAnswer }) as unknown as Record<S, T>

/** A POST without fields accepts no body, an empty body, or `{}`. */
export const NoBody = Type.Unsafe<Record<string, never> | null>({ type: ['object', 'null'], properties: {} })
