import { MOST_ARRAY_EVENTS } from '../../domain/callbacks/callback.ts'
import { type CallbackRequest, type OpenBatch, type PendingEvent, postpone } from './session.ts'

/** Requests that are sent one after another. Different chains may be sent at the same time and in any order. */
export type Chain = CallbackRequest[]

/**
 * Divides the events that are left of the batches into requests. All events of a message are in one chain, in their
 * order: an array contains every event of each of its messages. The events of a message that was refused before are sent
 * one by one, also in the messaging API, so that a message that the receiver cannot process delays no other message.
 */
export function chainsOf(batches: OpenBatch[], holders: Map<string, number>): Chain[] {
  const chains: Chain[] = []
  const arrays = new Map<string, CallbackRequest>() // by address: the array that still has room
  for (const events of eventsByMessage(batches, holders)) {
    const { url } = events[0].batch
    const array = arrays.get(url)
    if (!mayShareArray(events)) {
      chains.push(events.map(event => [event]))
    } else if (array && array.length + events.length <= MOST_ARRAY_EVENTS) {
      array.push(...events)
    } else {
      arrays.set(url, events)
      chains.push([events])
    }
  }
  return chains
}

/** A message that is postponed in an earlier batch is postponed in the later batches, too. */
function eventsByMessage(batches: OpenBatch[], holders: Map<string, number>): Iterable<CallbackRequest> {
  const found = new Map<string, CallbackRequest>()
  const isPostponedBefore = ({ callbackId }: OpenBatch, messageUuid: string) =>
    holders.size > 0 && (holders.get(messageUuid) ?? callbackId) < callbackId
  for (const batch of batches) {
    for (const [index, { messageUuid }] of batch.events.entries()) {
      if (batch.done[index]) continue
      const events = found.get(messageUuid)
      if (isPostponedBefore(batch, messageUuid)) postpone(batch, messageUuid)
      else if (events) events.push({ batch, index, messageUuid })
      else found.set(messageUuid, [{ batch, index, messageUuid }])
    }
  }
  return found.values()
}

function mayShareArray(events: CallbackRequest): boolean {
  const { url } = events[0].batch
  const mayShare = ({ batch, messageUuid }: PendingEvent) =>
    batch.api === 'messaging' && batch.url === url && !batch.held.has(messageUuid)
  return events.length <= MOST_ARRAY_EVENTS && events.every(mayShare)
}
