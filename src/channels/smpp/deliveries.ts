import { type Feed, type Inbound, type Receipt, timeOf } from '../channel.ts'
import type { Delivery } from './link.ts'
import { status } from './protocol/status.ts'
import { decodeInbound } from './protocol/text.ts'
import { createReassembly } from './reassembly.ts'
import type { MessageIds, NamedSubmission } from './receipts/message-ids.ts'
import { isReceipt, momentOf, readReceipt, type SmscReceipt } from './receipts/receipt.ts'
import type { SmppSettings } from './settings.ts'

type Respond = (status: number) => void

export type Deliveries = {
  take(pdu: Delivery, answer: Respond): void
  /** Hands on what was acknowledged and not complete. */
  stop(): Promise<void>
}

const RECEIPTS_AT_ONCE = 2000
/** While so many batches are being written, receipts gather for the next: few large writes instead of many small. */
const BATCHES_UNDER_WAY = 16
/**
 * The first receipts whose ids cannot be read yet wait so long in memory: mostly their submissions are answered then, and
 * tell. What is unread after that is acknowledged when it is kept in the database, where all of them are judged together.
 */
const HOLD_RECEIPT_MS = 2000
const LOOK_AGAIN_MS = 50

/** What comes in: receipts go on in batches, messages when they are whole; all is answered when the feed has it. */
export function createDeliveries(settings: SmppSettings, ids: MessageIds, feed: Feed): Deliveries {
  const due: { receipt: Receipt; answer: Respond }[] = []
  let held: { receipt: SmscReceipt; subscriber: string; answer: Respond }[] = []
  let holdUntil: number | undefined
  const underWay = new Set<Promise<void>>()
  const reassembly = createReassembly(message => passOn(message))
  let isScheduled = false
  let stopped = false
  let looking: NodeJS.Timeout | undefined

  function take(pdu: Delivery, answer: Respond) {
    if (isReceipt(pdu)) takeReceipt(pdu, answer)
    else takeMessage(pdu, answer)
  }

  /** What ends nothing, or cannot be read, is acknowledged all the same: it would only come again. */
  function takeReceipt(pdu: Delivery, answer: Respond) {
    const receipt = readReceipt(pdu)
    if (!receipt?.status) return answer(status.ESME_ROK)
    const subscriber = pdu.sourceAddr
    const named = ids.receipted(receipt.id, subscriber)
    if (named) return enqueue(receipt, named, answer)
    holdUntil ??= performance.now() + HOLD_RECEIPT_MS
    if (ids.isLearnt || performance.now() >= holdUntil) return enqueueUnread(receipt, subscriber, answer)
    held.push({ receipt, subscriber, answer })
    looking ??= setTimeout(lookAgain, LOOK_AGAIN_MS)
  }

  function lookAgain() {
    looking = undefined
    const isOver = performance.now() >= holdUntil!
    held = held.filter(({ receipt, subscriber, answer }) => {
      const named = ids.receipted(receipt.id, subscriber)
      if (named) enqueue(receipt, named, answer)
      else if (isOver) enqueueUnread(receipt, subscriber, answer)
      return !named && !isOver
    })
    if (held.length > 0) looking = setTimeout(lookAgain, LOOK_AGAIN_MS)
  }

  function enqueue(receipt: SmscReceipt, named: NamedSubmission, answer: Respond) {
    const { providerId, subscriber } = named
    const told = toldAs(receipt, { providerId }, settings.receiptZoneMinutes, timeOf(feed))
    due.push({ receipt: subscriber === undefined ? told : { ...told, subscriber }, answer })
    schedule()
  }

  function enqueueUnread(receipt: SmscReceipt, subscriber: string, answer: Respond) {
    const of = { providerId: receipt.id, isUnread: true }
    const told = toldAs(receipt, of, settings.receiptZoneMinutes, timeOf(feed))
    due.push({ receipt: { ...told, subscriber }, answer })
    schedule()
  }

  function schedule() {
    if (isScheduled || stopped || due.length === 0 || underWay.size >= BATCHES_UNDER_WAY) return
    isScheduled = true
    setImmediate(passOnReceipts)
  }

  function passOnReceipts() {
    isScheduled = false
    const batch = due.splice(0, RECEIPTS_AT_ONCE)
    if (stopped || batch.length === 0) return
    follow(
      feed.receipts(batch.map(({ receipt }) => receipt)),
      batch.map(({ answer }) => answer),
    )
    schedule()
  }

  function takeMessage(pdu: Delivery, answer: Respond) {
    const { text, joined } = decodeInbound(pdu, settings)
    const message: Inbound = { from: pdu.sourceAddr, to: pdu.destinationAddr, text, receivedAt: timeOf(feed) }
    if (joined) reassembly.add(message, joined, answer)
    else follow(passOn(message), [answer])
  }

  const passOn = (message: Inbound) => feed.inbound(message)

  /** Answers when it is safe; when it is not, "later": the SMSC delivers it again. */
  function follow(written: Promise<void>, answers: Respond[]) {
    const followed = written
      .then(
        () => status.ESME_ROK,
        () => status.ESME_RX_T_APPN,
      )
      .then(code => {
        underWay.delete(followed)
        for (const answer of answers) answer(code)
        schedule()
      })
    underWay.add(followed)
  }

  /** What waits is not answered, and so comes again: to the next who binds. */
  async function stop() {
    stopped = true
    clearTimeout(looking)
    await reassembly.stop()
    while (underWay.size > 0) await Promise.all(underWay)
  }

  return { take, stop }
}

function toldAs(receipt: SmscReceipt, of: Receipt['of'], zoneMinutes: number | undefined, now: Date): Receipt {
  const { status: ended, errorCode, operatorError, doneDate } = receipt
  const done = doneDate && zoneMinutes !== undefined ? momentOf(doneDate, zoneMinutes, now.getTime()) : undefined
  return {
    of,
    status: ended!,
    happenedAt: done ?? now,
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(operatorError === undefined || ended === 'DELIVERED' ? {} : { operatorError }),
  }
}
