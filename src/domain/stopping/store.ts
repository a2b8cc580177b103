import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'

export type Stoppable = {
  uuid: string
  status: 'CREATED' | 'SENT' | 'DELIVERED' | 'FAILED'
  isLeased: boolean
  cascadeUuid: string | null
  cascadeStep: number | null
  /** The step met the condition of its cascade, so no further step follows. */
  isMet: boolean
}

const requested = (sql: Sql, companyId: number, uuids: string[]) => {
  const sorted = uuids.toSorted()
  const range = uuidRange(sorted)
  return sql`
    select message_uuid, status, dispatch_id, lane_id, seq, cascade_uuid, cascade_step, read_at from messages
    where company_id = ${companyId} and message_uuid = any(${sorted}::uuid[])
      and message_uuid between ${range.first} and ${range.last}
    union
    select message_uuid, status, dispatch_id, lane_id, seq, cascade_uuid, cascade_step, read_at from messages
    where company_id = ${companyId} and cascade_uuid = any(${sorted}::uuid[]) and message_uuid >= ${range.first}`
}

/** Locks the dispatches before their lanes. Code that adds messages uses the same order, so they do not deadlock. */
export function lockDispatchesOf(sql: Sql, companyId: number, uuids: string[]) {
  return sql`
    select from dispatches where company_id = ${companyId} and dispatch_id in (
      select dispatch_id from (${requested(sql, companyId, uuids)}) a)
    order by dispatch_id for update`
}

/** Workers skip a locked lane when they take leases. */
export function lockLanesOf(sql: Sql, companyId: number, uuids: string[]) {
  return sql`
    select from lanes where company_id = ${companyId} and lane_id in (
      select lane_id from (${requested(sql, companyId, uuids)}) a)
    order by lane_id for update`
}

/** The states of messages. The first message of a cascade brings all its steps. */
export function selectStoppable(sql: Sql, companyId: number, uuids: string[]) {
  return sql<Stoppable[]>`
    select m.message_uuid as uuid, m.status, m.cascade_uuid, m.cascade_step,
      m.status = 'DELIVERED' and (m.read_at is not null
        or coalesce(c.steps -> (m.cascade_step - 1) ->> 'condition', '') <> 'not_read') as is_met, exists (
      select from leases e
      where e.company_id = ${companyId} and e.lane_id = m.lane_id and m.seq >= e.first_seq and m.seq < e.next_seq
        and e.worker is not null) as is_leased
    from (${requested(sql, companyId, uuids)}) m
    left join cascades c on c.company_id = ${companyId} and c.cascade_uuid = m.cascade_uuid`
}
