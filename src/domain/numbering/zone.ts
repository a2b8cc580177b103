import { countryZoneOf } from '../../base/phone/countries.ts'
import { MOSCOW } from '../../base/time/local-time.ts'
import type { Classified } from './numbering.ts'

/** By whose clock a number's local times and hours are read: its subscriber's, unless Moscow's is asked for. */
export function zoneFor(
  { useLocalTime }: { useLocalTime?: boolean | undefined },
  number: Exclude<Classified, { kind: 'refused' }>,
): string {
  if (useLocalTime === false) return MOSCOW
  return number.kind === 'russian' ? number.place.zone : (countryZoneOf(number.country) ?? MOSCOW)
}
