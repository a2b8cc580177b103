import { instantOf, refusalOfTimes } from '../../base/time/local-time.ts'
import { nextOpening } from '../../base/time/sending-window.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import type { SingleOptions } from '../messages/single.ts'
import type { Classified } from '../numbering/numbering.ts'
import { zoneFor } from '../numbering/zone.ts'

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
  const sendAt = opening && opening <= now ? null : (opening ?? completion)
  return {
    sendAt,
    ...ending(options.ttl ?? null, { now, wanted, sendAt, completion }),
    completeBy: completion,
    ...(hours || days || endAt ? { window: { hours, days, zone: zone.name, endAt } } : {}),
  }
}

type Moments = { now: Date; wanted: Date | null; sendAt: Date | null; completion: Date | null }

/**
 * A ttl counts from acceptance, or from the wanted time of sending, and ends the message whether it was sent or still
 * waits for its hours and days: a code must not go out the next morning. Without a ttl waiting ends at the completion,
 * or after the common lifetime, which counts from the moment at which the message may go.
 */
function ending(ttl: number | null, { now, wanted, sendAt, completion }: Moments) {
  if (ttl === null) return { expiresAt: completion ?? later(sendAt ?? now, LIFETIME_MS), endsEarly: false }
  const start = wanted && wanted > now ? wanted : now
  return { expiresAt: later(start, ttl * 1000), endsEarly: true }
}

const later = (time: Date, ms: number) => new Date(time.getTime() + ms)
