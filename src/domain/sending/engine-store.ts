import type { Sql } from '../../db/sql.ts'

export const upsertEngine = (sql: Sql, worker: string) => sql`
  insert into engines (worker) values (${worker})
  on conflict (worker) do update set seen_at = clock_timestamp()`

export const deleteEngine = (sql: Sql, worker: string) => sql`delete from engines where worker = ${worker}`

export const selectSeen = (sql: Sql) => sql<{ seen: boolean }[]>`
  select exists (select from engines where seen_at > clock_timestamp() - interval '10 seconds') as seen`

export const deleteUnseen = (sql: Sql) => sql`delete from engines where seen_at < now() - interval '1 day'`
