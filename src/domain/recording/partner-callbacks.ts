import type { StatusEvent } from '../callbacks/callbacks.ts'
import type { StatusChange } from '../messages/messages.ts'
import type { Dispatches, DispatchSummary } from './store.ts'

/** The events of dispatches of the partner API, by the address that wants them. */
export function partnerCallbacks(changes: StatusChange[], dispatches: Dispatches) {
  const byUrl = new Map<string, StatusEvent[]>()
  for (const change of changes) {
    const dispatch = change.dispatchId === null ? undefined : dispatches.get(change.dispatchId)
    if (dispatch?.api !== 'partner' || !dispatch.callbackUrl) continue
    const events = eventsOf(change, dispatch)
    const known = byUrl.get(dispatch.callbackUrl)
    if (known) known.push(...events)
    else if (events.length > 0) byUrl.set(dispatch.callbackUrl, events)
  }
  return [...byUrl].map(([url, events]) => ({ url, events }))
}

const EVENTS = { SENT: 'sent', DELIVERED: 'delivered', FAILED: 'failed' } as const

/** A message that went straight to its final status was also sent: the client gets both events, in that order. */
function eventsOf(change: StatusChange, { callbackEvents }: DispatchSummary): StatusEvent[] {
  const wasSentToo = change.from === 'CREATED' && change.to !== 'SENT' && change.sent
  return [
    ...(wasSentToo ? [eventOf(change, 'sent', change.sentAt ?? change.at)] : []),
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
