import { type Feed, type Inbound, type Receipt, timeOf } from '../channel.ts'
import type { Delivery } from './link.ts'
import { status } from './protocol/status.ts'
import { decodeInbound } from './protocol/text.ts'
import { Reassembly } from './reassembly.ts'
import type { MessageIds, NamedSubmission } from './receipts/message-ids.ts'
import { type FinalReceipt, isReceipt, momentOf, readReceipt } from './receipts/receipt.ts'
import type { SmppSettings } from './settings.ts'

type Respond = (status: number) => void
type WaitingReceipt = { receipt: FinalReceipt; subscriber: string; answer: Respond }

const RECEIPTS_AT_ONCE = 2000
/** While so many batches are being written, receipts collect for the next one: few large writes, not many small ones. */
const MOST_BATCHES = 16
/**
 * The first receipts whose ids have two possible readings wait so long in memory. Mostly the answers to their submissions
 * arrive meanwhile and decide. Later receipts go to the database unread, where all of them are judged together.
 */
const WAIT_FOR_READING_MS = 2000
const LOOK_AGAIN_MS = 50

/**
 * Passes incoming receipts (in batches) and messages (when they are complete) to the feed. Each is answered when the
 * feed has stored it.
 */
export class Deliveries {
  readonly #settings: SmppSettings
  readonly #ids: MessageIds
  readonly #feed: Feed
  readonly #due: { receipt: Receipt; answer: Respond }[] = []
  readonly #writing = new Set<Promise<void>>()
  readonly #reassembly: Reassembly
  #waiting: WaitingReceipt[] = []
  #waitUntil: number | undefined
  #looking: NodeJS.Timeout | undefined
  #isScheduled = false
  #isStopped = false

  constructor(settings: SmppSettings, ids: MessageIds, feed: Feed) {
    this.#settings = settings
    this.#ids = ids
    this.#feed = feed
    this.#reassembly = new Reassembly(message => feed.inbound(message))
  }

  take(pdu: Delivery, answer: Respond): void {
    this.#feed.submitCodes?.()
    if (isReceipt(pdu)) this.#takeReceipt(pdu, answer)
    else this.#takeMessage(pdu, answer)
  }

  /** Waits for the running writes. Receipts in memory are not answered: the SMSC delivers them again to the next bind. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#looking)
    await this.#reassembly.stop()
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  /** A receipt that is not final or cannot be read is acknowledged: otherwise the SMSC would only send it again. */
  #takeReceipt(pdu: Delivery, answer: Respond) {
    const receipt = readReceipt(pdu)
    if (!receipt?.status) return answer(status.ESME_ROK)
    const waiting = { receipt: { ...receipt, status: receipt.status }, subscriber: pdu.sourceAddr, answer }
    if (this.#enqueueIfNamed(waiting)) return
    this.#waitUntil ??= performance.now() + WAIT_FOR_READING_MS
    if (this.#ids.isLearnt || performance.now() >= this.#waitUntil) return this.#enqueueUnread(waiting)
    this.#waiting.push(waiting)
    this.#looking ??= setTimeout(() => this.#lookAgain(), LOOK_AGAIN_MS)
  }

  #lookAgain() {
    this.#looking = undefined
    const isOver = this.#waitUntil !== undefined && performance.now() >= this.#waitUntil
    this.#waiting = this.#waiting.filter(waiting => {
      const isNamed = this.#enqueueIfNamed(waiting)
      if (!isNamed && isOver) this.#enqueueUnread(waiting)
      return !isNamed && !isOver
    })
    if (this.#waiting.length > 0) this.#looking = setTimeout(() => this.#lookAgain(), LOOK_AGAIN_MS)
  }

  #enqueueIfNamed({ receipt, subscriber, answer }: WaitingReceipt): boolean {
    const named = this.#ids.receipted(receipt.id, subscriber)
    if (named) this.#enqueue(receipt, { providerId: named.providerId }, named, answer)
    return named !== undefined
  }

  #enqueueUnread({ receipt, subscriber, answer }: WaitingReceipt) {
    this.#enqueue(receipt, { providerId: receipt.id, isUnread: true }, { subscriber }, answer)
  }

  #enqueue(
    receipt: FinalReceipt,
    of: Receipt['of'],
    { subscriber }: Pick<NamedSubmission, 'subscriber'>,
    answer: Respond,
  ) {
    const passedOn = receiptOf(receipt, of, this.#settings.receiptZoneMinutes, timeOf(this.#feed))
    this.#due.push({ receipt: subscriber === undefined ? passedOn : { ...passedOn, subscriber }, answer })
    this.#schedule()
  }

  #schedule() {
    if (this.#isScheduled || this.#isStopped || this.#due.length === 0 || this.#writing.size >= MOST_BATCHES) return
    this.#isScheduled = true
    setImmediate(() => this.#passOnReceipts())
  }

  #passOnReceipts() {
    this.#isScheduled = false
    const batch = this.#due.splice(0, RECEIPTS_AT_ONCE)
    if (this.#isStopped || batch.length === 0) return
    const refused = new Set<number>()
    const stored = this.#feed.receipts(
      batch.map(({ receipt }) => receipt),
      index => refused.add(index),
    )
    this.#answerWhenStored(
      stored,
      batch.map(({ answer }) => answer),
      refused,
    )
    this.#schedule()
  }

  #takeMessage(pdu: Delivery, answer: Respond) {
    const { text, joined } = decodeInbound(pdu, this.#settings)
    const message: Inbound = { from: pdu.sourceAddr, to: pdu.destinationAddr, text, receivedAt: timeOf(this.#feed) }
    if (joined) this.#reassembly.add(message, joined, answer)
    else this.#answerWhenStored(this.#feed.inbound(message), [answer])
  }

  /** After a failed write the answer is a temporary error: the SMSC delivers again. `refused` has indexes of answers. */
  #answerWhenStored(stored: Promise<void>, answers: Respond[], refused: ReadonlySet<number> = new Set()) {
    const writing = stored
      .then(
        () => status.ESME_ROK,
        () => status.ESME_RX_T_APPN,
      )
      .then(code => {
        this.#writing.delete(writing)
        for (const [index, answer] of answers.entries()) answer(refused.has(index) ? status.ESME_RX_T_APPN : code)
        this.#schedule()
      })
    this.#writing.add(writing)
  }
}

function receiptOf(receipt: FinalReceipt, of: Receipt['of'], zoneMinutes: number | undefined, now: Date): Receipt {
  const { status: final, errorCode, operatorError, doneDate } = receipt
  const done = doneDate && zoneMinutes !== undefined ? momentOf(doneDate, zoneMinutes, now.getTime()) : undefined
  return {
    of,
    status: final,
    happenedAt: done ?? now,
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(operatorError === undefined || final === 'DELIVERED' ? {} : { operatorError }),
  }
}
