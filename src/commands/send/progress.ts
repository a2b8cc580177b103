/** The progress of a task: finished and remaining work, and the time of the measurement. */
export type Sample = { atMs: number; done: number; left: number }

const WINDOW_MS = 10_000

/** Measures the speed of the last ten seconds. */
export function createPace(): (sample: Sample) => { perSecond: number; secondsLeft: number | undefined } {
  const samples: Sample[] = []
  return sample => {
    samples.push(sample)
    while (samples.length > 2 && samples[0]!.atMs < sample.atMs - WINDOW_MS) samples.shift()
    const [first] = samples
    const tookMs = sample.atMs - first!.atMs
    const perSecond = tookMs > 0 ? ((sample.done - first!.done) * 1000) / tookMs : 0
    return { perSecond, secondsLeft: perSecond > 0 ? sample.left / perSecond : undefined }
  }
}

const BAR_WIDTH = 20

export function barOf(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.floor(share * BAR_WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`
}

export const countOf = (count: number) => count.toLocaleString('en')

/** In the two largest units. */
export function durationOf(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${countOf(Math.floor(whole / 3600))} h ${Math.floor((whole % 3600) / 60)} min`
}
