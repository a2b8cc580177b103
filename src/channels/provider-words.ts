/** What is longer is no id, and no word. */
const MOST_CHARACTERS = 200

/** An id of the provider's: visible ASCII, or a whole number; nothing when it is none. */
export function readId(id: unknown): string | undefined {
  if (Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && id.length <= MOST_CHARACTERS && /^[\x21-\x7e]+$/.test(id) ? id : undefined
}

/** One line, cut, without what a database or a terminal would stumble over. */
export const plainWords = (text: string, mostCharacters = MOST_CHARACTERS): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, mostCharacters)
    .toWellFormed()
