import type { Sql } from '../../db/sql.ts'
import type { CascadePlan } from '../messages/single.ts'
import type { KeyRange } from '../messages/texts.ts'

export type NextStep = {
  cascadeUuid: string
  step: number
  planned: CascadePlan[number]
  /** The verification whose code the step carries, and the end of the code. */
  verificationUuid: string | null
  codeEndsAt: Date | null
}

/**
 * The cascade has steps left and was not stopped, neither by itself nor with its dispatch. A cascade that carries a
 * verification code ends when the number is confirmed, the code is no longer valid, or a newer code was sent.
 */
const mayContinue = (c: string) => `(
  ${c}.ended_at is null and ${c}.next_step <= jsonb_array_length(${c}.steps) and not exists (
    select from dispatches d
    where d.company_id = ${c}.company_id and d.dispatch_id = ${c}.dispatch_id and d.ended_at is not null)
  and not exists (
    select from verifications v
    where v.company_id = ${c}.company_id and v.verification_uuid = ${c}.verification_uuid
      and (v.confirmed_at is not null or v.tries_left = 0 or v.newest_uuid <> ${c}.cascade_uuid
        or (select max(ends) from unnest(v.code_ends) ends) <= now())))`

/**
 * A condition for the rows of cascades of one company, under their name in the statement: the cascade sends nothing more. Only
 * its last written message starts the next step: when it fails, or when it stays unread until its step timer. Both happen
 * in the transaction that writes the next step.
 */
export const isFinished = (c: string) => `(not ${mayContinue(c)} or not exists (
  select from messages m
  where m.company_id = ${c}.company_id and m.cascade_uuid = ${c}.cascade_uuid and m.cascade_step = ${c}.next_step - 1
    and (m.status in ('CREATED', 'SENT')
      or m.status = 'DELIVERED' and m.read_at is null
        and ${c}.steps -> (m.cascade_step - 1) ->> 'condition' = 'not_read' and exists (
        select from message_timers t
        where t.company_id = m.company_id and t.message_uuid = m.message_uuid and t.kind = 'step'))))`

const canContinue = (sql: Sql) => sql.unsafe(mayContinue('c'))
const hasFinished = (sql: Sql) => sql.unsafe(isFinished('c'))

/** Takes the step after each ended step. Of two concurrent calls only one gets the step. */
export function takeNextSteps(sql: Sql, companyId: number, ended: { cascadeUuid: string; step: number }[]) {
  return sql<NextStep[]>`
    update cascades c set next_step = c.next_step + 1
    from unnest(${ended.map(({ cascadeUuid }) => cascadeUuid)}::uuid[], ${ended.map(({ step }) => step)}::int[]) q (message_uuid, step)
    where c.company_id = ${companyId} and c.cascade_uuid = q.message_uuid and c.next_step = q.step + 1 and ${canContinue(sql)}
    returning c.cascade_uuid, (q.step + 1)::int as step, c.steps -> q.step as planned,
      c.verification_uuid, (
        select max(ends) from verifications v, unnest(v.code_ends) ends
        where v.company_id = c.company_id and v.verification_uuid = c.verification_uuid) as code_ends_at`
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

/** Cascades below this key began before the first attached month and more than a hundred days ago. */
export const selectOldestNeeded = (sql: Sql) => sql<{ uuid: string }[]>`
  select uuid7_floor(least(first::timestamp at time zone 'UTC', now() - interval '100 days')) as uuid
  from (
    select min(to_date(substring(t.relname from 10), 'YYYY_MM')) as first from pg_inherits i
    join pg_class t on t.oid = i.inhrelid where i.inhparent = 'messages'::regclass) months`

/**
 * Deletes cascades of a company below this key that have no messages in attached months. A later step may be in a later
 * month than the first step. A cascade whose dispatch was COMPLETED less than a hundred days ago may still get a step.
 * `offset 0` makes PostgreSQL look up the messages of each cascade in the index instead of reading all messages.
 */
export function deleteOldCascades(sql: Sql, companyId: number, belowUuid: string, limit: number) {
  return sql`
    with old as (
      select c.cascade_uuid from cascades c
      where c.company_id = ${companyId} and c.cascade_uuid < ${belowUuid}
        and not exists (
          select from dispatches d
          where d.company_id = ${companyId} and d.dispatch_id = c.dispatch_id
            and (d.status <> 'COMPLETED' or d.completed_at > now() - interval '100 days') offset 0)
        and not exists (
          select from messages m where m.company_id = ${companyId} and m.cascade_uuid = c.cascade_uuid offset 0)
      limit ${limit})
    delete from cascades c using old where c.company_id = ${companyId} and c.cascade_uuid = old.cascade_uuid`
}

/** The steps of the cascade `c` with nothing but their conditions and times. */
const stepsWithoutRequests = (sql: Sql) => sql`(
  select jsonb_agg(jsonb_build_object('condition', step -> 'condition', 'ttlSeconds', step -> 'ttlSeconds') order by n)
  from jsonb_array_elements(c.steps) with ordinality s (step, n))`

/** Removes texts and numbers of finished cascades. The conditions of their steps stay. */
export function forgetRequests(sql: Sql, companyId: number, cascadeUuids: string[]) {
  return sql`
    update cascades c set steps = ${stepsWithoutRequests(sql)}
    where c.company_id = ${companyId} and c.cascade_uuid = any(${cascadeUuids}::uuid[]) and c.steps <> '[]'
      and ${hasFinished(sql)}`
}

/** Removes texts and numbers of finished cascades whose first messages have these keys. */
export function forgetOldRequests(sql: Sql, companyId: number, { after, until }: KeyRange) {
  return sql`
    update cascades c set steps = ${stepsWithoutRequests(sql)}
    where c.company_id = ${companyId} and c.cascade_uuid > ${after} and c.cascade_uuid <= ${until}
      and c.steps @? '$[*].request' and ${hasFinished(sql)}`
}
