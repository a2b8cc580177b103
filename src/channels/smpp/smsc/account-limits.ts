import { Queue } from './queue.ts'

/** Limits each account to so many submissions in any period of one second. Throttled submissions do not count. */
export class AccountLimits {
  readonly #lastSecond = new Map<string, Queue<number>>()

  allows(systemId: string, perSecond: number): boolean {
    const now = performance.now()
    const moments = this.#lastSecond.get(systemId) ?? new Queue<number>()
    this.#lastSecond.set(systemId, moments)
    for (let first = moments.first(); first !== undefined && first <= now - 1000; first = moments.first()) {
      moments.shift()
    }
    if (moments.size >= perSecond) return false
    moments.push(now)
    return true
  }
}
