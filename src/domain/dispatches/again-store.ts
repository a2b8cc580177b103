import type { Sql } from '../../db/sql.ts'
import { REMOVED } from '../messages/message.ts'
import type { Dispatch, DispatchKey } from './dispatch.ts'

export function selectAgainOf(sql: Sql, key: DispatchKey) {
  return sql<{ dispatchId: number }[]>`
    select dispatch_id from dispatches
    where company_id = ${key.companyId} and again_of = ${key.dispatchId}`
}

export type Linked = { dispatchId: number; name: string; isLater: boolean }

/** The dispatch that this dispatch repeats, and the dispatch that repeats it. */
export function selectLinked(sql: Sql, { companyId, dispatchId }: { companyId: number; dispatchId: number }) {
  return sql<Linked[]>`
    select dispatch_id, name, false as is_later from dispatches
    where company_id = ${companyId}
      and dispatch_id = (select again_of from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId})
    union all
    select dispatch_id, name, true from dispatches where company_id = ${companyId} and again_of = ${dispatchId}`
}

type Copy = { dispatchId: number; name: string }

/** Copies the hours and days of the original. Its local times are left out, because they are in the past. */
export function insertCopy(sql: Sql, original: { companyId: number; dispatchId: number }, { dispatchId, name }: Copy) {
  return sql`
    insert into dispatches (
      company_id, dispatch_id, again_of, name, channel_type, traffic_type, template_id, text, sender_ids, sender_name,
      center_id, offset_minutes, hours, days, parts_per_second, options, api, callback_url, callback_events)
    select company_id, ${dispatchId}, dispatch_id, ${name}, channel_type, traffic_type, template_id, text, sender_ids,
      sender_name, center_id, offset_minutes, hours, days, parts_per_second,
      options - 'localSendTime' - 'localCompletionTime', api, callback_url, callback_events
    from dispatches where company_id = ${original.companyId} and dispatch_id = ${original.dispatchId}`
}

type Bounds = Pick<Dispatch, 'companyId' | 'dispatchId' | 'firstUuid' | 'lastUuid'>

/** Positions of failed messages with a text, one for each destination and text. Left out if another message with both was delivered or is pending. */
export function selectFailedPositions(sql: Sql, dispatch: Bounds, limit: number) {
  return sql<{ position: number }[]>`
    select min(dispatch_position) as position from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid} and text is distinct from ${REMOVED}
    group by destination, text having bool_and(status = 'FAILED')
    order by 1 limit ${limit}`
}

export type Failed = { destination: string; text: string | null }

export function selectAt(sql: Sql, dispatch: Bounds, positions: number[]) {
  return sql<Failed[]>`
    select destination, text from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid} and dispatch_position = any(${positions}::bigint[])
    order by dispatch_position`
}
