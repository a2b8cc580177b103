/** The source of an entry: a stop word, the partner API, the command line, a person in the cabinet, a file. */
export const sources = ['STOP', 'API', 'STAFF', 'CABINET', 'FILE'] as const
export type Source = (typeof sources)[number]

/** The comment of a stop word. */
export const STOP_WORD_COMMENT = 'Asked by the subscriber'

export type BlacklistEntry = {
  destination: string
  comment: string | null
  /** Null for an entry that is older than this column. */
  source: Source | null
  createdAt: Date
  /** `createdAt` in microseconds, for the next page: a Date has milliseconds. */
  micros: number
}

/** The last entry of a page. */
export type BlacklistPlace = Pick<BlacklistEntry, 'destination' | 'micros'>
