import type { Vitals } from '../../base/process/vitals.ts'
import type { Sql } from '../../db/sql.ts'

/** The setting is valid for one transaction. */
export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

export type ProcessRow = {
  id: string
  host: string
  pid: number
  version: string
  /** Null: a program before schema version 15. */
  schemaVersion: number | null
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
  host, pid, version, schema_version, started_at, seen_at,
  greatest(0, extract(epoch from clock_timestamp() - seen_at) * 1000)::int as silent_ms,
  clock_off_ms, memory_bytes, loop_delay_ms`

const MOST_PROCESSES = 200

/** The row of a killed process stays for a day. A process that stops normally deletes its row. */
export const selectEngines = (sql: Sql) => sql<ProcessRow[]>`
  select worker as id, ${columns(sql)}, unrecorded from engines order by seen_at desc limit ${MOST_PROCESSES}`

export const selectApis = (sql: Sql) => sql<ProcessRow[]>`
  select process as id, ${columns(sql)}, null::int as unrecorded from api_processes
  order by seen_at desc limit ${MOST_PROCESSES}`

/** Records that an API process runs. Each process calls this every five seconds. */
export const recordApi = (
  sql: Sql,
  process: string,
  clockOffMs: number,
  vitals: Vitals & { schemaVersion: number },
) => sql`
  insert into api_processes (
    process, host, pid, version, schema_version, clock_off_ms, memory_bytes, loop_delay_ms)
  values (${process}, ${vitals.host}, ${vitals.pid}, ${vitals.version}, ${vitals.schemaVersion}, ${clockOffMs},
    ${vitals.memoryBytes}, ${vitals.loopDelayMs})
  on conflict (process) do update set
    seen_at = clock_timestamp(), clock_off_ms = excluded.clock_off_ms, memory_bytes = excluded.memory_bytes,
    loop_delay_ms = excluded.loop_delay_ms`

/** Removes an API process that stops normally. */
export const removeApi = (sql: Sql, process: string) => sql`delete from api_processes where process = ${process}`

export const forgetGoneApis = (sql: Sql) => sql`delete from api_processes where seen_at < now() - interval '1 day'`

export type Held = { worker: string; held: number }

/** The numbers of leases of each engine. */
export const countLeases = (sql: Sql) => sql<Held[]>`
  select worker, count(*)::int as held from leases where worker is not null group by worker`

/** The numbers of binds of each engine. */
export const countBinds = (sql: Sql) => sql<Held[]>`
  select worker, count(*)::int as held from gateway_binds join gateways using (gateway_id)
  where connector = 'smpp' and claimed_until >= clock_timestamp() group by worker`

/** The numbers of callback receivers of each engine. */
export const countReceivers = (sql: Sql) => sql<Held[]>`
  select worker, count(*)::int as held from receivers
  where worker is not null and claimed_until >= clock_timestamp() group by worker`

/** Leases that no worker has renewed: an engine takes them over within seconds. */
export const countStranded = (sql: Sql) => sql<{ count: number }[]>`
  select count(*)::int as count from (
    select 1 from leases where worker is not null and claimed_until < clock_timestamp() - interval '10 seconds' limit 1000
  ) stranded`

/** At most 10,000 are counted. */
export const countKeptReceipts = (sql: Sql) => sql<{ count: number }[]>`
  select count(*)::int as count from (select 1 from receipt_inbox limit 10000) kept`

/** A receiver is paused after so many failures in a row. */
const PAUSED_FAILURES = 20

/** The number of waiting batches, counted up to 10,000, and the time of the oldest. */
export const countCallbacks = (sql: Sql) => sql<{ count: number; seconds: number; paused: number }[]>`
  select count(*)::int as count,
    coalesce(greatest(0, extract(epoch from clock_timestamp() - min(happened_at))), 0)::int as seconds,
    (select count(*)::int from (select 1 from receivers where failures >= ${PAUSED_FAILURES} limit 1000) p) as paused
  from (select happened_at from callbacks where status = 'WAITING' order by expires_at limit 10000) waiting`

export const selectConnections = (sql: Sql) => sql<{ used: number; most: number }[]>`
  select count(*)::int as used, current_setting('max_connections')::int as most
  from pg_stat_activity where backend_type = 'client backend'`

export const selectLongestTransaction = (sql: Sql) => sql<{ seconds: number; program: string }[]>`
  select extract(epoch from clock_timestamp() - xact_start)::int as seconds, application_name as program
  from pg_stat_activity
  where xact_start is not null and backend_type = 'client backend' and pid <> pg_backend_pid()
    and datname = current_database()
  order by xact_start limit 1`

/** The partition months of messages. Engines create the next months. */
export const selectMonths = (sql: Sql) => sql<{ months: number; newest: string | null; hasNext: boolean }[]>`
  select count(*)::int as months, max(substr(c.relname, 10)) as newest,
    coalesce(bool_or(c.relname = 'messages_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')), false)
      as has_next
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'messages'::regclass`

/** The table with most dead rows, and how old the oldest transaction id is that is still in use. */
export const selectVacuum = (sql: Sql) => sql<
  { isOn: boolean; age: number; table: string | null; dead: number; live: number }[]
>`
  select current_setting('autovacuum') = 'on' as is_on, age(d.datfrozenxid)::bigint as age, t.relname as table,
    coalesce(t.n_dead_tup, 0)::bigint as dead, coalesce(t.n_live_tup, 0)::bigint as live
  from pg_database d
  left join (
    select relname, n_dead_tup, n_live_tup from pg_stat_user_tables order by n_dead_tup desc limit 1
  ) t on true
  where d.datname = current_database()`

/**
 * The programs that receive the WAL, except backups: these come and go. pg_basebackup has two connections, and the one for
 * the WAL looks like a standby except for its name. Every user may read the name.
 */
const standbys = (sql: Sql) => sql`
  pg_stat_replication
  where state is distinct from 'backup' and (application_name in ('pg_basebackup', 'pg_receivewal')) is not true`

/**
 * Other programs than standbys replay nothing, and a standby that just connected has reported nothing yet. Without the
 * rights of pg_monitor only their number is known.
 */
export const selectReplication = (sql: Sql) => sql<{ replicas: number; behindBytes: number | null }[]>`
  select count(*)::int as replicas,
    max(pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, flush_lsn, write_lsn, '0/0')))
      filter (where state is not null)::bigint as behind_bytes
  from ${standbys(sql)}`

export const countStandbys = (sql: Sql) => sql<{ count: number }[]>`
  select count(*)::int as count from ${standbys(sql)}`

/** Whether the database is a Citus cluster. */
export async function isCluster(sql: Sql): Promise<boolean> {
  const [catalogue] = await sql`select from pg_class where oid = to_regclass('pg_dist_node')`
  return catalogue !== undefined
}

/** A worker that takes no connection within this time is away. It is shorter than the time for the whole check. */
const CONNECT_MS = 1000

/** The workers of a Citus cluster. Of a worker that is away, only its address is known. */
export async function selectWorkers(sql: Sql) {
  await sql`select set_config('citus.node_connection_timeout', ${String(CONNECT_MS)}, true)`
  return sql<{ isAway: boolean; sizeBytes: number | null; used: number | null; most: number | null }[]>`
    select not success as is_away, (facts->>'size')::bigint as size_bytes, (facts->>'used')::int as used,
      (facts->>'most')::int as most
    from run_command_on_workers($$
      select json_build_object('size', pg_database_size(current_database()),
        'used', (select count(*) from pg_stat_activity where backend_type = 'client backend'),
        'most', current_setting('max_connections')::int)$$)
    cross join lateral (select case when success then result::json end) told (facts)`
}

export const selectDatabase = (sql: Sql) => sql<{ version: string; sizeBytes: number }[]>`
  select current_setting('server_version') as version, pg_database_size(current_database())::bigint as size_bytes`
