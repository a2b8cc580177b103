/**
 * Reads values of the URL's search. An invalid value becomes `undefined`. The router parses values as JSON, so a text of
 * digits arrives as a number.
 */

export const oneOf = <T extends string>(known: readonly T[], value: unknown): T | undefined =>
  known.find(one => one === value)

export const textIn = (value: unknown, most = Number.POSITIVE_INFINITY): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, most) || undefined : undefined

export const integerIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined

/** A day as `2026-11-17`. */
export const dayIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined

/** Midnight in the time zone of the reader, `later` days after the day. */
export function startOfDay(day: string, later: number): string {
  const start = new Date(`${day}T00:00`)
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + later).toISOString()
}

/** The column by which a table is sorted, see `ListTable`. */
export const sortIn = ({ sort }: Record<string, unknown>): { sort?: string | undefined } => ({
  sort: textIn(sort, 100),
})
