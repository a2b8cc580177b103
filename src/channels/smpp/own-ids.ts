import { isSameNumber } from '../../base/same-number.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from '../channel.ts'

type Owner = { companyId: number; uuid: string; destination: string; isContested: boolean }

const MOST_REMEMBERED = 200_000

/**
 * Remembers the ids under which messages of one part were taken here, so that a receipt that comes back to the same
 * process names our own message, and nobody has to be asked for it. Each is forgotten with its first receipt, and the
 * oldest when there are too many: what is not remembered goes by the operator's id, as does what others submitted.
 */
export function rememberOwn(feed: Feed, most = MOST_REMEMBERED) {
  const owners = new Map<string, Owner>()

  function remember({ companyId, uuid, destination }: Outgoing, result: SendResult) {
    const ids = idsOf(result)
    const before = owners.get(ids[0] ?? '')
    for (const id of ids) owners.delete(id) // operators use their ids again: the old owner has nothing to come
    if (result.kind !== 'accepted' || ids.length !== 1) return
    const isContested = before !== undefined && isSameNumber(before.destination, destination)
    owners.set(ids[0]!, { companyId, uuid, destination, isContested })
    if (owners.size > most) owners.delete(owners.keys().next().value!)
  }

  function named(receipt: Receipt): Receipt {
    if (!('providerId' in receipt.of)) return receipt
    const owner = receipt.of.isUnread ? undefined : owners.get(receipt.of.providerId)
    if (!owner || !isSurely(owner, receipt)) return receipt
    owners.delete(receipt.of.providerId)
    const { companyId, uuid } = owner
    return { ...receipt, of: { companyId, uuid } }
  }

  /** Where the number counts: it is the owner's, and no other message to it waits for a receipt under the same id. */
  const isSurely = ({ destination, isContested }: Owner, { subscriber }: Receipt) =>
    subscriber === undefined || (!isContested && isSameNumber(destination, subscriber))

  return {
    feed: { ...feed, receipts: (batch: Receipt[]) => feed.receipts(batch.map(named)) },
    submitThrough:
      (channel: Channel): Channel['submit'] =>
      (batch, report, mayGo) =>
        channel.submit(
          batch,
          (index, result) => {
            remember(batch[index]!, result)
            report(index, result)
          },
          mayGo,
        ),
  }
}

/** Every id that a result names; of a message of several parts that went in part only, those of the parts taken. */
function idsOf(result: SendResult): string[] {
  if (result.kind === 'accepted') return result.providerIds ?? []
  return 'taken' in result ? Object.values(result.taken ?? {}) : []
}
