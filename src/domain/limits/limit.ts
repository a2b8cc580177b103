/**
 * A limit is a rate in parts per second that belongs to a gateway, sender, company or dispatch. All workers share it.
 * Its bucket fills at that rate up to one burst, starts full, and every part sent is drawn from it.
 *
 * The parts granted in any interval are at most rate x time + one burst. Messages are sent whole, and one of 5 parts has
 * to pass a limit of 2 per second: so a full bucket lends what a single message needs beyond the burst, and nothing
 * more is granted until the debt is paid off and the bucket is full again (for such messages the burst above is the
 * message). We lend instead of keeping a larger burst because that would let 10 short messages go at once at 10 per
 * minute.
 */
export type Limit = {
  /** Whose limit it is: `gateway:3`, `sender:12`, `company:7`, `dispatch:9`. */
  subject: string
  perSecond: number
  /** How many seconds' worth may be granted at once; The default is 1. */
  burstSeconds?: number
}

const STRICT_BURST_SECONDS = 0.15

/**
 * At most so many in any one second, wherever it begins, as operators count: what a bucket may grant within a second is
 * its burst and a second's filling, so the two together make the limit. Over a long time that is seven eighths of it. A
 * smaller burst would cost more than it gains: a full bucket loses the parts that no worker draws.
 */
export const withinAnySecond = (subject: string, perSecond: number): Limit => ({
  subject,
  perSecond: perSecond / (1 + STRICT_BURST_SECONDS),
  burstSeconds: STRICT_BURST_SECONDS,
})

/** The granted parts, and the time until the next try if none was granted (0 otherwise). `poorest`: the limit with fewest parts. */
export type Draw = { parts: number; retryAfterMs: number; poorest?: string | undefined }

/** A limit as the database takes it. */
export type Bucket = { subject: string; perSecond: number; burst: number }

/** Housekeeping relies on these values: a bucket without debt that was not used for a day is full. */
const SLOWEST_PER_SECOND = 1 / 86_400
const LONGEST_BURST_SECONDS = 86_400

export function bucketOf({ subject, perSecond, burstSeconds = 1 }: Limit): Bucket {
  if (!(perSecond >= SLOWEST_PER_SECOND)) throw new RangeError(`${subject}: a limit is at least one part a day`)
  if (!(burstSeconds > 0 && burstSeconds <= LONGEST_BURST_SECONDS)) {
    throw new RangeError(`${subject}: a burst is at most a day's worth`)
  }
  // A bucket below one part could never grant any.
  return { subject, perSecond, burst: Math.max(1, perSecond * burstSeconds) }
}
