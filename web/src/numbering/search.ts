/** What the address of the page says: the number that is looked up, and the file that waits. */
export type NumberingSearch = { number?: string | undefined; upload?: number | undefined }

export const readNumbering = (search: Record<string, unknown>): NumberingSearch => ({
  number:
    typeof search.number === 'string' || typeof search.number === 'number'
      ? String(search.number) || undefined
      : undefined,
  upload: Number.isSafeInteger(search.upload) ? (search.upload as number) : undefined,
})
