import { LRUCache } from 'lru-cache'
import { createLimits, type Limits } from '../limits.ts'
import type { PushResult } from './push-result.ts'

export type Pauses = ReturnType<typeof createPauses>
type Later = Extract<PushResult, { kind: 'later' }>
type Service = { limits: Limits; until: number; reason: string }

/** Endpoints come from strangers, so the memory is bounded: only the last services are remembered. */
const MOST_SERVICES = 1000

/**
 * Paused push services, by origin. A service that throttles may mean one device or all messages. If it means all, it
 * gets no messages during the pause, while other services do.
 */
export function createPauses() {
  const services = new LRUCache<string, Service>({ max: MOST_SERVICES })

  /** Notes the answer of a service to a message for a subscriber, and returns it. */
  function heard(origin: string, subscriber: string, result: PushResult, now: Date): PushResult {
    if (result.kind === 'later') refused(origin, subscriber, result, now)
    else services.get(origin)?.limits.passed()
    return result
  }

  function refused(origin: string, subscriber: string, { reason, retryAfterMs }: Later, now: Date) {
    const service = services.get(origin) ?? { limits: createLimits(), until: 0, reason }
    services.set(origin, service)
    if (!service.limits.areForAll(subscriber)) return
    service.until = Math.max(service.until, now.getTime() + retryAfterMs)
    service.reason = reason
  }

  return {
    heard,

    /** The result for a message to a paused service; undefined if the service may be called. */
    answerOf(origin: string, now: Date): PushResult | undefined {
      const { until = 0, reason = '' } = services.get(origin) ?? {}
      return until > now.getTime() ? { kind: 'paused', reason, retryAfterMs: until - now.getTime() } : undefined
    },
  }
}
