import type { Sql } from '../../db/sql.ts'

export const upsertEngine = (sql: Sql, worker: string, clockOffMs: number) => sql`
  insert into engines (worker, clock_off_ms) values (${worker}, ${clockOffMs})
  on conflict (worker) do update set seen_at = clock_timestamp(), clock_off_ms = excluded.clock_off_ms`

export const deleteEngine = (sql: Sql, worker: string) => sql`delete from engines where worker = ${worker}`

/** The engines that were seen lately, and of their clocks the one that is furthest off. */
export const selectSeen = (sql: Sql) => sql<{ engines: number; clockOffMs: number | null }[]>`
  select count(*) as engines, (array_agg(clock_off_ms order by abs(clock_off_ms) desc))[1] as "clockOffMs"
  from engines where seen_at > clock_timestamp() - interval '10 seconds'`

export const deleteUnseen = (sql: Sql) => sql`delete from engines where seen_at < now() - interval '1 day'`
