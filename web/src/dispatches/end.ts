import { endOfSending, type WaitingShare } from '../../../src/base/sending-end.ts'
import { nextOpening } from '../../../src/base/sending-window.ts'
import type { Wire } from '../api.ts'

/** What waits of a dispatch, and for which hours. */
type Waiting = { waiting: number; hours: Wire<WaitingShare>[] }

/** When the last message will be handed over; undefined when that takes longer than can be foreseen. */
export const endBySpeed = (dispatch: Waiting, perSecond: number, now: Date): Date | undefined =>
  endOfSending(sharesOf(dispatch), perSecond, now)

/** When the hours of a dispatch begin again; undefined while some of its messages may go. */
export function goesOnAt(dispatch: Waiting, now: Date): Date | undefined {
  const openings = sharesOf(dispatch).map(({ window }) => (window ? nextOpening(window, now) : now))
  const [first] = openings.filter(moment => moment !== undefined).sort((a, b) => a.getTime() - b.getTime())
  return first && first > now ? first : undefined
}

/** The server tells every ten seconds for which hours messages wait; how many wait may be known by the second. */
function sharesOf({ hours, waiting }: Waiting): WaitingShare[] {
  const told = hours.reduce((sum, { messages }) => sum + messages, 0)
  if (told === 0) return [{ messages: waiting, window: undefined }]
  return hours.map(({ messages, window }) => ({
    messages: (messages * waiting) / told,
    window: window && { ...window, startAt: dateIn(window.startAt), endAt: dateIn(window.endAt) },
  }))
}

const dateIn = (moment: string | null | undefined) => (moment ? new Date(moment) : null)
