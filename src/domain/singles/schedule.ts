import { instantOf, refusalOfTimes } from '../../base/time/local-time.ts'
import { nextOpening } from '../../base/time/sending-window.ts'
import { LIFETIME_MS } from '../messages/message.ts'
import type { SingleOptions } from '../messages/single.ts'
import type { Classified } from '../numbering/numbering.ts'
import { zoneFor } from '../numbering/zone.ts'

/**
 * Computes when a message may be sent and when it ends. Local times and hours are in the time zone of the subscriber, or of
 * Moscow if the client requests it. Returns the reason as a text if the times are wrong.
 */
export function scheduleOf(options: SingleOptions, number: Exclude<Classified, { kind: 'refused' }>, now: Date) {
  if (!hasTimes(options)) return { sendAt: null, ...ending(options.ttl ?? null, at(now)), completeBy: null }
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

/** Most messages have no times, and need no time zone. */
const hasTimes = ({ localSendTime, localCompletionTime, hours, days }: SingleOptions) =>
  (localSendTime ?? localCompletionTime ?? hours ?? days ?? null) !== null

const at = (now: Date): Moments => ({ now, wanted: null, sendAt: null, completion: null })

type Moments = { now: Date; wanted: Date | null; sendAt: Date | null; completion: Date | null }

/**
 * A ttl counts from acceptance or from the requested time of sending. It ends the message, sent or waiting: a code must not be
 * sent the next morning. Without a ttl, the wait ends at the completion time or after the common lifetime, which counts
 * from the first moment at which the message may be sent.
 */
function ending(ttl: number | null, { now, wanted, sendAt, completion }: Moments) {
  if (ttl === null) return { expiresAt: completion ?? later(sendAt ?? now, LIFETIME_MS), endsEarly: false }
  const start = wanted && wanted > now ? wanted : now
  return { expiresAt: later(start, ttl * 1000), endsEarly: true }
}

const later = (time: Date, ms: number) => new Date(time.getTime() + ms)
