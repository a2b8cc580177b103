/** When so many different subscribers are refused in a row, the limit is not theirs but everyone's. */
const LIMITED_FOR_ALL = 3

export type Limits = ReturnType<typeof createLimits>

/**
 * Limits of one subscriber and limits of everyone look alike. So one refusal is the subscriber's own; refusals of
 * several subscribers in a row, with nobody let through between them, are everyone's.
 */
export function createLimits() {
  const limited = new Set<string>()
  return {
    passed: () => limited.clear(),

    /** Whether everyone is meant by the refusal that this subscriber's message met. */
    areForAll(subscriber: string): boolean {
      if (limited.size < LIMITED_FOR_ALL) limited.add(subscriber)
      return limited.size >= LIMITED_FOR_ALL
    },
  }
}
