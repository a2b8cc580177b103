import type { Sql } from '../../db/sql.ts'
import type { CascadePlan } from '../singles/single.ts'

export type NextStep = { cascadeUuid: string; step: number; planned: CascadePlan[number] }

/** Takes the step after each of these, once: who comes second finds it taken. */
export function takeNextSteps(sql: Sql, companyId: number, ended: { cascadeUuid: string; step: number }[]) {
  return sql<NextStep[]>`
    update cascades c set next_step = c.next_step + 1
    from unnest(${ended.map(({ cascadeUuid }) => cascadeUuid)}::uuid[], ${ended.map(({ step }) => step)}::int[]) q (uuid, step)
    where c.company_id = ${companyId} and c.cascade_uuid = q.uuid and c.ended_at is null
      and c.next_step = q.step + 1 and c.next_step <= jsonb_array_length(c.steps)
    returning c.cascade_uuid as "cascadeUuid", (q.step + 1)::int as step, c.steps -> q.step as planned`
}

/** Ends cascades; returns those that had steps left. */
export function endCascades(sql: Sql, companyId: number, cascadeUuids: string[], now: Date) {
  return sql<{ cascadeUuid: string }[]>`
    update cascades set ended_at = ${now}
    where company_id = ${companyId} and cascade_uuid = any(${cascadeUuids}::uuid[]) and ended_at is null
      and next_step <= jsonb_array_length(steps)
    returning cascade_uuid as "cascadeUuid"`
}

export type OpenStep = {
  uuid: string
  status: 'CREATED' | 'SENT' | 'DELIVERED' | 'FAILED'
  readAt: Date | null
  cascadeUuid: string
  step: number
  condition: 'not_delivered' | 'not_read'
}

/** Where these steps stand, and what their cascades wait for. */
export function selectSteps(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  return sql<OpenStep[]>`
    select m.uuid, m.status, m.read_at as "readAt", m.cascade_uuid as "cascadeUuid", m.cascade_step as step,
      c.steps -> (m.cascade_step - 1) ->> 'condition' as condition
    from messages m join cascades c on c.company_id = m.company_id and c.cascade_uuid = m.cascade_uuid
    where m.company_id = ${companyId} and m.uuid = any(${sorted}::uuid[])
      and m.uuid between ${sorted[0]!} and ${sorted.at(-1)!}`
}
