import type { FieldMistake } from '../field-mistake.ts'
import { localTimeToInstant, type Zone } from './sending-window.ts'

/** Times as clients write them, `YYYY-MM-DD hh:mm:ss`: in the subscriber's time zone, or in Moscow time. */
export type LocalTimes = { localSendTime?: string | null; localCompletionTime?: string | null }

export const MOSCOW = 'Europe/Moscow'
const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
const EARLIEST_MS = -12 * HOUR_MS
const LATEST_MS = 7 * DAY_MS
const LATEST_COMPLETION_MS = 70 * DAY_MS

export const instantOf = (local: string | null | undefined, zone: Zone): Date | null =>
  local ? (localTimeToInstant(local, zone) ?? null) : null

/**
 * Finds the first mistake in the times. It compares the values with UTC, because clients of such services expect it.
 * Only the check that the completion is not in the past uses a time zone.
 */
export function refusalOfTimes(
  { localSendTime, localCompletionTime }: LocalTimes,
  zone: Zone,
  now: Date,
): FieldMistake | undefined {
  const send = bareTime(localSendTime)
  const completion = bareTime(localCompletionTime)
  if (send === undefined) return { field: 'localSendTime', reason: 'must be a time as YYYY-MM-DD hh:mm:ss' }
  if (completion === undefined) return { field: 'localCompletionTime', reason: 'must be a time as YYYY-MM-DD hh:mm:ss' }
  if (send !== null && (send < now.getTime() + EARLIEST_MS || send > now.getTime() + LATEST_MS)) {
    return { field: 'localSendTime', reason: 'must be from 12 hours ago to 7 days from now' }
  }
  if (completion === null) return undefined
  if (completion > now.getTime() + LATEST_COMPLETION_MS)
    return { field: 'localCompletionTime', reason: 'must be within 70 days from now' }
  if (send !== null && completion < send)
    return { field: 'localCompletionTime', reason: 'must not be before localSendTime' }
  if (instantOf(localCompletionTime, zone)! <= now)
    return { field: 'localCompletionTime', reason: 'must not be in the past' }
}

/** Null when the field is absent, undefined when it is not a time. */
function bareTime(local: string | null | undefined): number | null | undefined {
  if (local === null || local === undefined) return null
  return localTimeToInstant(local, { offsetMinutes: 0 })?.getTime()
}

/** The present time in Moscow. */
export const moscowTime = (moment: Date): string => moscowClock.format(moment)

const moscowClock = new Intl.DateTimeFormat('sv-SE', { timeZone: MOSCOW, dateStyle: 'short', timeStyle: 'medium' })
