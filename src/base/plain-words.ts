/** Longer than any real id or word of an operator, and short enough for an index of the database. */
const MOST_CHARS = 200

const withoutControls = (text: string, instead = '') => text.replace(/\p{Cc}+/gu, instead).toWellFormed()

/** An operator's words as they can be kept and shown: one line, cut, with nothing a database or terminal trips over. */
export const plainWords = (text: string, mostChars = MOST_CHARS): string =>
  withoutControls(text, ' ').trim().slice(0, mostChars).toWellFormed()

/** An operator's id as it can be kept; nothing when there is none, or one so long that it names nothing. */
export function plainId(id: string | undefined): string | undefined {
  const clean = withoutControls(id ?? '')
  return clean.length > 0 && clean.length <= MOST_CHARS ? clean : undefined
}

/** Whether an id or a word can be kept as it is. */
export const isPlain = (text: string | null | undefined): boolean =>
  !text || (text.length <= MOST_CHARS && text.isWellFormed() && !/\p{Cc}/u.test(text))

/** An id that a provider wrote into JSON: visible ASCII, or a whole number; nothing when it is none. */
export function readId(id: unknown): string | undefined {
  if (Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && id.length <= MOST_CHARS && /^[\x21-\x7e]+$/.test(id) ? id : undefined
}
