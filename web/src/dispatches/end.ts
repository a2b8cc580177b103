import { endOfSending, type WaitingShare } from '../../../src/base/time/sending-end.ts'
import { nextOpening } from '../../../src/base/time/sending-window.ts'
import type { Wire } from '../api.ts'

/** The waiting messages of a dispatch with their sending windows. */
type Waiting = { waiting: number; hours: Wire<WaitingShare>[] }

/** The time at which the last message will be sent. Undefined if it is too far in the future. */
export const endBySpeed = (dispatch: Waiting, perSecond: number, now: Date): Date | undefined =>
  endOfSending(sharesOf(dispatch), perSecond, now)

/** The time at which the sending hours of a dispatch begin again. Undefined while some messages may be sent. */
export function goesOnAt(dispatch: Waiting, now: Date): Date | undefined {
  const openings = sharesOf(dispatch).map(({ window }) => (window ? nextOpening(window, now) : now))
  const [first] = openings.filter(moment => moment !== undefined).sort((a, b) => a.getTime() - b.getTime())
  return first && first > now ? first : undefined
}

/** The server reports the windows of waiting messages every ten seconds, but their number every second. */
function sharesOf({ hours, waiting }: Waiting): WaitingShare[] {
  const told = hours.reduce((sum, { messages }) => sum + messages, 0)
  if (told === 0) return [{ messages: waiting, window: undefined }]
  return hours.map(({ messages, window }) => ({
    messages: (messages * waiting) / told,
    window: window && { ...window, startAt: dateIn(window.startAt), endAt: dateIn(window.endAt) },
  }))
}

const dateIn = (moment: string | null | undefined) => (moment ? new Date(moment) : null)
