import { LRUCache } from 'lru-cache'
import { jwt, secondsOf } from './jwt.ts'
import type { VapidSettings } from './settings.ts'

/** The standard allows a day. Half of it leaves room for a wrong clock. */
const LIFETIME_SECONDS = 12 * 3600
const RENEW_BEFORE_SECONDS = 3600
/** Origins come from strangers, so the memory is bounded: the oldest is forgotten. */
const MOST_ORIGINS = 1000

/** Identifies us to push services (RFC 8292): one token for each origin, signed again before its end. */
export function createVapid({ publicKey, privateKey, subject }: VapidSettings) {
  const signed = new LRUCache<string, { header: string; renewAt: number }>({ max: MOST_ORIGINS })

  function authorization(origin: string, now: Date): string {
    const seconds = secondsOf(now)
    const known = signed.peek(origin)
    return known && seconds < known.renewAt ? known.header : remember(origin, seconds)
  }

  function remember(origin: string, seconds: number): string {
    const exp = seconds + LIFETIME_SECONDS
    const header = `vapid t=${jwt('ES256', { aud: origin, exp, sub: subject }, privateKey)}, k=${publicKey}`
    signed.set(origin, { header, renewAt: exp - RENEW_BEFORE_SECONDS })
    return header
  }

  return { authorization }
}
