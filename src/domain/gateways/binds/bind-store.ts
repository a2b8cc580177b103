import type { Sql } from '../../../db/sql.ts'
import type { AllAnswers, LearntReceiptIds, OwnAnswers } from '../gateway.ts'

/**
 * Registers a worker that needs binds, and renews the binds that it has. Returns its binds and all workers that need
 * binds, in order. A gateway that was removed meanwhile has none. The statement locks the row of the gateway first, as the
 * removal does. It waits for a removal at the same time, instead of failing by the foreign key or in a deadlock.
 */
export function renewBinds(sql: Sql, gatewayId: number, worker: string, seconds: number) {
  return sql<{ binds: number[]; seekers: string[] }[]>`
    with gateway as materialized (
      select gateway_id from gateways where gateway_id = ${gatewayId} for key share),
    seeking as (
      insert into gateway_bind_seekers (gateway_id, worker, expires_at)
      select gateway_id, ${worker}::uuid, clock_timestamp() + make_interval(secs => ${seconds}) from gateway
      on conflict (gateway_id, worker) do update set expires_at = excluded.expires_at),
    renewed as (
      update gateway_binds set claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
      from gateway
      where gateway_binds.gateway_id = gateway.gateway_id and worker = ${worker}
      returning bind),
    seekers as (
      select worker from gateway_bind_seekers
      where gateway_id = ${gatewayId} and expires_at >= clock_timestamp()
      union select ${worker}::uuid)
    select
      coalesce((select array_agg(bind::int order by bind) from renewed), '{}') as binds,
      (select array_agg(worker::text order by worker) from seekers) as seekers`
}

/**
 * Takes binds without a worker, or whose worker did not renew them. One statement takes each bind, so that two workers
 * never get the same bind. A gateway that was removed meanwhile has no binds.
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
    insert into gateway_binds (gateway_id, bind, worker, claimed_until)
    select gateway_id, n, ${worker}::uuid, clock_timestamp() + make_interval(secs => ${seconds})
    from gateway, generate_series(1, ${contract}::int) n
    where not exists (
      select from gateway_binds b where b.gateway_id = ${gatewayId} and b.bind = n and b.claimed_until >= clock_timestamp())
    order by n limit ${most}
    on conflict (gateway_id, bind) do update set worker = excluded.worker, claimed_until = excluded.claimed_until
      where gateway_binds.claimed_until < clock_timestamp()
    returning bind`
}

export const deleteBinds = (sql: Sql, gatewayId: number, worker: string, binds: number[]) => sql`
  delete from gateway_binds
  where gateway_id = ${gatewayId} and worker = ${worker} and bind = any(${binds}::smallint[])`

export const deleteAllBinds = (sql: Sql, gatewayId: number, worker: string) => sql`
  with seeking as (delete from gateway_bind_seekers where gateway_id = ${gatewayId} and worker = ${worker})
  delete from gateway_binds where gateway_id = ${gatewayId} and worker = ${worker}`

export const deleteOldSeekers = (sql: Sql, gatewayId: number) => sql`
  delete from gateway_bind_seekers
  where gateway_id = ${gatewayId} and expires_at < clock_timestamp() - interval '1 hour'`

export const selectReceiptIds = (sql: Sql, gatewayIds: number[]) => sql<(LearntReceiptIds & { gatewayId: number })[]>`
  select gateway_id, relation, by_address from gateway_receipt_ids
  where gateway_id = any(${gatewayIds}::bigint[])`

/** Nothing happens for a gateway that was removed meanwhile. */
export const saveReceiptIds = (sql: Sql, gatewayId: number, { relation, byAddress }: LearntReceiptIds) => sql`
  insert into gateway_receipt_ids (gateway_id, relation, by_address)
  select gateway_id, ${relation}, ${byAddress} from gateways where gateway_id = ${gatewayId} for key share
  on conflict (gateway_id) do update
    set relation = excluded.relation, by_address = excluded.by_address, learnt_at = now()`

/** Nothing happens for a gateway that was removed meanwhile. */
export const upsertAnswers = (sql: Sql, gatewayId: number, worker: string, answers: OwnAnswers) => sql`
  insert into gateway_answers (gateway_id, worker, answered_until, unanswered, open, seen_at)
  select gateway_id, ${worker}::uuid, clock_timestamp() - make_interval(secs => ${answers.behindMs / 1000}),
    ${answers.unanswered}, ${answers.open}, clock_timestamp()
  from gateways where gateway_id = ${gatewayId} for key share
  on conflict (gateway_id, worker) do update
    set answered_until = excluded.answered_until, unanswered = excluded.unanswered, open = excluded.open,
      seen_at = excluded.seen_at`

/** The sums of all engines. Submissions that were open in a killed engine have no answer. */
export const selectAnswers = (sql: Sql, gatewayId: number, seconds: number) => sql<AllAnswers[]>`
  with engines as (
    select *, seen_at >= clock_timestamp() - make_interval(secs => ${seconds}) as is_there
    from gateway_answers where gateway_id = ${gatewayId})
  select min(answered_until) filter (where is_there) as answered_until,
    coalesce(sum(unanswered + case when is_there then 0 else open end), 0)::int as unanswered
  from engines`

/** Deletes the answers of engines that ended so long ago that no receipt is outstanding. */
export const deleteOldAnswers = (sql: Sql, gatewayId: number) => sql`
  delete from gateway_answers where gateway_id = ${gatewayId} and seen_at < clock_timestamp() - interval '2 days'`

/** The gateway now connects to another SMSC, so the learnt format of the last SMSC does not apply. */
export const forgetReceiptIds = (sql: Sql, gatewayId: number) => sql`
  with answers as (delete from gateway_answers where gateway_id = ${gatewayId})
  delete from gateway_receipt_ids where gateway_id = ${gatewayId}`
