/**
 * ISO 8601 timestamps of the APIs: with `Z` or an offset, because a time without a zone is ambiguous.
 */
const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/

export type Timestamp = { time: Date; offsetMinutes: number }

/** Reads a timestamp; undefined when the text is no timestamp, or has a day or an hour that does not exist. */
export function readTimestamp(text: string): Timestamp | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second = '0', sign, offsetHours = '0', offsetMinutes = '0'] = match
  if (!isDay(Number(year), Number(month), Number(day))) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const offset = Number(offsetHours) * 60 + Number(offsetMinutes)
  if (offset > MOST_OFFSET_MINUTES || Number(offsetMinutes) > 59) return undefined
  return { time: new Date(withColon(text).toUpperCase()), offsetMinutes: sign === '-' ? -offset : offset }
}

const MOST_OFFSET_MINUTES = 14 * 60

/** `+0300` is ISO 8601, but JavaScript reads only `+03:00`. */
const withColon = (text: string) => text.replace(/([+-]\d{2})(\d{2})$/, '$1:$2')

/** The years in which every moment, with any offset, can be stored and shown again. */
const FIRST_YEAR = 1970
const LAST_YEAR = 9998

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return year >= FIRST_YEAR && year <= LAST_YEAR && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
