import type { Sql } from '../../db/sql.ts'

type Key = { owner: string; key: string }

export function tryLock(sql: Sql, { owner, key }: Key) {
  return sql<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${owner} ${key}`}, 0)) as taken`
}

export function selectKey(sql: Sql, { owner, key }: Key, lifetimeHours: number) {
  return sql<{ requestHash: Buffer; answer: string }[]>`
    select request_hash, answer from idempotency_keys
    where owner = ${owner} and key = ${key} and created_at > now() - make_interval(hours => ${lifetimeHours})`
}

/** Replaces an expired row that housekeeping has not deleted yet. */
export function insertKey(sql: Sql, { owner, key }: Key, requestHash: Buffer, answer: string) {
  return sql`
    insert into idempotency_keys (owner, key, request_hash, answer)
    values (${owner}, ${key}, ${requestHash}, ${answer})
    on conflict (owner, key) do update set
      request_hash = excluded.request_hash, answer = excluded.answer, created_at = excluded.created_at`
}

export const deleteOldKeys = (sql: Sql, lifetimeHours: number) =>
  sql`delete from idempotency_keys where created_at <= now() - make_interval(hours => ${lifetimeHours})`
