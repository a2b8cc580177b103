import type { Sql } from '../../../db/sql.ts'
import type { GatewayError, OwnMinute } from './minute.ts'

export function writeGatewayMinutes(sql: Sql, worker: string, rows: OwnMinute[]) {
  const column = <K extends keyof OwnMinute>(name: K) => rows.map(row => row[name])
  return sql`
    insert into gateway_minutes (gateway_id, minute, worker, parts, taken, ended, failed, errors)
    select q.gateway_id, q.minute, ${worker}::uuid, q.parts, q.taken, q.ended, q.failed, q.errors
    from unnest(
      ${column('gatewayId')}::bigint[], ${column('minute').map(minute => minute.toISOString())}::timestamptz[],
      ${column('parts')}::int[], ${column('taken')}::int[], ${column('ended')}::int[], ${column('failed')}::int[],
      ${column('errors').map(errors => JSON.stringify(errors))}::text[]::jsonb[]
    ) q (gateway_id, minute, parts, taken, ended, failed, errors)
    on conflict (gateway_id, minute, worker) do update set
      parts = excluded.parts, taken = excluded.taken, ended = excluded.ended, failed = excluded.failed,
      errors = excluded.errors`
}

/** The sums of all engines, including stopped engines. */
export const selectDaySums = (sql: Sql) => sql<{ gatewayId: number; outstanding: number; endedLastMinute: number }[]>`
  select gateway_id, sum(taken - ended)::bigint as outstanding,
    coalesce(sum(ended) filter (where minute > now() - interval '2 minutes' and minute <= now() - interval '1 minute'), 0)::bigint
      as ended_last_minute
  from gateway_minutes where minute > now() - interval '26 hours'
  group by gateway_id`

export const selectOutstanding = (sql: Sql, gatewayId: number) => sql<{ outstanding: number }[]>`
  select coalesce(sum(taken - ended), 0)::bigint as outstanding from gateway_minutes
  where gateway_id = ${gatewayId} and minute > now() - interval '26 hours'`

export type MinuteRow = { gatewayId: number; minute: Date; parts: number; failed: number; errors: GatewayError[] }

/** One row for each engine, gateway and minute: the caller adds up the rows of several engines. */
export const selectHour = (sql: Sql) => sql<MinuteRow[]>`
  select gateway_id, minute, parts, failed, errors from gateway_minutes
  where minute > now() - interval '1 hour'
  order by gateway_id, minute`

export const forgetOldMinutes = (sql: Sql) => sql`
  delete from gateway_minutes where minute < now() - interval '26 hours'`
