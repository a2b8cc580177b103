import type { Money } from '../../base/money.ts'
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

const ofDispatch = (sql: Sql, { companyId, dispatchId, firstUuid, lastUuid }: Bounds) => sql`
  company_id = ${companyId} and dispatch_id = ${dispatchId} and message_uuid between ${firstUuid} and ${lastUuid}`

/** A message without a text can be sent again only if the text of the dispatch needs no substitutions. */
const isSendable = (sql: Sql, hasPlaces: boolean) =>
  hasPlaces ? sql`text <> ${REMOVED}` : sql`text is distinct from ${REMOVED}`

/** Positions of failed messages, one for each destination and text. Left out if another message with both was delivered or is pending. */
export const selectFailedPositions = (sql: Sql, dispatch: Bounds, hasPlaces: boolean, limit: number) => sql<
  { position: number }[]
>`
  select min(dispatch_position) as position from messages
  where ${ofDispatch(sql, dispatch)} and ${isSendable(sql, hasPlaces)}
  group by destination, text having bool_and(status = 'FAILED')
  order by 1 limit ${limit}`

export type Failed = { position: number; destination: string; text: string | null }

/** The next failed messages. Only the range of positions is given, because a list of positions would be compared with each row. */
export const selectFailedFrom = (
  sql: Sql,
  dispatch: Bounds,
  { hasPlaces, first, last, limit }: { hasPlaces: boolean; first: number; last: number; limit: number },
) => sql<Failed[]>`
  select dispatch_position as position, destination, text from messages
  where ${ofDispatch(sql, dispatch)} and dispatch_position between ${first} and ${last}
    and status = 'FAILED' and ${isSendable(sql, hasPlaces)}
  order by dispatch_position limit ${limit}`

export type AgainCounts = {
  /** Messages of the new dispatch, and their prices in this dispatch. */
  messages: number
  price: Money
  /** Failed messages that are not sent again, by the reason. */
  repeated: number
  reached: number
  removed: number
  withoutText: number
}

/** Reads every message of the dispatch. */
export async function selectAgainCounts(sql: Sql, dispatch: Bounds, hasPlaces: boolean): Promise<AgainCounts> {
  const [counts] = await sql<AgainCounts[]>`
    with found as (
      select text, count(*) filter (where status = 'FAILED') as failed, bool_and(status = 'FAILED') as all_failed,
        coalesce(${isSendable(sql, hasPlaces)}, false) as is_sendable, max(price) as price
      from messages where ${ofDispatch(sql, dispatch)} group by destination, text)
    select count(*) filter (where is_sendable and all_failed) as messages,
      coalesce(sum(price) filter (where is_sendable and all_failed), 0) as price,
      coalesce(sum(failed - 1) filter (where is_sendable and all_failed), 0)::bigint as repeated,
      coalesce(sum(failed) filter (where is_sendable and not all_failed), 0)::bigint as reached,
      coalesce(sum(failed) filter (where text = ${REMOVED}), 0)::bigint as removed,
      coalesce(sum(failed) filter (where not is_sendable and text is null), 0)::bigint as without_text
    from found`
  if (!counts) throw new Error('The messages to send again were not counted')
  return counts
}

export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`
