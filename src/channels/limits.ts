/** If so many different subscribers are limited in a row, the limit is not for one of them but for all. */
const LIMITED_FOR_ALL = 3

export type Limits = ReturnType<typeof createLimits>

/**
 * Tells limits for one subscriber from limits for all, although the provider answers the same to both. One limited
 * subscriber is a limit for this subscriber. Several in a row, without a sent message between them, are a limit for all.
 */
export function createLimits() {
  const limited = new Set<string>()
  return {
    passed: () => limited.clear(),

    /** Notes that this subscriber was limited. Returns whether the limit is for all. */
    areForAll(subscriber: string): boolean {
      if (limited.size < LIMITED_FOR_ALL) limited.add(subscriber)
      return limited.size >= LIMITED_FOR_ALL
    },
  }
}
