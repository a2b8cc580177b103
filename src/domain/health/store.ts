import type { Vitals } from '../../base/vitals.ts'
import type { Sql } from '../../db/sql.ts'

/** For one transaction. */
export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

export type ProcessRow = {
  id: string
  host: string
  pid: number
  version: string
  startedAt: Date
  seenAt: Date
  /** By the database's clock. */
  silentMs: number
  clockOffMs: number
  memoryBytes: number | null
  loopDelayMs: number | null
  unrecorded: number | null
}

const columns = (sql: Sql) => sql`
  host, pid, version, started_at as "startedAt", seen_at as "seenAt",
  greatest(0, extract(epoch from clock_timestamp() - seen_at) * 1000)::int as "silentMs",
  clock_off_ms as "clockOffMs", memory_bytes as "memoryBytes", loop_delay_ms as "loopDelayMs"`

const MOST_PROCESSES = 200

/** Those that were killed stay for a day, those that stopped are gone. */
export const selectEngines = (sql: Sql) => sql<ProcessRow[]>`
  select worker as id, ${columns(sql)}, unrecorded from engines order by seen_at desc limit ${MOST_PROCESSES}`

export const selectApis = (sql: Sql) => sql<ProcessRow[]>`
  select process as id, ${columns(sql)}, null::int as unrecorded from api_processes
  order by seen_at desc limit ${MOST_PROCESSES}`

export const upsertApi = (sql: Sql, process: string, clockOffMs: number, vitals: Vitals) => sql`
  insert into api_processes (process, host, pid, version, clock_off_ms, memory_bytes, loop_delay_ms)
  values (${process}, ${vitals.host}, ${vitals.pid}, ${vitals.version}, ${clockOffMs}, ${vitals.memoryBytes},
    ${vitals.loopDelayMs})
  on conflict (process) do update set
    seen_at = clock_timestamp(), clock_off_ms = excluded.clock_off_ms, memory_bytes = excluded.memory_bytes,
    loop_delay_ms = excluded.loop_delay_ms`

export const deleteApi = (sql: Sql, process: string) => sql`delete from api_processes where process = ${process}`

export const deleteUnseenApis = (sql: Sql) => sql`delete from api_processes where seen_at < now() - interval '1 day'`
