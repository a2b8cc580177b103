import type { Sql, Transaction } from '../../db/sql.ts'
import type { LaneKey } from '../lanes/single-lanes.ts'

/**
 * The most that one statement may take from here on in the transaction. It is for the COPY: a process that is frozen in
 * the middle of it is not idle in the eyes of the server, and would keep the account locked.
 */
const STATEMENT_MS = 5000

/**
 * The time by which keys are made, and the version of the company's templates; the statements that follow in the
 * transaction are limited. All in one statement: each one more would keep the account locked for longer.
 */
export const beginToWrite = (sql: Transaction, companyId: number) => sql<{ now: Date; templatesVersion: number }[]>`
  select clock_timestamp() as now,
    coalesce((select version from template_versions where company_id = ${companyId}), 0) as templates_version,
    set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

/** Messages whose time has come, and that are still to be sent. */
export function selectToPlace(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  return sql<(Omit<LaneKey, 'laneName'> & { senderName: string; uuid: string; sendAt: null })[]>`
    select message_uuid as uuid, channel_type, sender_id, sender_name,
      brand_id, null as send_at,
      case traffic_type when 'AUTHORIZE' then 0 when 'TRANSACT' then 1 when 'SERVICE' then 2 else 3 end as priority
    from messages
    where company_id = ${companyId} and message_uuid = any(${sorted}::uuid[])
      and message_uuid between ${sorted[0]!} and ${sorted.at(-1)!} and status = 'CREATED' and lane_id is null
    order by message_uuid`
}

export const notifyLanes = (sql: Sql) => sql`select pg_notify('tidings_lanes', '')`
