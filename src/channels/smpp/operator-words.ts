/** Longer than any real id or error, and short enough for an index. */
const MOST_CHARS = 200

const withoutControls = (text: string) => text.replace(/\p{Cc}+/gu, '').toWellFormed()

/** An operator's id as it can be kept; nothing when there is none, or one so long that it names nothing. */
export function usableId(id: string | undefined): string | undefined {
  const clean = withoutControls(id ?? '')
  return clean.length > 0 && clean.length <= MOST_CHARS ? clean : undefined
}

/** An operator's word as it can be kept and shown. */
export const usableWord = (word: string | undefined): string | undefined =>
  withoutControls((word ?? '').slice(0, MOST_CHARS)) || undefined
