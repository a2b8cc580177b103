import Type, { type Static, type StaticDecode, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { namesIn } from '../base/content/carried-names.ts'
import type { SettingField, SettingInput } from '../base/setting-fields.ts'

/** The settings of a gateway as they are stored: from a form or a command line. */
export type RawSettings = Record<string, unknown>

/** The error for a wrong setting. It has the name of the setting and never its value, because some values are passwords. */
export const wrongSetting = (name: string, what: string) => new Error(`setting "${name}" ${what}`)

/**
 * The schema of one setting. `input` describes it in forms. `problem` is the error for a value of the wrong type; the
 * other errors belong to the refinements of the schema. `Type.Optional` makes an empty text the same as no value.
 */
type Setting = TSchema & Keywords
type Keywords = { input: SettingInput; problem: string; default?: unknown; isRare?: true; isSecret?: true }

/** The settings of a connector: the one declaration for forms, for the check and for the types. */
export type SettingsSchema = TObject<Record<string, Setting>>

// Kinds of settings ---------------------------------------------------------------------------------------------------

export const setting = <T extends TSchema>(type: T, keywords: Keywords): T & Keywords => Object.assign(type, keywords)

/** Adds a condition to the values of a setting. */
export const refine = <T extends Setting>(type: T, isRight: (value: Static<T>) => boolean, problem: string) =>
  Type.Refine(type, isRight, () => problem)

export const text = (otherwise?: string) => textInput({ kind: 'text', ...shown(otherwise) }, otherwise)

/** A text of several lines, usually the content of a file. */
export const file = () => textInput({ kind: 'file' })

const textInput = (input: SettingInput, otherwise?: string) =>
  refine(
    setting(Type.String(), { input, problem: 'is missing or no text', default: otherwise }),
    value => !value.includes('\0'),
    'has a NUL in it',
  )

const shown = (otherwise: string | undefined) => (otherwise ? { default: otherwise } : {})

export const matching = (pattern: RegExp, problem: string, otherwise?: string) =>
  refine(text(otherwise), value => pattern.test(value), problem)

/** An http or https address, without a user and a password. A slash at the end is removed. */
export function address(otherwise?: string) {
  const given = textInput({ kind: 'address', ...shown(otherwise) }, otherwise)
  const web = refine(
    given,
    value => /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    'must be an http or https address',
  )
  const open = refine(web, value => !hasPassword(value), 'must not carry a user or a password')
  return Type.Decode(open, plainAddress)
}

export const plainAddress = (address: string) => (URL.parse(address)?.href ?? '').replace(/\/+$/, '')

function hasPassword(address: string): boolean {
  const url = URL.parse(address)
  return Boolean(url?.username || url?.password)
}

export const whole = (least: number, most: number, otherwise?: number) =>
  setting(Type.Integer({ minimum: least, maximum: most }), {
    input: { kind: 'whole', least, most, ...(otherwise === undefined ? {} : { default: otherwise }) },
    problem: `must be ${least} to ${most}`,
    default: otherwise,
  })

/** From 0 to 1. */
export const share = () =>
  setting(Type.Number({ minimum: 0, maximum: 1 }), {
    input: { kind: 'share', default: 0 },
    problem: 'must be 0 to 1',
    default: 0,
  })

export const flag = (otherwise = false) =>
  setting(Type.Boolean(), {
    input: { kind: 'flag', default: otherwise },
    problem: 'must be true or false',
    default: otherwise,
  })

/** The first choice is the default. */
export const choice = <T extends string>(...choices: [T, ...T[]]) =>
  setting(Type.Enum(choices), {
    input: { kind: 'choice', choices, default: choices[0] },
    problem: `must be one of ${choices.join(', ')}`,
    default: choices[0],
  })

const MOST_NAMES = 1000
const MOST_NAME_CHARACTERS = 100

/** The sender names whose messages a gateway carries: a list, or a text with commas. */
export function senderNames() {
  const word = Type.Union([Type.String(), Type.Number()])
  const given = setting(Type.Union([word, Type.Array(word)]), { input: { kind: 'names' }, problem: 'must be names' })
  const few = refine(given, value => namesIn(value).length <= MOST_NAMES, `has more than ${MOST_NAMES} names`)
  const names = refine(few, areNames, `must be names of 1 to ${MOST_NAME_CHARACTERS} characters`)
  return Type.Optional(Type.Decode(names, namesIn))
}

const areNames = (value: unknown) =>
  namesIn(value).every(name => name.length <= MOST_NAME_CHARACTERS && !/\p{Cc}/u.test(name))

/** A setting that is stored encrypted and never shown. */
export const secret = <T extends Setting>(type: T): T => Object.assign(type, { isSecret: true })

/** Settings that most gateways do not need. */
export function rare<T extends Record<string, Setting>>(settings: T): T {
  for (const type of Object.values(settings)) type.isRare = true
  return settings
}

// Forms ---------------------------------------------------------------------------------------------------------------

export const fieldsOf = ({ properties }: SettingsSchema): SettingField[] =>
  Object.entries(properties).map(([name, type]) => ({
    name,
    ...type.input,
    ...(isRequired(type) ? { isRequired: true } : {}),
    ...(type.isRare ? { isRare: true } : {}),
  }))

const isRequired = (type: Setting) => !Type.IsOptional(type) && type.default === undefined

export const secretsOf = ({ properties }: SettingsSchema): string[] =>
  Object.keys(properties).filter(name => properties[name]?.isSecret)

// Values --------------------------------------------------------------------------------------------------------------

/**
 * The settings of a gateway with all defaults. Throws an error with the name of the wrong setting. `prefix` comes before
 * the names in errors.
 */
export function valuesOf<T extends SettingsSchema>(schema: T, raw: RawSettings, prefix = ''): StaticDecode<T> {
  const given = Object.entries(schema.properties).map(([name, type]) => [name, checked(type, raw[name], prefix + name)])
  return Value.Decode(schema, Object.fromEntries(given))
}

function checked(type: Setting, raw: unknown, name: string): unknown {
  const value = typed(type, raw)
  if (value === undefined && Type.IsOptional(type)) return undefined
  const [error] = Value.Errors(type, value)
  if (error) throw wrongSetting(name, error.keyword === '~refine' ? error.message : type.problem)
  return value
}

/** Accepts a number as text, and a text as a number: on the command line, a password of digits arrives as a number. */
function typed(type: Setting, raw: unknown): unknown {
  const isAbsent = raw === undefined || raw === null || (raw === '' && Type.IsOptional(type))
  const value = isAbsent ? type.default : raw
  if (value === undefined) return undefined
  if (Type.IsString(type)) return typeof value === 'number' ? String(value) : value
  if (Type.IsInteger(type) || Type.IsNumber(type)) return Number(value)
  if (Type.IsBoolean(type)) return value === 'true' || (value === 'false' ? false : value)
  return value
}

/** The sender name of a gateway that has exactly one. Inbound messages are for that name too. */
export function onlyName(names: string[] = []): string | undefined {
  const [name, ...others] = new Set(names)
  return others.length === 0 ? name : undefined
}
