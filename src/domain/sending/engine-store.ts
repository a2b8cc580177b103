import type { Sql } from '../../db/sql.ts'

export const upsertEngine = (sql: Sql, worker: string) => sql`
  insert into engines (worker) values (${worker})
  on conflict (worker) do update set seen_at = clock_timestamp()`

export const deleteEngine = (sql: Sql, worker: string) => sql`delete from engines where worker = ${worker}`

export const deleteUnseen = (sql: Sql) => sql`delete from engines where seen_at < now() - interval '1 day'`
