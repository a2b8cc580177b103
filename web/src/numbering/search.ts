import { integerIn, textIn } from '../search-values.ts'

/** `number`: the number to look up. `upload`: the uploaded file that is not imported yet. */
export type NumberingSearch = { number?: string | undefined; upload?: number | undefined }

export const readNumbering = (search: Record<string, unknown>): NumberingSearch => ({
  number: textIn(search.number),
  upload: integerIn(search.upload),
})
