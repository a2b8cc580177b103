import { MOST_ARRAY_EVENTS } from '../../domain/callbacks/callback.ts'
import { hold, type Item, type OpenBatch, type Parcel } from './session.ts'

/** Requests that go one after another; chains may go in any order and at once. */
export type Chain = Parcel[]

/**
 * What is left of the batches, made ready to go. A message is in one chain only, with its events in their order: an
 * array carries all that there is to tell of its messages. A message that was refused before goes by itself, event by
 * event, whatever the format: if it is to blame, it holds up nobody else.
 */
export function chainsOf(batches: OpenBatch[], holders: Map<string, number>): Chain[] {
  const chains: Chain[] = []
  const arrays = new Map<string, Parcel>() // by address, the one that has room
  for (const items of itemsByMessage(batches, holders)) {
    const array = arrays.get(items[0]!.batch.url)
    if (!mayShareArray(items)) {
      chains.push(items.map(item => [item]))
    } else if (array && array.length + items.length <= MOST_ARRAY_EVENTS) {
      array.push(...items)
    } else {
      arrays.set(items[0]!.batch.url, items)
      chains.push([items])
    }
  }
  return chains
}

/** A message that an earlier batch holds is left behind. */
function itemsByMessage(batches: OpenBatch[], holders: Map<string, number>): Iterable<Item[]> {
  const found = new Map<string, Item[]>()
  for (const batch of batches) {
    for (const [index, { messageUuid }] of batch.events.entries()) {
      if (batch.done[index]) continue
      const items = found.get(messageUuid)
      if (holders.size > 0 && holders.get(messageUuid)! < batch.callbackId) hold(batch, messageUuid)
      else if (items) items.push({ batch, index })
      else found.set(messageUuid, [{ batch, index }])
    }
  }
  return found.values()
}

function mayShareArray(items: Item[]): boolean {
  const { url } = items[0]!.batch
  return (
    items.length <= MOST_ARRAY_EVENTS &&
    items.every(({ batch, index }) => {
      const wasRefused = batch.held.has(batch.events[index]!.messageUuid)
      return batch.format === 'messaging' && batch.url === url && !wasRefused
    })
  )
}
