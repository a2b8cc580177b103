import { useEffect, useRef, useState } from 'react'
import { mergeSlices, type Pace } from '../../../../src/domain/watching/pace.ts'
import { type Breakdown, type Counts, handedOf, type Whole } from '../dispatches.ts'
import { endBySpeed } from '../end.ts'

/** Messages a second; undefined while nothing is known. */
export type Speed = number | undefined

const WINDOW_SECONDS = 10

/** Messages a second over the last ten seconds, measured by this page; nothing until it has watched for a while. */
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
      if (samples.length > 2) setSpeed((now.handed - first!.handed) / ((now.at - first!.at) / 1000))
    }
    measure()
    const timer = setInterval(measure, 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  return speed
}

// Over the run --------------------------------------------------------------------------------------------------------

export type PacePoint = { at: Date; perSecond: number }

/** More points than these are put together. */
const MOST_POINTS = 90
/** A slice that began just now says nothing yet. */
const LEAST_OF_SLICE = 0.3

/** Messages a second since the first one: what the server counted, and since then what this page has seen. */
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
    counts[placeOf(at)]! += messages
  }
  const until = new Date(isRunning ? now : (seen.at(-1)?.at ?? counted.until))
  return pointsOf(mergeSlices({ from, until, seconds: counted.seconds, counts }, MOST_POINTS))
}

/** Where nothing was sent when the server counted. */
const paceFrom = (first: Seen | undefined) => first && { from: first.at, until: first.at, seconds: 1, counts: [] }

const sentOf = ({ sent, delivered, failed, unsent }: Counts) => sent + delivered + failed - unsent

type Seen = { at: number; messages: number }

/** What was sent after the server counted, at the moments at which this page learnt of it, on the server's clock. */
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

/** A page that is open for hours keeps its oldest moments in pairs. */
const thinned = (seen: Seen[]): Seen[] =>
  seen.length < MOST_SEEN
    ? seen
    : seen.flatMap((one, place) => {
        if (place % 2 === 1) return []
        return [{ at: one.at, messages: one.messages + (seen[place + 1]?.messages ?? 0) }]
      })

/** The last slice is as long as it has lasted. */
function pointsOf({ from, until, seconds, counts }: Pace): PacePoint[] {
  return counts.flatMap((count, place) => {
    const at = new Date(from.getTime() + place * seconds * 1000)
    const lasted = Math.min(seconds, (until.getTime() - at.getTime()) / 1000)
    return lasted < seconds * LEAST_OF_SLICE ? [] : [{ at, perSecond: count / lasted }]
  })
}

// The end -------------------------------------------------------------------------------------------------------------

/** What stops a dispatch for a time that cannot be foreseen. */
const stops: Whole['waits'][number]['kind'][] = ['engine', 'company', 'sender', 'gateways']

/**
 * When the last message will be handed over. Outside its hours a dispatch has no speed: it will go on with that of its
 * last minutes. Undefined when that is unknown too, or while something stops it.
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
