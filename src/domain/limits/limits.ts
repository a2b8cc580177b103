import type { Pool, Sql } from '../../db/sql.ts'
import { type Bucket, bucketOf, type Draw, type Limit } from './limit.ts'
import * as store from './store.ts'

export { type Draw, type Limit, withinAnySecond } from './limit.ts'

type DrawOptions = {
  /**
   * Parts of the message that would go first: fewer would be of no use, and none are granted then. Only this many may
   * be lent (see `limit.ts`). The default is 1.
   */
  atLeast?: number
}

/** How many of these parts may go now under all these limits together: a whole number, 0 when one has nothing left. */
export async function drawParts(sql: Pool, limits: Limit[], parts: number, options?: DrawOptions): Promise<number> {
  return (await tryDrawParts(sql, limits, parts, options)).parts
}

/**
 * The same, with the time after which it is worth asking again. Takes a pool and no transaction: the buckets are shared
 * by everyone who sends, and would stay locked until its end.
 */
export async function tryDrawParts(sql: Pool, limits: Limit[], parts: number, options?: DrawOptions): Promise<Draw> {
  if (parts < 1) return { parts: 0, retryAfterMs: 0 }
  if (limits.length === 0) return { parts, retryAfterMs: 0 }
  const buckets = bucketsOf(limits)
  const atLeast = Math.min(parts, Math.max(1, options?.atLeast ?? 1))
  const [draw] = await store.drawFromBuckets(sql, buckets, parts, atLeast)
  return draw!.found === buckets.length ? outcomeOf(draw!) : drawAnew(sql, buckets, parts, atLeast)
}

function bucketsOf(limits: Limit[]): Bucket[] {
  if (new Set(subjectsOf(limits)).size < limits.length) throw new RangeError('two limits for one bucket')
  return limits.map(bucketOf)
}

const subjectsOf = (limits: Pick<Limit, 'subject'>[]) => limits.map(limit => limit.subject)

function outcomeOf({ parts, retryAfterMs, poorest }: Draw): Draw {
  return parts > 0
    ? { parts, retryAfterMs: 0, poorest }
    : { parts: 0, retryAfterMs: Math.max(1, retryAfterMs), poorest }
}

/** The first draw of a bucket makes it. Should housekeeping remove one in between, the next draw makes it again. */
async function drawAnew(sql: Pool, buckets: Bucket[], parts: number, atLeast: number): Promise<Draw> {
  await store.insertBuckets(sql, subjectsOf(buckets))
  const [draw] = await store.drawFromBuckets(sql, buckets, parts, atLeast)
  return outcomeOf(draw!.found === buckets.length ? draw! : { parts: 0, retryAfterMs: 0 })
}

/**
 * Returns drawn parts that were not used to the same limits. Other workers can draw them at once. Return them soon: parts
 * that are returned late exceed the rate of that moment.
 */
export async function returnParts(sql: Sql, limits: Pick<Limit, 'subject'>[], parts: number): Promise<void> {
  if (parts > 0 && limits.length > 0) await store.addToBuckets(sql, subjectsOf(limits), parts)
}

/** Housekeeping: deletes full buckets, because a missing bucket counts as full. Returns the number of deleted buckets. */
export async function removeUnusedBuckets(sql: Sql): Promise<number> {
  const { count } = await store.deleteUnusedBuckets(sql)
  return count
}
