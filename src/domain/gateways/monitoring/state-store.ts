import type { Sql } from '../../../db/sql.ts'
import type { GatewayState, OwnState } from '../gateway.ts'

export function upsertStates(sql: Sql, worker: string, states: OwnState[]) {
  const column = <K extends keyof OwnState>(name: K) => states.map(state => state[name])
  return sql`
    insert into gateway_states (gateway_id, worker, up, open_messages, window_size, bound, wanted, parts_last_minute,
      last_error, last_error_at, version, answer_ms, seen_at)
    select q.gateway_id, ${worker}::uuid, q.up, q.open_messages, q.window_size, q.bound, q.wanted, q.parts,
      q.last_error, q.last_error_at, q.version, q.answer_ms, clock_timestamp()
    from unnest(
      ${column('gatewayId')}::bigint[], ${column('up').map(String)}::text[]::boolean[], ${column('open')}::int[],
      ${column('window')}::int[], ${column('bound')}::int[], ${column('wanted')}::int[],
      ${column('partsLastMinute')}::int[], ${column('lastError')}::text[],
      ${column('lastErrorAt').map(at => at?.toISOString() ?? null)}::timestamptz[],
      ${column('version')}::int[], ${column('answerMs')}::int[]
    ) q (gateway_id, up, open_messages, window_size, bound, wanted, parts, last_error, last_error_at, version, answer_ms)
    on conflict (gateway_id, worker) do update set
      up = excluded.up, open_messages = excluded.open_messages, window_size = excluded.window_size,
      bound = excluded.bound, wanted = excluded.wanted, parts_last_minute = excluded.parts_last_minute,
      last_error = excluded.last_error, last_error_at = excluded.last_error_at, version = excluded.version,
      answer_ms = excluded.answer_ms, seen_at = excluded.seen_at`
}

/** Deletes the states of gateways that the engine no longer has, and of engines that ended. */
export const deleteOthers = (sql: Sql, worker: string, gatewayIds: number[]) => sql`
  delete from gateway_states
  where (worker = ${worker}::uuid and gateway_id <> all(${gatewayIds}::bigint[]))
    or seen_at < clock_timestamp() - interval '1 minute'`

export const selectStates = (sql: Sql) => sql<GatewayState[]>`
  select gateway_id, count(*)::int as engines, bool_or(up) as up, sum(bound)::int as bound,
    sum(wanted)::int as wanted, sum(open_messages)::int as open, sum(window_size)::int as "window",
    sum(parts_last_minute)::int as parts_last_minute,
    (array_agg(last_error order by last_error_at desc nulls last))[1] as last_error,
    max(last_error_at) as last_error_at, max(answer_ms) as answer_ms
  from gateway_states
  where seen_at > clock_timestamp() - interval '10 seconds'
  group by gateway_id`

/** The gateways that another engine can use, by its last report. */
export const selectUpElsewhere = (sql: Sql, worker: string) => sql<{ gatewayId: number }[]>`
  select distinct gateway_id from gateway_states
  where up and worker <> ${worker} and seen_at > clock_timestamp() - interval '5 seconds'`

/** How many engines still use an older version of a gateway, or do not know it yet. */
export const countBehind = (sql: Sql, gatewayId: number, version: number) => sql<{ engines: number }[]>`
  select count(*)::int as engines
  from (
    select coalesce(max(version) filter (where gateway_id = ${gatewayId}), 0) as version
    from gateway_states where seen_at > clock_timestamp() - interval '10 seconds'
    group by worker
  ) own
  where own.version < ${version}`

/** How many engines use a gateway. */
export const countHolders = (sql: Sql, gatewayId: number) => sql<{ engines: number }[]>`
  select count(*)::int as engines from gateway_states
  where gateway_id = ${gatewayId} and seen_at > clock_timestamp() - interval '10 seconds'`

export type EngineState = Omit<GatewayState, 'engines' | 'lastError' | 'lastErrorAt' | 'answerMs'> & { worker: string }

/** The states of each engine that reported within the last seconds. */
export const gatewayEngines = (sql: Sql) => sql<EngineState[]>`
  select gateway_id, worker, up, bound, wanted, open_messages as open, window_size as "window",
    parts_last_minute
  from gateway_states
  where seen_at > clock_timestamp() - interval '10 seconds'
  order by gateway_id, worker`
