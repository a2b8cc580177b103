import type { Vitals } from '../../base/process/vitals.ts'
import type { Sql } from '../../db/sql.ts'

/**
 * The report of an engine about itself. `unrecorded` counts messages that are submitted and not recorded yet, without
 * messages that wait for their receipts.
 */
export type EngineVitals = Vitals & { unrecorded: number; schemaVersion: number }

/**
 * Records that an engine runs. Each engine calls this every second. A field that this report does not have keeps the
 * value of the last report.
 */
export const recordEngine = (sql: Sql, worker: string, clockOffMs = 0, vitals: Partial<EngineVitals> = {}) => sql`
  insert into engines (
    worker, clock_off_ms, host, pid, version, schema_version, memory_bytes, loop_delay_ms, unrecorded)
  values (${worker}, ${clockOffMs}, ${vitals.host ?? ''}, ${vitals.pid ?? 0}, ${vitals.version ?? ''},
    ${vitals.schemaVersion ?? null}, ${vitals.memoryBytes ?? null}, ${vitals.loopDelayMs ?? null}, ${vitals.unrecorded ?? null})
  on conflict (worker) do update set
    seen_at = clock_timestamp(), clock_off_ms = excluded.clock_off_ms,
    host = coalesce(nullif(excluded.host, ''), engines.host), pid = coalesce(nullif(excluded.pid, 0), engines.pid),
    version = coalesce(nullif(excluded.version, ''), engines.version),
    schema_version = coalesce(excluded.schema_version, engines.schema_version),
    memory_bytes = coalesce(excluded.memory_bytes, engines.memory_bytes),
    loop_delay_ms = coalesce(excluded.loop_delay_ms, engines.loop_delay_ms),
    unrecorded = coalesce(excluded.unrecorded, engines.unrecorded)`

/** Removes an engine that stops normally. */
export const removeEngine = (sql: Sql, worker: string) => sql`delete from engines where worker = ${worker}`

/** Counts the engines that reported within ten seconds, and selects the largest difference of their clocks. */
export const selectSeen = (sql: Sql) => sql<{ engines: number; clockOffMs: number | null }[]>`
  select count(*) as engines, (array_agg(clock_off_ms order by abs(clock_off_ms) desc))[1] as clock_off_ms
  from engines where seen_at > clock_timestamp() - interval '10 seconds'`

export const selectSeenOn = (sql: Sql, host: string, pid: number | undefined) => sql<{ pid: number }[]>`
  select pid from engines
  where seen_at > clock_timestamp() - interval '10 seconds' and host = ${host} and pid = coalesce(${pid ?? null}::int, pid)
  limit 1`

export const forgetGoneEngines = (sql: Sql) => sql`delete from engines where seen_at < now() - interval '1 day'`
