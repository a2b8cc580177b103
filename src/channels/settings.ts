import { namesIn, SENDER_NAMES } from '../base/content/carried-names.ts'

/** The settings of a gateway as they are stored: from a form or a command line. */
export type RawSettings = Record<string, unknown>

/**
 * The error for a wrong setting. It has the name of the setting and never its value, because some values are passwords.
 * The readers below accept a number as text, and a text as a number.
 */
export const wrongSetting = (name: string, what: string) => new Error(`setting "${name}" ${what}`)

export function optional<T>(
  raw: RawSettings,
  name: string,
  read: (raw: RawSettings, name: string) => T,
): T | undefined {
  return raw[name] === undefined || raw[name] === null || raw[name] === '' ? undefined : read(raw, name)
}

/** Accepts a number too: on the command line, a password of digits arrives as a number. */
export function text(raw: RawSettings, name: string, otherwise?: string): string {
  const value = raw[name] ?? otherwise
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongSetting(name, 'is missing or no text')
  if (String(value).includes('\0')) throw wrongSetting(name, 'has a NUL in it')
  return String(value)
}

export function whole(raw: RawSettings, name: string, otherwise: number, least: number, most: number): number {
  const value = Number(raw[name] ?? otherwise)
  if (!Number.isInteger(value) || value < least || value > most) throw wrongSetting(name, `must be ${least} to ${most}`)
  return value
}

export function flag(raw: RawSettings, name: string, otherwise = false): boolean {
  const value = raw[name] ?? otherwise
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw wrongSetting(name, 'must be true or false')
}

export function oneOf<T extends string>(raw: RawSettings, name: string, allowed: readonly [T, ...T[]]): T {
  const given = raw[name] ?? allowed[0]
  const value = allowed.find(choice => choice === given)
  if (value === undefined) throw wrongSetting(name, `must be one of ${[...new Set(allowed)].join(', ')}`)
  return value
}

/** An http or https address, without a user and a password. A slash at the end is removed. */
export function address(raw: RawSettings, name: string, otherwise?: string): string {
  const url = URL.parse(text(raw, name, otherwise))
  if (!url || !/^https?:$/.test(url.protocol)) throw wrongSetting(name, 'must be an http or https address')
  if (url.username || url.password) throw wrongSetting(name, 'must not carry a user or a password')
  return url.href.replace(/\/+$/, '')
}

/** The sender name of a gateway that has exactly one. Inbound messages are for that name too. */
export function onlyName(raw: RawSettings): string | undefined {
  const names = new Set(namesIn(raw[SENDER_NAMES]))
  return names.size === 1 ? [...names][0] : undefined
}
