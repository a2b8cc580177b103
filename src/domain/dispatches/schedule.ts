import { countryZoneOf } from '../../base/countries.ts'
import { localTimeToInstant, type Zone } from '../../base/sending-window.ts'
import type { Classified } from '../numbering/numbering.ts'
import type { DispatchOptions } from './dispatch.ts'

const MOSCOW = 'Europe/Moscow'
/** Where a day of Russia ends last. */
const LAST_ZONE = 'Europe/Kaliningrad'
const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
const EARLIEST_MS = -12 * HOUR_MS
const LATEST_MS = 7 * DAY_MS
const LATEST_COMPLETION_MS = 70 * DAY_MS

/** By whose clock the messages of a dispatch go; undefined when they may go at any time. */
export type ZoneOf = (number: Exclude<Classified, { kind: 'refused' }>) => string

export function zoneChooser(options: DispatchOptions | null): ZoneOf | undefined {
  if (!options) return undefined
  const { localSendTime, localCompletionTime, hours, days } = options
  if (!localSendTime && !localCompletionTime && !hours && !days) return undefined
  if (options.useLocalTime === false) return () => MOSCOW
  return number => (number.kind === 'russian' ? number.place.zone : (countryZoneOf(number.country) ?? MOSCOW))
}

/** When the lanes of a zone begin and end. */
export function laneTimes(options: DispatchOptions | null, zone: string | null) {
  const at = (local: string | null | undefined) => (local && zone ? instantOf(local, { name: zone }) : null)
  return { startAt: at(options?.localSendTime), endAt: at(options?.localCompletionTime) }
}

const instantOf = (local: string, zone: Zone): Date | null => localTimeToInstant(local, zone) ?? null

/**
 * What is wrong with the times of a dispatch. The bare values are held against UTC, as those of single messages are;
 * whether the completion is past is seen where it comes last.
 */
export function refusalOfTimes(options: DispatchOptions, now: Date): string | undefined {
  const { localSendTime, localCompletionTime, useLocalTime } = options
  const send = localSendTime ? bareTime(localSendTime) : undefined
  if (send === null) return `localSendTime: ${FORM}`
  if (send && (send.getTime() < now.getTime() + EARLIEST_MS || send.getTime() > now.getTime() + LATEST_MS)) {
    return 'localSendTime: must be from 12 hours ago to 7 days from now'
  }
  if (!localCompletionTime) return undefined
  const completion = bareTime(localCompletionTime)
  if (completion === null) return `localCompletionTime: ${FORM}`
  if (completion.getTime() > now.getTime() + LATEST_COMPLETION_MS) {
    return 'localCompletionTime: must be within 70 days from now'
  }
  if (send && completion < send) return 'localCompletionTime: must not be before localSendTime'
  const last = instantOf(localCompletionTime, { name: useLocalTime === false ? MOSCOW : LAST_ZONE })
  if (last! <= now) return 'localCompletionTime: must not be in the past'
}

const FORM = 'must be a time as YYYY-MM-DD hh:mm:ss'

const bareTime = (local: string) => instantOf(local, { offsetMinutes: 0 })

/** The time that a clock in Moscow shows. */
export const moscowTime = (moment: Date): string => moscowClock.format(moment)

const moscowClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: MOSCOW,
  dateStyle: 'short',
  timeStyle: 'medium',
})
