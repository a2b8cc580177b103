/** `number`: the number to look up. `upload`: the uploaded file that is not imported yet. */
export type NumberingSearch = { number?: string | undefined; upload?: number | undefined }

export const readNumbering = (search: Record<string, unknown>): NumberingSearch => ({
  number:
    typeof search.number === 'string' || typeof search.number === 'number'
      ? String(search.number) || undefined
      : undefined,
  upload: Number.isSafeInteger(search.upload) ? (search.upload as number) : undefined,
})
