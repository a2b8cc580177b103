import { closesAt, nextOpening, type SendingWindow } from './sending-window.ts'

/** Messages that wait for the same hours; without a window they may go at any time. */
export type WaitingShare = { messages: number; window: SendingWindow | undefined }

/** Longer is not foreseen. */
const MOST_MS = 60 * 24 * 3_600_000
const MOST_STEPS = 1000

/**
 * When the last of these messages is handed over at a speed that they share. It goes from one moment to the next at which
 * the hours of a share begin or end: outside of them its messages wait, and after its last hour they are not sent at all.
 * Undefined when that takes longer than 60 days.
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

/** Shares that may still go, and from when on. */
const openingsOf = (shares: WaitingShare[], at: Date) =>
  shares.flatMap(share => {
    const opensAt = share.window ? nextOpening(share.window, at) : at
    return opensAt ? [{ share, opensAt }] : []
  })

/** When the open ones are all handed over, or the hours of one of them end. */
function doneOrClosed(open: WaitingShare[], perSecond: number, at: Date): Date[] {
  if (open.length === 0) return []
  const doneAt = new Date(at.getTime() + (sumOf(open) / perSecond) * 1000)
  return [doneAt, ...open.flatMap(({ window }) => (window && closesAt(window, at)) ?? [])]
}

/** They go in proportion to what waits of each. Less than half a message is none. */
function without(open: WaitingShare[], handed: number): WaitingShare[] {
  const rest = 1 - handed / sumOf(open)
  return open.map(share => ({ ...share, messages: share.messages * rest })).filter(({ messages }) => messages >= 0.5)
}

const sumOf = (shares: WaitingShare[]) => shares.reduce((sum, { messages }) => sum + messages, 0)
const earliest = (moments: Date[]) => new Date(Math.min(...moments.map(moment => moment.getTime())))
