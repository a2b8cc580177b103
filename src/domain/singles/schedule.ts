import { countryZoneOf } from '../../base/countries.ts'
import { localTimeToInstant, nextOpening, type Zone } from '../../base/sending-window.ts'
import type { Classified } from '../numbering/numbering.ts'
import type { SingleOptions } from './single.ts'

export type Schedule = {
  sendAt: Date | null
  expiresAt: Date
  endsEarly: boolean
  completeBy: Date | null
  window?: SingleOptions['window']
}

const MOSCOW = 'Europe/Moscow'
const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
/** How long a message lives when nothing else is said. */
const LIFETIME_MS = 25 * HOUR_MS
const EARLIEST_MS = -12 * HOUR_MS
const LATEST_MS = 7 * DAY_MS
const LATEST_COMPLETION_MS = 70 * DAY_MS

/**
 * When a message may go and when it ends. Local times and hours are those of the subscriber's region, or of Moscow when
 * the client says so. What is wrong with the times is told as a text.
 */
export function scheduleOf(options: SingleOptions, number: Exclude<Classified, { kind: 'refused' }>, now: Date) {
  const zone = zoneOf(options, number)
  const wrong = refusalOfTimes(options, zone, now)
  if (wrong) return wrong
  const wanted = instantOf(options.localSendTime, zone)
  const completion = instantOf(options.localCompletionTime, zone)
  const window = { startAt: wanted, endAt: completion, hours: options.hours, days: options.days, zone }
  const opening = nextOpening({ ...window, hours: window.hours ?? null, days: window.days ?? null }, now)
  const { hours = null, days = null } = options
  const endAt = completion?.toISOString() ?? null
  return {
    ...lifetime(opening, completion, options.ttl ?? null, now),
    completeBy: completion,
    ...(hours || days || endAt ? { window: { hours, days, zone: zone.name, endAt } } : {}),
  }
}

/** Without an opening before its completion it waits until then, and ends. */
function lifetime(opening: Date | undefined, completion: Date | null, ttl: number | null, now: Date) {
  const sendAt = opening && opening.getTime() <= now.getTime() ? null : (opening ?? completion)
  const lifetimeMs = ttl === null ? LIFETIME_MS : ttl * 1000
  return { sendAt, expiresAt: new Date((sendAt ?? now).getTime() + lifetimeMs), endsEarly: ttl !== null }
}

function zoneOf({ useLocalTime }: SingleOptions, number: Exclude<Classified, { kind: 'refused' }>) {
  if (useLocalTime === false) return { name: MOSCOW }
  return { name: number.kind === 'russian' ? number.place.zone : (countryZoneOf(number.country) ?? MOSCOW) }
}

const instantOf = (local: string | null | undefined, zone: Zone): Date | null =>
  local ? (localTimeToInstant(local, zone) ?? null) : null

/** The bare values are held against UTC, as clients of such services know it; only a completion that is past is not. */
function refusalOfTimes(
  { localSendTime, localCompletionTime }: SingleOptions,
  zone: Zone,
  now: Date,
): string | undefined {
  const send = bareTime(localSendTime)
  const completion = bareTime(localCompletionTime)
  if (send === undefined) return 'localSendTime: must be a time as YYYY-MM-DD hh:mm:ss'
  if (completion === undefined) return 'localCompletionTime: must be a time as YYYY-MM-DD hh:mm:ss'
  if (send !== null && (send < now.getTime() + EARLIEST_MS || send > now.getTime() + LATEST_MS)) {
    return 'localSendTime: must be from 12 hours ago to 7 days from now'
  }
  if (completion === null) return undefined
  if (completion > now.getTime() + LATEST_COMPLETION_MS) return 'localCompletionTime: must be within 70 days from now'
  if (send !== null && completion < send) return 'localCompletionTime: must not be before localSendTime'
  if (instantOf(localCompletionTime, zone)! <= now) return 'localCompletionTime: must not be in the past'
}

function bareTime(local: string | null | undefined): number | null | undefined {
  if (local === null || local === undefined) return null
  return localTimeToInstant(local, { offsetMinutes: 0 })?.getTime()
}
