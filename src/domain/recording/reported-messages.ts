import type { Money } from '../../base/money.ts'
import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import type { CascadeCondition } from '../messages/single.ts'
import type { CallbackFields } from '../singles/message-callbacks.ts'

/** A message with the fields that callbacks, timers and cascades need. */
export type ReportedMessage = CallbackFields & {
  /** The API of the client. */
  api: 'partner' | 'messaging'
  status: string
  parts: number
  finalPrice: Money | null
  sentAt: Date | null
  readAt: Date | null
  /** Set for a message with a ttl. */
  expiresAt: Date | null
  /** After this moment the message, and later steps of its cascade, are not sent. */
  completeBy: Date | null
  /** The same for a dispatch, as a time of day in `zone`. */
  completionTime: string | null
  zone: string | null
  /** Of a step of a cascade: how long it may take, and the condition for the next step. */
  stepSeconds: number | null
  condition: CascadeCondition | null
  /** Set for a message with a verification code. */
  verification: { verifierId: string; country: string } | null
}

export async function reportedMessages(
  sql: Sql,
  companyId: number,
  messages: { uuid: string }[],
): Promise<Map<string, ReportedMessage>> {
  const rows = await selectReported(
    sql,
    companyId,
    messages.map(({ uuid }) => uuid),
  )
  return new Map(rows.map(row => [row.uuid, row]))
}

/** A message of a dispatch has the callbacks and the times of the dispatch. */
export function selectReported(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  const range = uuidRange(sorted)
  return sql<ReportedMessage[]>`
    select m.message_uuid as uuid, coalesce(m.channel_type, d.channel_type) as channel_type, m.external_id,
      coalesce(m.callback_url, d.callback_url) as callback_url,
      coalesce(m.callback_events, d.callback_events, '{delivered}') as callback_events,
      m.cascade_uuid, m.cascade_step, coalesce(d.api, 'messaging') as api,
      m.status, m.parts, m.final_price, m.sent_at, m.read_at,
      m.expires_at, (m.options -> 'window' ->> 'endAt')::timestamptz as complete_by,
      d.options ->> 'localCompletionTime' as completion_time, l.zone,
      (c.steps -> (m.cascade_step - 1) ->> 'ttlSeconds')::int as step_seconds,
      c.steps -> (m.cascade_step - 1) ->> 'condition' as condition,
      m.options -> 'verification' as verification
    from messages m
    left join lanes l on l.company_id = m.company_id and l.lane_id = m.lane_id
    left join dispatches d on d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
    left join cascades c on c.company_id = m.company_id and c.cascade_uuid = m.cascade_uuid
    where m.company_id = ${companyId} and m.message_uuid = any(${sorted}::uuid[])
      and m.message_uuid between ${range.first} and ${range.last}`
}
