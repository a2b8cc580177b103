import { uuidRange } from '../../base/uuid7.ts'
import { reachable } from '../../db/reachable.ts'
import type { Fragment, Sql } from '../../db/sql.ts'

/** Asks the engine to stop messages that a worker may be sending. The worker checks before it submits a message. */
export function requestStops(sql: Sql, companyId: number, uuids: string[]) {
  return sql`
    insert into stop_requests (company_id, message_uuid)
    select o.company_id, uuid from companies o, unnest(${uuids}::uuid[]) uuid where o.company_id = ${companyId}
    on conflict do nothing`
}

/** Asks for the messages that a query returns (`company_id, uuid`). */
export const requestStopsOf = (sql: Sql, messages: Fragment) => sql`
  insert into stop_requests (company_id, message_uuid) ${messages}
  on conflict do nothing`

export function selectStopped(sql: Sql, companyId: number, uuids: string[]) {
  return sql<{ uuid: string }[]>`
    select message_uuid as uuid from stop_requests where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[])`
}

export type StopRequest = { companyId: number; uuid: string }

export function selectStopRequests(sql: Sql, after: StopRequest, limit: number) {
  return sql<StopRequest[]>`
    select company_id, message_uuid as uuid from stop_requests
    where (company_id, message_uuid) > (${after.companyId}, ${after.uuid}::uuid) ${reachable(sql)}
    order by company_id, message_uuid limit ${limit}`
}

/** Deletes the requests whose messages are no longer CREATED. */
export function deleteStopRequests(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  const range = uuidRange(sorted)
  return sql`
    delete from stop_requests r
    where r.company_id = ${companyId} and r.message_uuid = any(${sorted}::uuid[]) and not exists (
      select from messages m
      where m.company_id = ${companyId} and m.message_uuid = r.message_uuid and m.message_uuid between ${range.first} and ${range.last}
        and m.status = 'CREATED')`
}
