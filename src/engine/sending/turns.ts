/** Decides which kind of work is served next when several kinds wait for the same gateways. */
export type Turns = {
  /** The kind of work whose turn it is, among the kinds that have work. */
  next(isWaiting: (kind: number) => boolean): number | undefined
  served(kind: number, messages: number): void
}

/** A kind that was served less than its share may catch up on this much: about two chunks of the lightest kind. */
const MOST_ARREARS = 4000

/**
 * Shares the gateways by weight. Of two kinds with weights 4 and 1 that both have work, the first sends four messages for
 * each message of the second, and both are always served. A kind of infinite weight is served before all others.
 */
export function createTurns(weights: readonly number[]): Turns {
  /** `due`: messages that were sent, divided by the weight. The kind with the smallest value is next. */
  const kinds = weights.map((weight, kind) => ({ kind, weight, due: 0 }))

  return {
    next(isWaiting) {
      const waiting = kinds.filter(({ kind }) => isWaiting(kind))
      const [first, ...others] = waiting
      return first && others.reduce((next, other) => (other.due < next.due ? other : next), first).kind
    },
    served(kind, messages) {
      const served = kinds[kind]
      if (!served) throw new Error(`There is no kind of work ${kind}`)
      served.due += messages / served.weight
      const latest = Math.max(...kinds.map(({ due }) => due))
      for (const other of kinds)
        if (other.weight !== Number.POSITIVE_INFINITY) other.due = Math.max(other.due, latest - MOST_ARREARS)
    },
  }
}

/** The least that a chunk, or a group of small chunks, counts: the engine needs nearly as long for a small chunk as for a large one. */
export const LEAST_COST = 250
/** When more companies are remembered, the companies that had no more than their share are forgotten. */
const MOST_REMEMBERED = 1000

/**
 * Shares the engine between companies: the company that was served least is next. A company that had no work for a while
 * does not get that time later. A company with thousands of lanes gets as much as a company with a single lane.
 */
export class CompanyTurns {
  readonly #had = new Map<number, number>()
  readonly #attempts = new Map<number, number>()
  #share = 0
  /** Twice as many as were left the last time, so that looking through all of them costs little for each chunk. */
  #forgetAbove = MOST_REMEMBERED

  /** The company with the smallest value is next. */
  placeOf(companyId: number): number {
    return this.#servedUntil(companyId) + (this.#attempts.get(companyId) ?? 0)
  }

  #servedUntil(companyId: number): number {
    return Math.max(this.#had.get(companyId) ?? 0, this.#share)
  }

  /**
   * A lane was tried and could not send. It counts as one message, so that other companies come in between, until all
   * companies had their turn: it has used nothing of a gateway.
   */
  tried(companyId: number): void {
    this.#attempts.set(companyId, (this.#attempts.get(companyId) ?? 0) + 1)
  }

  /** Every company had its turn. */
  forgetAttempts(): void {
    this.#attempts.clear()
  }

  served(companyId: number, messages: number, leastCost = LEAST_COST): void {
    const before = this.#servedUntil(companyId)
    this.#share = before
    this.#had.set(companyId, before + Math.max(messages, leastCost))
    if (this.#had.size > this.#forgetAbove) this.#forget()
  }

  #forget() {
    for (const [companyId, had] of this.#had) if (had <= this.#share) this.#had.delete(companyId)
    this.#forgetAbove = Math.max(MOST_REMEMBERED, 2 * this.#had.size)
  }
}
