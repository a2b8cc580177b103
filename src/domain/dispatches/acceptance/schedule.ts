import type { FieldMistake } from '../../../base/field-mistake.ts'
import { instantOf, MOSCOW, refusalOfTimes } from '../../../base/time/local-time.ts'
import { zoneFor } from '../../numbering/zone.ts'
import type { KnownNumber } from '../../routing/routing.ts'
import type { DispatchOptions } from '../dispatch.ts'

/** The zone of Russia in which a day ends last. */
const LAST_ZONE = 'Europe/Kaliningrad'

/** The time zone in which a message to this number is scheduled. */
export type ZoneOf = (number: KnownNumber) => string

/** Undefined if the messages of the dispatch may be sent at any time. */
export function zoneChooser(options: DispatchOptions | null): ZoneOf | undefined {
  if (!options) return undefined
  const { localSendTime, localCompletionTime, hours, days } = options
  if (!localSendTime && !localCompletionTime && !hours && !days) return undefined
  return number => zoneFor(options, number)
}

/** The times between which the lanes of a zone may send. */
export function laneTimes(options: DispatchOptions | null, zone: string | null) {
  const at = (local: string | undefined) => (zone ? instantOf(local, { name: zone }) : null)
  return { startAt: at(options?.localSendTime), endAt: at(options?.localCompletionTime) }
}

/** The mistake in the times of a dispatch. Its recipients are not known yet, so a day counts until it ends in the last zone. */
export const refusalOfDispatchTimes = (options: DispatchOptions, now: Date): FieldMistake | undefined =>
  refusalOfTimes(options, { name: options.useLocalTime === false ? MOSCOW : LAST_ZONE }, now)
