import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'

/** Records when messages were read. Only the first report of a message counts, and only in these channels. */
export function updateReads(sql: Sql, companyId: number, channels: string[], reads: { uuid: string; at: Date }[]) {
  const sorted = reads.map(({ uuid }) => uuid).toSorted()
  const range = uuidRange(sorted)
  return sql<{ uuid: string; readAt: Date }[]>`
    update messages m set read_at = q.read_at
    from unnest(
      ${reads.map(({ uuid }) => uuid)}::uuid[], ${reads.map(({ at }) => at.toISOString())}::timestamptz[]) q (message_uuid, read_at)
    where m.company_id = ${companyId} and m.message_uuid = q.message_uuid and m.message_uuid between ${range.first} and ${range.last}
      and m.read_at is null and m.status = 'DELIVERED'
      and coalesce(m.channel_type, (
        select d.channel_type from dispatches d where d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
      )) = any(${channels}::text[])
    returning m.message_uuid as uuid, m.read_at`
}
