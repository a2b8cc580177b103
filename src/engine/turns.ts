/** Who goes first when several kinds of work wait for the same way out. */
export type Turns = {
  /** Of the kinds that have something waiting, the one whose turn it is. */
  next(isWaiting: (kind: number) => boolean): number | undefined
  served(kind: number, messages: number): void
}

/** The priority of authorization codes: they have a loop of their own, and wait for nobody. */
export const CODES = 0

/** Arrears of two chunks of the lightest kind are remembered: who had nothing to send for an hour has no claim to it. */
const MOST_ARREARS = 4000

/**
 * Shares the ways out by weight: of two kinds with weights 4 and 1 that both have work, the first gets four messages
 * out for each one of the second, and neither is ever left out. A kind of infinite weight goes before all others.
 */
export function createTurns(weights: readonly number[]): Turns {
  const due = weights.map(() => 0)

  return {
    next(isWaiting) {
      let first: number | undefined
      for (let kind = 0; kind < due.length; kind++) {
        if (isWaiting(kind) && (first === undefined || due[kind]! < due[first]!)) first = kind
      }
      return first
    },
    served(kind, messages) {
      due[kind]! += messages / weights[kind]!
      const latest = Math.max(...due)
      for (let other = 0; other < due.length; other++) {
        if (weights[other] === Number.POSITIVE_INFINITY) continue
        due[other] = Math.max(due[other]!, latest - MOST_ARREARS)
      }
    },
  }
}
