import type { StoredEvent } from './callback.ts'
import type { StoredMessagingEvent } from './messaging-event.ts'

/** The name of an event, for example `delivered` or `click`. */
export function nameOfEvent(event: StoredEvent | StoredMessagingEvent): string {
  if ('event' in event) return event.event
  return event.kind === 'status' ? event.status : event.kind
}
