/** The number of messages that were sent in consecutive time slices. */
export type Pace = {
  from: Date
  /** The time of the last message, which is within the last slice. */
  until: Date
  /** The length of a slice. */
  seconds: number
  counts: number[]
}

/** Each length divides the next, so that slices can be merged. */
const widths = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 86_400] as const
const LAST_WIDTH = 86_400

/** The shortest length with which at most `most` slices cover the time. */
export const sliceSeconds = (seconds: number, most: number): number =>
  widths.find(width => seconds / width <= most) ?? LAST_WIDTH

/** Merges the slices into at most `most` slices. */
export function mergeSlices({ from, until, seconds, counts }: Pace, most: number): Pace {
  const width = Math.max(seconds, sliceSeconds(counts.length * seconds, most))
  const merged = new Array<number>(Math.ceil((counts.length * seconds) / width)).fill(0)
  for (const [place, count] of counts.entries()) merged[Math.floor((place * seconds) / width)]! += count
  return { from, until, seconds: width, counts: merged }
}
