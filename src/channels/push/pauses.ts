import { createLimits, type Limits } from '../limits.ts'
import type { PushResult } from './push-result.ts'

export type Pauses = ReturnType<typeof createPauses>
type Later = Extract<PushResult, { kind: 'later' }>
type Service = { limits: Limits; until: number; reason: string }

/** Endpoints are written by strangers: so many services are remembered, those that spoke last. */
const MOST_SERVICES = 1000

/**
 * Push services that asked to be left alone, by their origin. One that says "too fast" may mean one device or all of
 * ours; one that means all gets nothing before its time is over, and the others are served meanwhile.
 */
export function createPauses() {
  const services = new Map<string, Service>()

  /** Takes note of what a service said to a message for a subscriber, and passes it on. */
  function heard(origin: string, subscriber: string, result: PushResult, now: Date): PushResult {
    if (result.kind === 'later') refused(origin, subscriber, result, now)
    else services.get(origin)?.limits.passed()
    return result
  }

  function refused(origin: string, subscriber: string, { reason, retryAfterMs }: Later, now: Date) {
    const service = services.get(origin) ?? { limits: createLimits(), until: 0, reason }
    services.delete(origin)
    services.set(origin, service)
    if (services.size > MOST_SERVICES) services.delete(services.keys().next().value!)
    if (!service.limits.areForAll(subscriber)) return
    service.until = Math.max(service.until, now.getTime() + retryAfterMs)
    service.reason = reason
  }

  return {
    heard,

    /** What a service that is to be left alone would say; nothing when it may be called. */
    answerOf(origin: string, now: Date): PushResult | undefined {
      const { until = 0, reason = '' } = services.get(origin) ?? {}
      return until > now.getTime() ? { kind: 'paused', reason, retryAfterMs: until - now.getTime() } : undefined
    },
  }
}
