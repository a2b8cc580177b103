import type { StatusReport } from '../../domain/receipts/status-report.ts'

/** A gateway is prompt if so many of its last submissions had their receipts in time. */
const PROMPT = 0.9
/** How much one submission changes this share. */
const WEIGHT = 1 / 32
/** One of so many submissions through another gateway waits as well, to learn whether its receipts have become prompt. */
const ONE_OF = 16

/** Called with whether the receipt came in time. */
export type Waited = (came: boolean) => void
type Pace = { share: number; asked: number; waited: Waited }

/**
 * Learns for each gateway whether receipts come soon after their submissions. Then a submission can wait for its receipt, and
 * its message changes its status once instead of twice. A receipt counts only if this process matches it with its
 * message in memory: a receipt that another process gets would not find a submission that waits here.
 */
export class ReceiptPace {
  readonly #paces = new Map<number, Pace>()

  /** Undefined if the report should not wait for a receipt. */
  waitFor({ ids, sentAt, final }: StatusReport): Waited | undefined {
    const [providerId, ...others] = ids?.providerIds ?? []
    if (!ids || !sentAt || final || !providerId || others.length > 0) return undefined
    const pace = this.#paceOf(ids.gatewayId)
    pace.asked += 1
    return pace.share >= PROMPT || pace.asked % ONE_OF === 0 ? pace.waited : undefined
  }

  #paceOf(gatewayId: number): Pace {
    const known = this.#paces.get(gatewayId)
    if (known) return known
    const waited: Waited = came => {
      pace.share += ((came ? 1 : 0) - pace.share) * WEIGHT
    }
    const pace: Pace = { share: 0, asked: 0, waited }
    this.#paces.set(gatewayId, pace)
    return pace
  }
}
