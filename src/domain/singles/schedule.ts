import { instantOf, refusalOfTimes } from '../../base/local-time.ts'
import { nextOpening } from '../../base/sending-window.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import type { Classified } from '../numbering/numbering.ts'
import { zoneFor } from '../numbering/zone.ts'
import type { SingleOptions } from './single.ts'

/**
 * When a message may go and when it ends. Local times and hours are those of the subscriber's region, or of Moscow when
 * the client says so. What is wrong with the times is told as a text.
 */
export function scheduleOf(options: SingleOptions, number: Exclude<Classified, { kind: 'refused' }>, now: Date) {
  const zone = { name: zoneFor(options, number) }
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

/**
 * Without an opening before its completion it waits until then, and ends. A ttl ends it, sent or not; without one its
 * waiting ends at its completion, or after the common lifetime.
 */
function lifetime(opening: Date | undefined, completion: Date | null, ttl: number | null, now: Date) {
  const sendAt = opening && opening.getTime() <= now.getTime() ? null : (opening ?? completion)
  const lasting = (ms: number) => new Date((sendAt ?? now).getTime() + ms)
  const expiresAt = ttl === null ? (completion ?? lasting(LIFETIME_MS)) : lasting(ttl * 1000)
  return { sendAt, expiresAt, endsEarly: ttl !== null }
}
