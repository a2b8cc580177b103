/** Who goes first when several kinds of work wait for the same way out. */
export type Turns = {
  /** Of the kinds that have something waiting, the one whose turn it is. */
  next(isWaiting: (kind: number) => boolean): number | undefined
  served(kind: number, messages: number): void
}

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

/** The least that a chunk counts: small chunks cost the engine nearly as much as large ones. */
const LEAST_COST = 250
/** What an attempt counts of which nothing could be sent. */
const ATTEMPT_COST = 20
/** Companies that are remembered before those are forgotten that have no more than their share. */
const MOST_REMEMBERED = 1000

/**
 * Shares the engine between companies: the company that has had least goes next, and one that had nothing to send has
 * no claim to what it left. A company with thousands of lanes gets as much as one with a single lane.
 */
export class CompanyTurns {
  readonly #had = new Map<number, number>()
  #share = 0

  /** The company with the smallest one is next. */
  placeOf(companyId: number): number {
    return Math.max(this.#had.get(companyId) ?? 0, this.#share)
  }

  served(companyId: number, messages: number): void {
    const before = this.placeOf(companyId)
    this.#share = before
    this.#had.set(companyId, before + (messages > 0 ? Math.max(messages, LEAST_COST) : ATTEMPT_COST))
    if (this.#had.size > MOST_REMEMBERED) this.#forget()
  }

  #forget() {
    for (const [companyId, had] of this.#had) if (had <= this.#share) this.#had.delete(companyId)
  }
}
