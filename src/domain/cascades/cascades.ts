import type { Sql } from '../../db/sql.ts'
import type { CascadePlan } from '../messages/single.ts'

export type NextStep = {
  cascadeUuid: string
  step: number
  planned: CascadePlan[number]
  /** The verification whose code the step carries, and the seconds for which the code is still valid. */
  verificationUuid: string | null
  secondsLeft: number | null
}

/**
 * The cascade `c` has steps left and was not stopped, neither by itself nor with its dispatch. A cascade that carries a
 * verification code ends when the number is confirmed, the code is no longer valid, or a newer code was sent.
 */
const canContinue = (sql: Sql) => sql`
  c.ended_at is null and c.next_step <= jsonb_array_length(c.steps) and not exists (
    select from dispatches d
    where d.company_id = c.company_id and d.dispatch_id = c.dispatch_id and d.ended_at is not null)
  and not exists (
    select from verifications v
    where v.company_id = c.company_id and v.verification_uuid = c.verification_uuid
      and (v.confirmed_at is not null or v.tries_left = 0 or v.newest_uuid <> c.cascade_uuid
        or (select max(ends) from unnest(v.code_ends) ends) <= now()))`

/** Takes the step after each ended step. Of two concurrent calls only one gets the step. */
export function takeNextSteps(sql: Sql, companyId: number, ended: { cascadeUuid: string; step: number }[]) {
  return sql<NextStep[]>`
    update cascades c set next_step = c.next_step + 1
    from unnest(${ended.map(({ cascadeUuid }) => cascadeUuid)}::uuid[], ${ended.map(({ step }) => step)}::int[]) q (message_uuid, step)
    where c.company_id = ${companyId} and c.cascade_uuid = q.message_uuid and c.next_step = q.step + 1 and ${canContinue(sql)}
    returning c.cascade_uuid, (q.step + 1)::int as step, c.steps -> q.step as planned,
      c.verification_uuid, (
        select ceil(extract(epoch from max(ends) - now()))::int from verifications v, unnest(v.code_ends) ends
        where v.company_id = c.company_id and v.verification_uuid = c.verification_uuid) as seconds_left`
}

/** The steps of the cascade `c` without the encrypted texts of their codes. */
const stepsWithoutCodes = (sql: Sql) => sql`(
  select jsonb_agg(step #- '{request,sealed}' order by n) from jsonb_array_elements(c.steps) with ordinality s (step, n))`

/** Removes the codes of cascades that send nothing more. */
export function forgetCodes(sql: Sql, companyId: number, cascadeUuids: string[]) {
  return sql`
    update cascades c set steps = ${stepsWithoutCodes(sql)}
    where c.company_id = ${companyId} and c.cascade_uuid = any(${cascadeUuids}::uuid[])
      and c.verification_uuid is not null and not (${canContinue(sql)})`
}

/** Ends cascades and removes their codes. Returns the cascades that had steps left. */
export function endCascades(sql: Sql, companyId: number, cascadeUuids: string[], now: Date) {
  return sql<{ cascadeUuid: string }[]>`
    update cascades c set ended_at = ${now},
      steps = case when c.verification_uuid is null then c.steps else ${stepsWithoutCodes(sql)} end
    where c.company_id = ${companyId} and c.cascade_uuid = any(${cascadeUuids}::uuid[]) and ${canContinue(sql)}
    returning c.cascade_uuid`
}

/**
 * Deletes cascades without messages in attached months. A later step may be in a later month than the first step. A cascade
 * younger than a hundred days may still get a step, and so may a cascade whose dispatch was COMPLETED less than a hundred
 * days ago. The statement works company by company, because the indexes begin with the company. `offset 0` makes PostgreSQL
 * look up the messages of each cascade in the index instead of reading all messages.
 */
export function deleteOldCascades(sql: Sql, limit: number) {
  return sql`
    with months as (
      select min(to_date(substring(t.relname from 10), 'YYYY_MM')) as first from pg_inherits i
      join pg_class t on t.oid = i.inhrelid where i.inhparent = 'messages'::regclass),
    bound as (
      select uuid7_floor(least(first::timestamp at time zone 'UTC', now() - interval '100 days')) as least from months),
    old as (
      select o.* from companies k cross join bound b cross join lateral (
        select c.company_id, c.cascade_uuid from cascades c
        where c.company_id = k.company_id and c.cascade_uuid < b.least
          and not exists (
            select from dispatches d
            where d.company_id = c.company_id and d.dispatch_id = c.dispatch_id
              and (d.status <> 'COMPLETED' or d.completed_at > now() - interval '100 days') offset 0)
          and not exists (
            select from messages m where m.company_id = c.company_id and m.cascade_uuid = c.cascade_uuid offset 0)
        limit ${limit}) o
      limit ${limit})
    delete from cascades c using old where c.company_id = old.company_id and c.cascade_uuid = old.cascade_uuid`
}
