/** Longer than real ids and words of operators, and short enough for an index of the database. */
const MOST_CHARS = 200

const withoutControls = (text: string, instead = '') => text.replace(/\p{Cc}+/gu, instead).toWellFormed()

/** Makes an operator's words safe to store and show: one line of limited length, without control characters. */
export const plainWords = (text: string, mostChars = MOST_CHARS): string =>
  withoutControls(text, ' ').trim().slice(0, mostChars).toWellFormed()

/** Makes an operator's id safe to store; undefined when it is empty or too long for an id. */
export function plainId(id: string | undefined): string | undefined {
  const clean = withoutControls(id ?? '')
  return clean.length > 0 && clean.length <= MOST_CHARS ? clean : undefined
}

/** Whether an id or a word can be stored unchanged. */
export const isPlain = (text: string | null | undefined): boolean =>
  !text || (text.length <= MOST_CHARS && text.isWellFormed() && !/\p{Cc}/u.test(text))

/** Reads an id from the JSON of a provider: visible ASCII or a whole number; undefined for any other value. */
export function readId(id: unknown): string | undefined {
  if (Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && id.length <= MOST_CHARS && /^[\x21-\x7e]+$/.test(id) ? id : undefined
}
