import { comparableNumber, isSameNumber } from '../../../base/phone/same-number.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult, Unsure } from '../../channel.ts'
import { RecentMap } from './recent-map.ts'

/** `session` counts the connections to the operator: it tells before which reconnect the message was submitted. */
type Owner = { companyId: number; uuid: string; destination: string; isContested: boolean; session: number }

const MOST_REMEMBERED = 100_000
/** Longer than most receipts need. An operator may send the receipts to another process, so ids are not kept for long. */
const REMEMBERED_FOR_MS = 240_000
/** The default: longer than an operator needs to answer and we need to record the answer. */
const UNSURE_FOR_MS = 40_000

/**
 * Remembers the ids of messages with one part that this process submitted. A receipt to the same process then gets our
 * own message id, and the database needs no search by the operator's id. An id is forgotten with its first receipt, and
 * after some minutes. Other receipts keep the operator's id, also receipts for messages of other processes.
 *
 * A restarted operator may count its ids from 1 again. Then a receipt may be for a message whose answer has not arrived
 * yet, and have the id of an older message to the same number. Such a receipt is passed on as unsure.
 */
export class OwnIds {
  /** The given feed, with our own message ids in the receipts. */
  readonly feed: Feed
  readonly #unsureForMs: number
  readonly #owners: RecentMap<string, Owner>
  /** How many messages to a number are submitted and not answered yet. */
  readonly #unanswered = new Map<string, number>()
  #session = 0

  constructor(feed: Feed, { unsureForMs = UNSURE_FOR_MS, clock = () => performance.now() } = {}) {
    this.feed = {
      ...feed,
      receipts: (batch, refuse) =>
        feed.receipts(
          batch.map(receipt => this.#named(receipt)),
          refuse,
        ),
    }
    this.#unsureForMs = unsureForMs
    this.#owners = new RecentMap({ most: MOST_REMEMBERED, forMs: REMEMBERED_FOR_MS, clock })
  }

  /** There is a new connection: the operator may have been restarted since the last one. */
  reconnected(): void {
    this.#session += 1
  }

  submitThrough(channel: Pick<Channel, 'submit'>): Channel['submit'] {
    return (...given) => this.#submit(channel, ...given)
  }

  async #submit(channel: Pick<Channel, 'submit'>, ...[batch, report, mayGo]: Parameters<Channel['submit']>) {
    const started = new Map<number, string>()
    const onResult = (index: number, result: SendResult) => {
      const message = batch[index]
      if (message) this.#remember(message, result)
      this.#end(started, index)
      report(index, result)
    }
    const onAsk = (index: number) => {
      const isAllowed = mayGo(index)
      if (isAllowed) this.#start(started, index, batch[index])
      return isAllowed
    }
    try {
      await channel.submit(batch, onResult, onAsk)
    } finally {
      for (const index of [...started.keys()]) this.#end(started, index)
    }
  }

  /** `started` has the numbers of a batch's messages without an answer, by index. */
  #start(started: Map<number, string>, index: number, message: Outgoing | undefined) {
    const number = comparableNumber(message?.destination)
    if (number === undefined || started.has(index)) return
    started.set(index, number)
    this.#count(number, 1)
  }

  #end(started: Map<number, string>, index: number) {
    const number = started.get(index)
    if (number !== undefined) this.#count(number, -1)
    started.delete(index)
  }

  #count(number: string, change: number) {
    const left = (this.#unanswered.get(number) ?? 0) + change
    if (left > 0) this.#unanswered.set(number, left)
    else this.#unanswered.delete(number)
  }

  #remember({ companyId, uuid, destination }: Outgoing, result: SendResult) {
    const ids = idsOf(result)
    const before = this.#owners.get(ids[0] ?? '')
    for (const id of ids) this.#owners.delete(id) // operators reuse ids: the old message has no receipt to come
    const [id, ...others] = ids
    if (result.kind !== 'accepted' || id === undefined || others.length > 0) return
    const isContested = before !== undefined && isSameNumber(before.destination, destination)
    this.#owners.set(id, { companyId, uuid, destination, isContested, session: this.#session })
  }

  #named(receipt: Receipt): Receipt {
    if (!('providerId' in receipt.of) || receipt.of.isUnread) return receipt
    const owner = this.#owners.get(receipt.of.providerId)
    const unsure = this.#doubtOf(owner, receipt)
    if (unsure) return { ...receipt, unsure }
    if (!owner || !isSurely(owner, receipt)) return receipt
    this.#owners.delete(receipt.of.providerId)
    const { companyId, uuid } = owner
    return { ...receipt, of: { companyId, uuid } }
  }

  /** The operator used this id twice for this number, or may have done so just now. */
  #doubtOf(owner: Owner | undefined, { subscriber }: Receipt): Unsure | undefined {
    const number = comparableNumber(subscriber)
    if (number === undefined) return undefined
    if (owner?.session !== this.#session && this.#unanswered.has(number)) return { forMs: this.#unsureForMs }
    // If only the newest message has no final status, the receipt is for the newest message.
    const isContested = owner?.isContested && isSameNumber(owner.destination, subscriber)
    return isContested ? { forMs: this.#unsureForMs, unless: owner.uuid } : undefined
  }
}

/** If the receipt has a number, it must be the number of the message, and no other message may share id and number. */
const isSurely = ({ destination, isContested }: Owner, { subscriber }: Receipt) =>
  subscriber === undefined || (!isContested && isSameNumber(destination, subscriber))

/** All ids in a result; of an incomplete message, the ids of the submitted parts. */
function idsOf(result: SendResult): string[] {
  if (result.kind === 'accepted') return result.providerIds ?? []
  return 'taken' in result ? Object.values(result.taken ?? {}) : []
}
