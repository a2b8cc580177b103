/** How much may be under way on a bind, given what the operator says to it. */
export type Pace = {
  /** Free places in the window; none during a pause. */
  room(open: number, now: number): number
  accepted(): void
  /** The operator said "too fast". Gives the pause that follows. */
  throttled(now: number): number
  pausedMs(now: number): number
  readonly window: number
}

const FIRST_PAUSE_MS = 250
const MOST_PAUSE_MS = 8000
/** So many accepted in a row, or a whole window, and the next pause is a first one again: the last one has helped. */
const FORGIVEN_AFTER = 20

/**
 * Slows a bind down as TCP slows down: the window is halved when the operator throttles, and grows again by one with
 * every window's worth of accepted messages. Nothing is sent during a pause, which doubles as long as it does not help;
 * answers to what was sent before the pause belong to the same "too fast".
 */
export function createPace(most: number): Pace {
  let window = most
  let pauseMs = FIRST_PAUSE_MS
  let pausedUntil = 0
  let acceptedSince = 0

  return {
    get window() {
      return Math.floor(window)
    },
    room: (open, now) => (now < pausedUntil ? 0 : Math.floor(window) - open),
    pausedMs: now => Math.max(0, pausedUntil - now),
    accepted() {
      window = Math.min(most, window + 1 / window)
      if (++acceptedSince >= Math.min(FORGIVEN_AFTER, Math.floor(window))) pauseMs = FIRST_PAUSE_MS
    },
    throttled(now) {
      if (now < pausedUntil) return pausedUntil - now
      window = Math.max(1, window / 2)
      pausedUntil = now + pauseMs
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
      acceptedSince = 0
      return pausedUntil - now
    },
  }
}
