import { uuidRange } from '../../base/uuid7.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { announcementsOf } from '../lanes/announcements.ts'
import type { LaneKey } from '../lanes/single-lanes.ts'

/**
 * The limit of each following statement of the transaction. It protects the COPY: a process that is frozen during a COPY
 * is not idle for PostgreSQL, and would keep the account locked.
 */
const STATEMENT_MS = 5000

/**
 * Reads the time for the message keys and the version of the templates, and limits the following statements. It is one
 * statement, because each further statement would keep the account locked for longer.
 */
export const beginWrite = (sql: Transaction, companyId: number) => sql<{ now: Date; templatesVersion: number }[]>`
  select clock_timestamp() as now,
    coalesce((select version from template_versions where company_id = ${companyId}), 0) as templates_version,
    set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

/** CREATED messages that are due and have no lane yet. */
export function selectToPlace(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  const range = uuidRange(sorted)
  return sql<(Omit<LaneKey, 'laneName'> & { senderName: string; uuid: string; sendAt: null })[]>`
    select message_uuid as uuid, channel_type, sender_id, sender_name,
      brand_id, null as send_at,
      case traffic_type when 'AUTHORIZE' then 0 when 'TRANSACT' then 1 when 'SERVICE' then 2 else 3 end as priority
    from messages
    where company_id = ${companyId} and message_uuid = any(${sorted}::uuid[])
      and message_uuid between ${range.first} and ${range.last} and status = 'CREATED' and lane_id is null
    order by message_uuid`
}

/** Tells the engines which lanes of a company have new messages. */
export const notifyLanes = (sql: Sql, companyId: number, singles: Pick<LaneKey, 'priority' | 'channelType'>[]) => sql`
  select pg_notify('tidings_lanes', announcement) from unnest(${announcementsOf(companyId, singles)}::text[]) announcement`
