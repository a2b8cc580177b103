import Type from 'typebox'
import { invalid, UsageError } from '../../../base/errors.ts'
import { localTimeToInstant } from '../../../base/sending-window.ts'

/** What the routes of tariffs and of other prices ask alike. */

export const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
export const AmountText = Type.String({ maxLength: 30 })

const FARTHEST_MS = 366 * 24 * 3600_000

/** The beginning of a day on the clock of the billing zone; not today's, nor one that lies too far ahead. */
export function firstDay(day: string | null, now: Date, billingZone: string): Date | undefined {
  if (day === null) return undefined
  const start = localTimeToInstant(`${day} 00:00:00`, { name: billingZone })
  if (!start || start <= now || start.getTime() > now.getTime() + FARTHEST_MS)
    throw invalid('from: must be a day from tomorrow on, within a year')
  return start
}

/** A mistake in what the person typed or in the file: the domain tells a person at a terminal. */
export function asked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message)
    throw error
  }
}
