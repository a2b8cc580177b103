import { LRUCache } from 'lru-cache'
import { comparableNumber, isSameNumber } from '../../../base/phone/same-number.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult, Unsure } from '../../channel.ts'

/** `session` counts the connections to the operator: it tells before which reconnect the message was submitted. */
type Owner = { companyId: number; uuid: string; destination: string; isContested: boolean; session: number }

const MOST_REMEMBERED = 200_000
/** The default: longer than an operator needs to answer and we need to record the answer. */
const UNSURE_FOR_MS = 40_000

/**
 * Remembers the ids of messages with one part that this process submitted. A receipt to the same process then gets our
 * own message id, and the database needs no search by the operator's id. An id is forgotten with its first receipt; if
 * there are too many, the oldest is forgotten. Other receipts keep the operator's id, also receipts for messages of other
 * processes.
 *
 * A restarted operator may count its ids from 1 again. Then a receipt may be for a message whose answer has not arrived
 * yet, and have the id of an older message to the same number. Such a receipt is passed on as unsure.
 */
export function rememberOwn(feed: Feed, { most = MOST_REMEMBERED, unsureForMs = UNSURE_FOR_MS } = {}) {
  // A bound by size grows with use. `max` would reserve all the memory for each gateway at once.
  const owners = new LRUCache<string, Owner>({ maxSize: most, sizeCalculation: () => 1 })
  const underWay = new Map<string, number>()
  let session = 0

  function remember({ companyId, uuid, destination }: Outgoing, result: SendResult) {
    const ids = idsOf(result)
    const before = owners.get(ids[0] ?? '')
    for (const id of ids) owners.delete(id) // operators reuse ids: the old message has no receipt to come
    const [id, ...others] = ids
    if (result.kind !== 'accepted' || id === undefined || others.length > 0) return
    const isContested = before !== undefined && isSameNumber(before.destination, destination)
    owners.set(id, { companyId, uuid, destination, isContested, session })
  }

  function named(receipt: Receipt): Receipt {
    if (!('providerId' in receipt.of) || receipt.of.isUnread) return receipt
    const owner = owners.get(receipt.of.providerId)
    const unsure = doubtOf(owner, receipt)
    if (unsure) return { ...receipt, unsure }
    if (!owner || !isSurely(owner, receipt)) return receipt
    owners.delete(receipt.of.providerId)
    const { companyId, uuid } = owner
    return { ...receipt, of: { companyId, uuid } }
  }

  /** The operator used this id twice for this number, or may have done so just now. */
  function doubtOf(owner: Owner | undefined, { subscriber }: Receipt): Unsure | undefined {
    const number = comparableNumber(subscriber)
    if (number === undefined) return undefined
    if (owner?.session !== session && underWay.has(number)) return { forMs: unsureForMs }
    // If only the newest message has no final status, the receipt is for the newest message.
    const isContested = owner?.isContested && isSameNumber(owner.destination, subscriber)
    return isContested ? { forMs: unsureForMs, unless: owner.uuid } : undefined
  }

  /** If the receipt has a number, it must be the number of the message, and no other message may share id and number. */
  const isSurely = ({ destination, isContested }: Owner, { subscriber }: Receipt) =>
    subscriber === undefined || (!isContested && isSameNumber(destination, subscriber))

  function count(number: string, change: number) {
    const left = (underWay.get(number) ?? 0) + change
    if (left > 0) underWay.set(number, left)
    else underWay.delete(number)
  }

  async function submit(channel: Pick<Channel, 'submit'>, ...[batch, report, mayGo]: Parameters<Channel['submit']>) {
    const started = new Map<number, string>()
    const start = (index: number) => {
      const number = comparableNumber(batch[index]?.destination)
      if (number === undefined || started.has(index)) return
      started.set(index, number)
      count(number, 1)
    }
    const end = (index: number) => {
      const number = started.get(index)
      if (number !== undefined) count(number, -1)
      started.delete(index)
    }
    const result = (index: number, result: SendResult) => {
      const message = batch[index]
      if (message) remember(message, result)
      end(index)
      report(index, result)
    }
    const ask = (index: number) => {
      const isAllowed = mayGo(index)
      if (isAllowed) start(index)
      return isAllowed
    }
    try {
      await channel.submit(batch, result, ask)
    } finally {
      for (const index of [...started.keys()]) end(index)
    }
  }

  return {
    feed: { ...feed, receipts: (batch: Receipt[]) => feed.receipts(batch.map(named)) },
    submitThrough:
      (channel: Pick<Channel, 'submit'>): Channel['submit'] =>
      (...given) =>
        submit(channel, ...given),
    /** There is a new connection: the operator may have been restarted since the last one. */
    reconnected() {
      session += 1
    },
  }
}

/** All ids in a result; of an incomplete message, the ids of the submitted parts. */
function idsOf(result: SendResult): string[] {
  if (result.kind === 'accepted') return result.providerIds ?? []
  return 'taken' in result ? Object.values(result.taken ?? {}) : []
}
