import { useEffect, useRef, useState } from 'react'
import type { Running } from './overview.ts'

type Sample = { atMs: number; handed: number }

/** Speeds are measured over this time. It is long enough for a stable figure and short enough to show a stop. */
const SPAN_MS = 60_000
/** The average since the start counts only this long, because an older dispatch may have paused meanwhile. */
const YOUNG_MS = 3_600_000

/** Messages that were submitted, with any result. */
export const handedOf = ({ messageCount, waiting }: Pick<Running, 'messageCount' | 'waiting'>) => messageCount - waiting

/**
 * Messages per second of each dispatch, measured between the answers of the last minute. Until then the average since
 * the start.
 */
export function useSpeeds(items: Running[], at: string): Map<number, number> {
  const samples = useRef(new Map<number, Sample[]>())
  const [speeds, setSpeeds] = useState(() => speedsOf(items, at, samples.current))
  useEffect(() => {
    setSpeeds(speedsOf(items, at, samples.current))
  }, [items, at])
  return speeds
}

function speedsOf(items: Running[], at: string, samples: Map<number, Sample[]>): Map<number, number> {
  const atMs = Date.parse(at)
  const speeds = new Map<number, number>()
  for (const dispatch of items) {
    const known = (samples.get(dispatch.dispatchId) ?? []).filter(sample => sample.atMs > atMs - SPAN_MS)
    const now = { atMs, handed: handedOf(dispatch) }
    if (known.at(-1)?.atMs !== atMs) known.push(now)
    samples.set(dispatch.dispatchId, known)
    const speed = speedBetween(known[0] ?? now, now) ?? averageOf(dispatch, atMs)
    if (speed !== undefined) speeds.set(dispatch.dispatchId, speed)
  }
  return speeds
}

const speedBetween = (first: Sample, last: Sample) =>
  last.atMs > first.atMs ? Math.max(0, ((last.handed - first.handed) * 1000) / (last.atMs - first.atMs)) : undefined

function averageOf(dispatch: Running, atMs: number): number | undefined {
  const began = [dispatch.startedAt, dispatch.startAt].flatMap(moment => (moment ? [Date.parse(moment)] : []))
  const age = atMs - Math.max(...began)
  return age > 0 && age < YOUNG_MS ? (handedOf(dispatch) * 1000) / age : undefined
}
