/** How many messages were handed over in each of consecutive slices of time. */
export type Pace = {
  from: Date
  /** When the last of them was: the last slice is not over then. */
  until: Date
  /** Of one slice. */
  seconds: number
  counts: number[]
}

/** Each divides the next, so that slices can be put together. */
const widths = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 86_400] as const
const LAST_WIDTH = 86_400

/** The narrowest slices of which at most so many cover the time. */
export const sliceSeconds = (seconds: number, most: number): number =>
  widths.find(width => seconds / width <= most) ?? LAST_WIDTH

/** The same in at most so many slices, which begin at a multiple of their width since `from`. */
export function mergeSlices({ from, until, seconds, counts }: Pace, most: number): Pace {
  const width = Math.max(seconds, sliceSeconds(counts.length * seconds, most))
  const merged = new Array<number>(Math.ceil((counts.length * seconds) / width)).fill(0)
  for (const [place, count] of counts.entries()) merged[Math.floor((place * seconds) / width)]! += count
  return { from, until, seconds: width, counts: merged }
}
