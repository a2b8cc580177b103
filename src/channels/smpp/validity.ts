import type { Outgoing } from '../channel.ts'
import type { SmppSettings } from './settings.ts'

const MOST_SECONDS = 99 * 86_400 // the days have two digits

/**
 * The validity period of a message: until its end, or as long as the settings of the gateway say. A message at its end
 * gets one second, because an empty period would mean the default of the operator, often days.
 */
export function validityOf(
  { expiresAt }: Pick<Outgoing, 'expiresAt'>,
  { validitySeconds, validityForm }: Pick<SmppSettings, 'validitySeconds' | 'validityForm'>,
  now = Date.now(),
): string {
  const seconds = expiresAt ? Math.max(1, Math.ceil((expiresAt.getTime() - now) / 1000)) : validitySeconds
  if (seconds <= 0) return ''
  const bounded = Math.min(seconds, MOST_SECONDS)
  return validityForm === 'absolute' ? absolute(new Date(now + bounded * 1000)) : relative(bounded)
}

/** Years, months, days, hours, minutes, seconds from now, then "000R". */
function relative(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const fields = [0, 0, days, Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
  return `${fields.map(field => String(field).padStart(2, '0')).join('')}000R`
}

/** YYMMDDhhmmss, tenths of a second (0), the distance from UTC in quarters of an hour (00), and "+". */
const absolute = (at: Date) => `${at.toISOString().replace(/\D/g, '').slice(2, 14)}000+`
