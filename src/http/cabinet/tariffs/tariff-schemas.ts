import Type from 'typebox'
import { invalid, UsageError } from '../../../base/errors.ts'
import { localTimeToInstant } from '../../../base/time/sending-window.ts'

/** Schemas that the routes of tariffs and of other prices share. */

export const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
export const AmountText = Type.String({ maxLength: 30 })

const FARTHEST_MS = 366 * 24 * 3600_000

/** The beginning of a day in the billing zone. Refuses today, the past and days that are too far ahead. */
export function firstDay(day: string | null, now: Date, billingZone: string): Date | undefined {
  if (day === null) return undefined
  const start = localTimeToInstant(`${day} 00:00:00`, { name: billingZone })
  if (!start || start <= now || start.getTime() > now.getTime() + FARTHEST_MS)
    throw invalid('from: must be a day from tomorrow on, within a year')
  return start
}

/** Turns the message that the domain writes for a terminal into a refusal for the page. */
export function asked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message)
    throw error
  }
}
