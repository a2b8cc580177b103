import type { Sql } from '../../db/sql.ts'

/**
 * Says that a worker seeks binds, renews those it has, and tells both: its binds, and all who seek some, in order. For a
 * gateway that was removed meanwhile there are none. Its row is locked first, as its removal does: a removal that runs at
 * the same time is waited for, instead of ending in an error of the foreign key or in a deadlock.
 */
export function renewBinds(sql: Sql, gatewayId: number, worker: string, seconds: number) {
  return sql<{ binds: number[]; seekers: string[] }[]>`
    with gateway as materialized (
      select gateway_id from gateways where gateway_id = ${gatewayId} for key share),
    seeking as (
      insert into gateway_bind_seekers (gateway_id, worker, until)
      select gateway_id, ${worker}::uuid, clock_timestamp() + make_interval(secs => ${seconds}) from gateway
      on conflict (gateway_id, worker) do update set until = excluded.until),
    renewed as (
      update gateway_binds set until = clock_timestamp() + make_interval(secs => ${seconds})
      from gateway
      where gateway_binds.gateway_id = gateway.gateway_id and worker = ${worker}
      returning bind),
    seekers as (
      select worker from gateway_bind_seekers
      where gateway_id = ${gatewayId} and until >= clock_timestamp()
      union select ${worker}::uuid)
    select
      coalesce((select array_agg(bind::int order by bind) from renewed), '{}') as binds,
      (select array_agg(worker::text order by worker) from seekers) as seekers`
}

/**
 * Takes binds that no worker holds, or whose holder is gone: each in one statement, so that two workers never get the
 * same. For a gateway that was removed meanwhile there are none.
 */
export function takeBinds(
  sql: Sql,
  gatewayId: number,
  worker: string,
  { contract, most, seconds }: { contract: number; most: number; seconds: number },
) {
  return sql<{ bind: number }[]>`
    with gateway as materialized (
      select gateway_id from gateways where gateway_id = ${gatewayId} for key share)
    insert into gateway_binds (gateway_id, bind, worker, until)
    select gateway_id, n, ${worker}::uuid, clock_timestamp() + make_interval(secs => ${seconds})
    from gateway, generate_series(1, ${contract}::int) n
    where not exists (
      select from gateway_binds b where b.gateway_id = ${gatewayId} and b.bind = n and b.until >= clock_timestamp())
    order by n limit ${most}
    on conflict (gateway_id, bind) do update set worker = excluded.worker, until = excluded.until
      where gateway_binds.until < clock_timestamp()
    returning bind`
}

export const deleteBinds = (sql: Sql, gatewayId: number, worker: string, binds: number[]) => sql`
  delete from gateway_binds
  where gateway_id = ${gatewayId} and worker = ${worker} and bind = any(${binds}::smallint[])`

export const deleteAllBinds = (sql: Sql, gatewayId: number, worker: string) => sql`
  with seeking as (delete from gateway_bind_seekers where gateway_id = ${gatewayId} and worker = ${worker})
  delete from gateway_binds where gateway_id = ${gatewayId} and worker = ${worker}`

export const deleteGoneSeekers = (sql: Sql, gatewayId: number) => sql`
  delete from gateway_bind_seekers
  where gateway_id = ${gatewayId} and until < clock_timestamp() - interval '1 hour'`

export const selectReceiptIds = (sql: Sql, gatewayId: number) => sql<{ relation: string }[]>`
  select relation from gateway_receipt_ids where gateway_id = ${gatewayId}`

/** Nothing happens for a gateway that was removed meanwhile. */
export const upsertReceiptIds = (sql: Sql, gatewayId: number, relation: string) => sql`
  insert into gateway_receipt_ids (gateway_id, relation)
  select gateway_id, ${relation} from gateways where gateway_id = ${gatewayId} for key share
  on conflict (gateway_id) do update set relation = excluded.relation, learnt_at = now()`
