import type { Sql } from '../../db/sql.ts'
import type { Bucket, Draw } from './limit.ts'

/** Rounding must not keep back a part that is there but for a billionth. It is a loan: the level carries it on. */
const TOLERANCE = 1e-6

/**
 * Draws the same number of parts from all these buckets: as many as the poorest allows, none when one cannot give
 * `atLeast`. `poorest` is its subject. `found` below the number of buckets means that some do not exist yet; nothing was drawn then.
 *
 * The rows are locked in the order of their subjects, so that draws never wait for each other in a circle. The time is
 * taken after the locks: taken before, a draw that had to wait would think less time had passed than the one it
 * waited for. A draw that gets nothing writes nothing, unless the database's clock was put back.
 *
 * The commit does not wait for the disk, which would hold up everyone at the gateway's row (three to five times fewer
 * draws a second). The draws of the last half second before a crash of the database may be forgotten by it.
 */
export function drawFromBuckets(sql: Sql, buckets: Bucket[], parts: number, atLeast: number) {
  const subjects = buckets.map(bucket => bucket.subject)
  return sql<({ found: number } & Draw)[]>`
    with locked as materialized (
      select subject, tokens, filled_at from rate_buckets
      where subject = any(${subjects}::text[])
      order by subject for update),
    moment as materialized (
      select clock_timestamp() as now, count(*)::integer as found, set_config('synchronous_commit', 'off', true)
      from locked),
    levels as materialized (
      select subject, w.rate, w.burst, l.filled_at > m.now as from_the_future, least(w.burst,
        l.tokens + w.rate * greatest(0, extract(epoch from m.now - l.filled_at)::double precision)) as level
      from moment m cross join locked l
      join unnest(
        ${subjects}::text[],
        ${buckets.map(bucket => bucket.perSecond)}::double precision[],
        ${buckets.map(bucket => bucket.burst)}::double precision[]) w (subject, rate, burst) using (subject)),
    allowed as materialized (
      select
        least(${parts}::integer, min(case
          when level + ${TOLERANCE} < least(${atLeast}::integer, burst) then 0
          else greatest(${atLeast}::integer, floor(level + ${TOLERANCE})) end))::integer as parts,
        max(greatest(0, (least(${atLeast}::integer, burst) - level) / rate)) as wait_seconds,
        (array_agg(subject order by level))[1] as poorest
      from levels),
    drawn as (
      update rate_buckets b set tokens = levels.level - allowed.parts, filled_at = moment.now
      from levels, allowed, moment
      where b.subject = levels.subject and moment.found = ${buckets.length}
        and (allowed.parts > 0 or levels.from_the_future))
    select moment.found, allowed.parts, ceil(1000 * allowed.wait_seconds) as retry_after_ms, allowed.poorest
    from moment, allowed`
}

/** A new bucket is full at any rate: the next draw reduces it to its burst. */
export function insertBuckets(sql: Sql, subjects: string[]) {
  return sql`
    insert into rate_buckets (subject, tokens, filled_at)
    select subject, 'Infinity', clock_timestamp() from unnest(${subjects}::text[]) subject order by subject
    on conflict (subject) do nothing`
}

/** In the same order of locks as a draw. What would overflow is cut off by the next draw. */
export function addToBuckets(sql: Sql, subjects: string[], parts: number) {
  return sql`
    with locked as materialized (
      select subject from rate_buckets where subject = any(${subjects}::text[]) order by subject for update)
    update rate_buckets b set tokens = tokens + ${parts}::integer from locked where b.subject = locked.subject`
}

/** Unused for a day, and a day more for every part they owe: full at any rate that a limit may have. */
export function deleteUnusedBuckets(sql: Sql) {
  return sql`
    delete from rate_buckets where subject in (
      select subject from rate_buckets
      where filled_at < clock_timestamp() - make_interval(secs => 86400 * (1 + greatest(0, -tokens)))
      for update skip locked)`
}
