import { closesAt, nextOpening, type SendingWindow } from './sending-window.ts'

/** Messages with the same sending window. Without a window they may be sent at any time. */
export type WaitingShare = { messages: number; window: SendingWindow | undefined }

/** Later ends are not estimated. */
const MOST_MS = 60 * 24 * 3_600_000
const MOST_STEPS = 1000

/**
 * Estimates when the last of these messages is submitted. All messages share one speed. The loop advances to the next
 * moment at which the hours of a share begin or end. Messages wait outside their hours, and are not sent after the last
 * hour. Undefined when the end is more than 60 days away.
 */
export function endOfSending(shares: WaitingShare[], perSecond: number, now: Date): Date | undefined {
  const lastMs = now.getTime() + MOST_MS
  let left = shares.filter(({ messages }) => messages > 0)
  let at = now
  for (let step = 0; step < MOST_STEPS && at.getTime() <= lastMs; step += 1) {
    const openings = openingsOf(left, at)
    if (openings.length === 0) return at
    const open = openings.filter(({ opensAt }) => opensAt <= at).map(({ share }) => share)
    const later = openings.filter(({ opensAt }) => opensAt > at)
    const next = earliest([...doneOrClosed(open, perSecond, at), ...later.map(({ opensAt }) => opensAt)])
    const handed = (perSecond * (next.getTime() - at.getTime())) / 1000
    left = [...without(open, handed), ...later.map(({ share }) => share)]
    at = next
  }
  return undefined
}

/** The shares that may still be sent, and the start of each. */
const openingsOf = (shares: WaitingShare[], at: Date) =>
  shares.flatMap(share => {
    const opensAt = share.window ? nextOpening(share.window, at) : at
    return opensAt ? [{ share, opensAt }] : []
  })

/** The moment when all open shares are submitted, or when the hours of one of them end. */
function doneOrClosed(open: WaitingShare[], perSecond: number, at: Date): Date[] {
  if (open.length === 0) return []
  const doneAt = new Date(at.getTime() + (sumOf(open) / perSecond) * 1000)
  return [doneAt, ...open.flatMap(({ window }) => (window && closesAt(window, at)) ?? [])]
}

/** The shares are sent in proportion to their waiting messages. A rest of less than half a message counts as zero. */
function without(open: WaitingShare[], handed: number): WaitingShare[] {
  const rest = 1 - handed / sumOf(open)
  return open.map(share => ({ ...share, messages: share.messages * rest })).filter(({ messages }) => messages >= 0.5)
}

const sumOf = (shares: WaitingShare[]) => shares.reduce((sum, { messages }) => sum + messages, 0)
const earliest = (moments: Date[]) => new Date(Math.min(...moments.map(moment => moment.getTime())))
