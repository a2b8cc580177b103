import type { Sql } from '../../db/sql.ts'

export type Stoppable = {
  uuid: string
  status: 'CREATED' | 'SENT' | 'DELIVERED' | 'FAILED'
  inHand: boolean
  cascadeUuid: string | null
  cascadeStep: number | null
  /** What its cascade waited for with this step has happened: nothing follows. */
  isMet: boolean
}

const asked = (sql: Sql, companyId: number, uuids: string[]) => {
  const sorted = uuids.toSorted()
  return sql`
    select message_uuid, status, dispatch_id, lane_id, seq, cascade_uuid, cascade_step, read_at from messages
    where company_id = ${companyId} and message_uuid = any(${sorted}::uuid[])
      and message_uuid between ${sorted[0]!} and ${sorted.at(-1)!}
    union
    select message_uuid, status, dispatch_id, lane_id, seq, cascade_uuid, cascade_step, read_at from messages
    where company_id = ${companyId} and cascade_uuid = any(${sorted}::uuid[]) and message_uuid >= ${sorted[0]!}`
}

/** Before their lanes, as whoever adds messages to a dispatch does: neither waits for the other with half of it in hand. */
export function lockDispatchesOf(sql: Sql, companyId: number, uuids: string[]) {
  return sql`
    select from dispatches where company_id = ${companyId} and dispatch_id in (
      select dispatch_id from (${asked(sql, companyId, uuids)}) a)
    order by dispatch_id for update`
}

/** Whoever takes chunks passes over a lane that is locked. */
export function lockLanesOf(sql: Sql, companyId: number, uuids: string[]) {
  return sql`
    select from lanes where company_id = ${companyId} and lane_id in (
      select lane_id from (${asked(sql, companyId, uuids)}) a)
    order by lane_id for update`
}

/** Where messages stand. With the first of a cascade come all its steps. */
export function selectStoppable(sql: Sql, companyId: number, uuids: string[]) {
  return sql<Stoppable[]>`
    select m.message_uuid as uuid, m.status, m.cascade_uuid, m.cascade_step,
      m.status = 'DELIVERED' and (m.read_at is not null
        or coalesce(c.steps -> (m.cascade_step - 1) ->> 'condition', '') <> 'not_read') as is_met, exists (
      select from leases e
      where e.company_id = ${companyId} and e.lane_id = m.lane_id and m.seq >= e.first_seq and m.seq < e.next_seq
        and e.worker is not null) as in_hand
    from (${asked(sql, companyId, uuids)}) m
    left join cascades c on c.company_id = ${companyId} and c.cascade_uuid = m.cascade_uuid`
}
