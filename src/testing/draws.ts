import type { Pool } from '../db/sql.ts'
import { bucketOf, type Limit } from '../domain/limits/limit.ts'

type Change = { at: number; before: number; filledBefore: number; tokens: number }
/** Parts taken from a bucket, with the second of the database's clock. A negative number was returned to the bucket. */
type Drawn = { at: number; parts: number }

/**
 * Records every change of a bucket. A limit holds if the draws keep it. The arrival of parts at the operator also
 * depends on the load of the machine.
 */
export async function watchDraws(sql: Pool): Promise<void> {
  await sql`drop table if exists bucket_changes cascade`
  await sql`
    create table bucket_changes (
      change_id bigint generated always as identity, subject text, tokens_before double precision,
      filled_before timestamptz, tokens double precision, filled_at timestamptz)`
  await sql`
    create or replace function note_change() returns trigger language plpgsql as $$ begin
      insert into bucket_changes (subject, tokens_before, filled_before, tokens, filled_at)
      values (new.subject, old.tokens, old.filled_at, new.tokens, new.filled_at);
      return new;
    end $$`
  await sql`create or replace trigger note_change after update on rate_buckets for each row execute function note_change()`
}

/** All draws from a limit, in order. */
export async function drawsFrom(sql: Pool, limit: Limit): Promise<Drawn[]> {
  const { subject, perSecond, burst } = bucketOf(limit)
  const changes = await sql<Change[]>`
    select extract(epoch from filled_at)::double precision as at, tokens_before as before, tokens,
      extract(epoch from filled_before)::double precision as filled_before
    from bucket_changes where subject = ${subject} order by change_id`
  return changes.map(({ at, before, filledBefore, tokens }) => {
    const isGivenBack = at === filledBefore
    const level = isGivenBack ? before : Math.min(burst, before + perSecond * Math.max(0, at - filledBefore))
    return { at, parts: Math.round(level - tokens) }
  })
}

export const drawnInAll = (draws: Drawn[]): number => draws.reduce((sum, { parts }) => sum + parts, 0)

/** The largest number of parts drawn in any interval of one second. */
export function mostInASecond(draws: Drawn[]): number {
  const from = (first: number) => {
    let sum = 0
    let most = 0
    for (let i = first; i < draws.length && draws[i]!.at < draws[first]!.at + 1; i++) {
      sum += draws[i]!.parts
      most = Math.max(most, sum)
    }
    return most
  }
  return Math.max(0, ...draws.map((_, first) => from(first)))
}
