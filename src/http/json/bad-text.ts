/** One step of a path: the name of a member or an index. */
export type Step = string | number

/**
 * The path to the first text that PostgreSQL cannot store: a text with a NUL or half of a surrogate pair. `text` is the
 * JSON that `value` was parsed from.
 */
export function findBadText(text: string, value: unknown): Step[] | undefined {
  return mayHideBadText.test(text) ? pathToBadText(value) : undefined
}

/**
 * JSON can contain bad characters only as escapes, so a text without these escapes needs no search. A whole pair of
 * surrogates does not match, unless a backslash before it makes its first half ambiguous.
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
