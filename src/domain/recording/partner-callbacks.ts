import type { EventForUrl, StatusEvent } from '../callbacks/callbacks.ts'
import { type StatusChange, skippedSent } from '../messages/messages.ts'
import type { Dispatches, DispatchSummary } from './store.ts'

/** The events of dispatches of the partner API, each with the address that asked for it. */
export function partnerCallbacks(changes: StatusChange[], dispatches: Dispatches): EventForUrl<StatusEvent>[] {
  return changes.flatMap(change => {
    const dispatch = change.dispatchId === null ? undefined : dispatches.get(change.dispatchId)
    if (dispatch?.api !== 'partner' || !dispatch.callbackUrl) return []
    const url = dispatch.callbackUrl
    return eventsOf(change, dispatch).map(event => ({ url, event }))
  })
}

const EVENTS = { SENT: 'sent', DELIVERED: 'delivered', FAILED: 'failed' } as const

/** A client learns of a skipped sending before the final status. */
function eventsOf(change: StatusChange, { callbackEvents }: DispatchSummary): StatusEvent[] {
  return [
    ...(skippedSent(change) ? [eventOf(change, 'sent', change.sentAt ?? change.at)] : []),
    eventOf(change, EVENTS[change.to], change.at),
  ].filter(({ event }) => callbackEvents.includes(event))
}

const eventOf = (
  { uuid, destination, errorCode }: StatusChange,
  event: StatusEvent['event'],
  at: Date,
): StatusEvent => ({
  event,
  messageUuid: uuid,
  destination,
  at,
  ...(errorCode === null ? {} : { errorCode }),
})
