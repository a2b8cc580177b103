import { useEffect, useRef, useState } from 'react'
import { mergeSlices, type Pace } from '../../../../src/domain/watching/pace.ts'
import { type Breakdown, type Counts, handedOf, type Whole } from '../dispatches.ts'
import { endBySpeed } from '../end.ts'

/** Messages per second. Undefined while unknown. */
export type Speed = number | undefined

const WINDOW_SECONDS = 10

/** Messages per second over the last ten seconds, measured by this page. Undefined until it has enough measurements. */
export function useSpeed(dispatch: Whole): Speed {
  const isRunning = dispatch.status === 'STARTED' && dispatch.waiting > 0
  const latest = useRef(0)
  latest.current = handedOf(dispatch)
  const [speed, setSpeed] = useState<Speed>()
  useEffect(() => {
    if (!isRunning) return setSpeed(undefined)
    const samples: { at: number; handed: number }[] = []
    const measure = () => {
      const now = { at: performance.now(), handed: latest.current }
      samples.push(now)
      if (samples.length > WINDOW_SECONDS + 1) samples.shift()
      const [first] = samples
      if (first && samples.length > 2) setSpeed((now.handed - first.handed) / ((now.at - first.at) / 1000))
    }
    measure()
    const timer = setInterval(measure, 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  return speed
}

// Over the run --------------------------------------------------------------------------------------------------------

export type PacePoint = { at: Date; perSecond: number }

/** The chart merges points above this number. */
const MOST_POINTS = 90
/** The last slice counts after this share of its time. Before, its speed means nothing. */
const LEAST_OF_SLICE = 0.3

/** Messages per second since the first message: first the counts of the server, then the measurements of this page. */
export function usePace(breakdown: Breakdown | undefined, dispatch: Whole): PacePoint[] {
  const isRunning = dispatch.status === 'STARTED' && dispatch.waiting > 0
  const { seen, clockAhead } = useSeenSince(breakdown, sentOf(dispatch), dispatch.status === 'STARTED')
  const counted = breakdown?.pace ?? paceFrom(seen[0])
  if (!breakdown || !counted) return []
  const from = new Date(counted.from)
  const placeOf = (at: number) => Math.floor((at - from.getTime()) / 1000 / counted.seconds)
  const counts = [...counted.counts]
  const now = Date.now() - clockAhead
  for (const { at, messages } of isRunning ? [...seen, { at: now, messages: 0 }] : seen) {
    while (counts.length <= placeOf(at)) counts.push(0)
    counts[placeOf(at)] = (counts[placeOf(at)] ?? 0) + messages
  }
  const until = new Date(isRunning ? now : (seen.at(-1)?.at ?? counted.until))
  return pointsOf(mergeSlices({ from, until, seconds: counted.seconds, counts }, MOST_POINTS))
}

/** If the server had counted nothing yet, the counts begin with the first message that this page saw. */
const paceFrom = (first: Seen | undefined) => first && { from: first.at, until: first.at, seconds: 1, counts: [] }

const sentOf = ({ sent, delivered, failed, unsent }: Counts) => sent + delivered + failed - unsent

type Seen = { at: number; messages: number }

/** Messages sent after the count of the server, with the times at which this page learnt of them, in server time. */
function useSeenSince(breakdown: Breakdown | undefined, sent: number, isRunning: boolean) {
  const [seen, setSeen] = useState<Seen[]>([])
  const known = useRef({ countedAt: '', sent: 0, clockAhead: 0 })
  useEffect(() => {
    if (!breakdown) return
    if (known.current.countedAt !== breakdown.countedAt) {
      const counted = breakdown.pace?.counts.reduce((sum, count) => sum + count, 0) ?? 0
      const clockAhead = Date.now() - Date.parse(breakdown.countedAt)
      known.current = { countedAt: breakdown.countedAt, sent: counted, clockAhead }
      setSeen([])
    }
    const messages = sent - known.current.sent
    if (!isRunning || messages <= 0) return
    known.current.sent = sent
    const at = Date.now() - known.current.clockAhead
    setSeen(before => [...thinned(before), { at, messages }])
  }, [breakdown, sent, isRunning])
  return { seen, clockAhead: known.current.clockAhead }
}

const MOST_SEEN = 600

/** Merges the oldest measurements in pairs, so that a page that is open for hours needs little memory. */
const thinned = (seen: Seen[]): Seen[] =>
  seen.length < MOST_SEEN
    ? seen
    : seen.flatMap((one, place) => {
        if (place % 2 === 1) return []
        return [{ at: one.at, messages: one.messages + (seen[place + 1]?.messages ?? 0) }]
      })

/** The last slice is shorter: it ends now. */
function pointsOf({ from, until, seconds, counts }: Pace): PacePoint[] {
  return counts.flatMap((count, place) => {
    const at = new Date(from.getTime() + place * seconds * 1000)
    const lasted = Math.min(seconds, (until.getTime() - at.getTime()) / 1000)
    return lasted < seconds * LEAST_OF_SLICE ? [] : [{ at, perSecond: count / lasted }]
  })
}

// The end -------------------------------------------------------------------------------------------------------------

/** Waiting reasons of unknown duration. */
const stops: Whole['waits'][number]['kind'][] = ['engine', 'company', 'sender', 'gateways']

/**
 * The time at which the last message will be sent. Outside its sending hours a dispatch has no speed, so the speed of
 * its last minutes counts. Undefined if that speed is unknown too, or while the dispatch waits for an unknown time.
 */
export function endOf(dispatch: Whole, speed: Speed, pace: PacePoint[], now = new Date()): Date | undefined {
  if (dispatch.status !== 'STARTED' || dispatch.waiting === 0) return undefined
  const isStopped = dispatch.waits.some(({ kind }) => stops.includes(kind))
  const expected = speed || (isStopped ? undefined : lastSpeedIn(pace))
  return expected ? endBySpeed(dispatch, expected, now) : undefined
}

const LAST_POINTS = 10

function lastSpeedIn(pace: PacePoint[]): Speed {
  const last = pace.filter(({ perSecond }) => perSecond > 0).slice(-LAST_POINTS)
  return last.length === 0 ? undefined : last.reduce((sum, { perSecond }) => sum + perSecond, 0) / last.length
}
