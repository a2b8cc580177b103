/** A name or a place in a list. */
export type Step = string | number

/**
 * The path to the first text that PostgreSQL cannot keep: with a NUL character or half of a surrogate pair. `text` is the
 * JSON that `value` was parsed from.
 */
export function findBadText(text: string, value: unknown): Step[] | undefined {
  return mayHideBadText.test(text) ? pathToBadText(value) : undefined
}

/**
 * Bad characters can stand in JSON only as escapes: without one of these there is nothing to look for. A pair of
 * surrogates is none, unless a backslash before it leaves open whether its first half is an escape at all.
 */
const mayHideBadText =
  /\\u(?:0000|[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|[dD][c-fC-F](?<![^\\]\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]))/

function pathToBadText(value: unknown): Step[] | undefined {
  if (typeof value === 'string') return isBad(value) ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return pathInList(value)
  for (const [name, member] of Object.entries(value)) {
    if (isBad(name)) return []
    const path = pathToBadText(member)
    if (path) return [name, ...path]
  }
}

function pathInList(list: unknown[]): Step[] | undefined {
  for (let i = 0; i < list.length; i += 1) {
    const path = pathToBadText(list[i])
    if (path) return [i, ...path]
  }
}

const isBad = (text: string) => text.includes('\0') || !text.isWellFormed()

export const textPath = (path: Step[]): string =>
  path.reduce<string>((so, step) => (typeof step === 'number' ? `${so}[${step}]` : so ? `${so}.${step}` : step), '') ||
  'body'
