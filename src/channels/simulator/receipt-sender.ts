import { errorCodes } from '../../base/error-codes.ts'
import { type Feed, type Outgoing, type Receipt, timeOf } from '../channel.ts'
import { plannedReceipts } from './planned-receipts.ts'
import type { SimulatorSettings } from './settings.ts'

export type SimulatedMessage = Pick<Outgoing, 'companyId' | 'uuid' | 'destination'>

const RECEIPTS_AT_ONCE = 2000
/** The most batches of receipts without an acknowledgement, like the window of an operator. */
const BATCHES_UNDER_WAY = 8
/** Receipts without an acknowledgement are sent again after this time. */
const SEND_AGAIN_MS = 500
const COLLECT_EVERY_MS = 50

/** Sends due receipts in batches. Receipts without a delay wait only for the end of the turn of the event loop. */
export class ReceiptSender {
  readonly #settings: SimulatorSettings
  readonly #feed: Feed
  readonly #due: Receipt[] = []
  #later: { at: number; receipt: Receipt }[] = []
  #timer: NodeJS.Timeout | undefined
  readonly #batches = new Set<Promise<void>>()
  #isScheduled = false
  #isStopped = false

  constructor(settings: SimulatorSettings, feed: Feed) {
    this.#settings = settings
    this.#feed = feed
  }

  /** Sends the receipts of a message, one for each of the operator's ids. Without them, the receipts name our own id. */
  send(message: SimulatedMessage, providerIds: string[] | undefined): void {
    const { companyId, uuid, destination } = message
    for (const { status, afterMs } of plannedReceipts(destination, this.#settings)) {
      if (!providerIds) this.#plan(this.#receiptOf({ companyId, uuid }, status, afterMs), afterMs)
      else for (const providerId of providerIds) this.#plan(this.#receiptOf({ providerId }, status, afterMs), afterMs)
    }
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await Promise.all(this.#batches)
  }

  #receiptOf(of: Receipt['of'], status: Receipt['status'], afterMs: number): Receipt {
    const now = timeOf(this.#feed)
    const receipt: Receipt = { of, status, happenedAt: afterMs > 0 ? new Date(now.getTime() + afterMs) : now }
    if (status === 'FAILED') receipt.errorCode = errorCodes.undelivered
    return receipt
  }

  #plan(receipt: Receipt, afterMs: number) {
    if (afterMs > 0) this.#later.push({ at: performance.now() + afterMs, receipt })
    else this.#due.push(receipt)
  }

  #schedule() {
    if (this.#due.length > 0 && !this.#isScheduled && this.#batches.size < BATCHES_UNDER_WAY) {
      this.#isScheduled = true
      setImmediate(() => this.#sendDue())
    }
    if (this.#later.length > 0 && !this.#timer && !this.#isStopped)
      this.#timer = setTimeout(() => this.#collectDue(), COLLECT_EVERY_MS)
  }

  #collectDue() {
    this.#timer = undefined
    const now = performance.now()
    for (const { at, receipt } of this.#later) if (at <= now) this.#due.push(receipt)
    this.#later = this.#later.filter(({ at }) => at > now)
    this.#schedule()
  }

  #sendDue() {
    this.#isScheduled = false
    if (this.#isStopped) return
    while (this.#due.length > 0 && this.#batches.size < BATCHES_UNDER_WAY) {
      const receipts = this.#due.splice(0, RECEIPTS_AT_ONCE)
      const refuse = (index: number) => this.#sendAgain(receipts.slice(index, index + 1))
      const batch = this.#feed.receipts(receipts, refuse).catch(() => this.#sendAgain(receipts))
      this.#batches.add(batch)
      void batch.then(() => {
        this.#batches.delete(batch)
        this.#schedule()
      })
    }
  }

  #sendAgain(receipts: Receipt[]) {
    for (const receipt of receipts) this.#plan(receipt, SEND_AGAIN_MS)
  }
}
