import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { CascadeCondition } from '../messages/single.ts'
import type { Told } from '../singles/telling.ts'

/** A message with the fields that callbacks, timers and cascades need. */
export type ReportedMessage = Told & {
  /** The API of the client. */
  format: 'partner' | 'messaging'
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
  return sql<ReportedMessage[]>`
    select m.uuid, coalesce(m.channel_type, d.channel_type) as "channelType", m.external_id as "externalId",
      coalesce(m.callback_url, d.callback_url) as "callbackUrl",
      coalesce(m.callback_events, d.callback_events, '{delivered}') as "callbackEvents",
      m.cascade_uuid as "cascadeUuid", m.cascade_step as "cascadeStep", coalesce(d.format, 'messaging') as format,
      m.status, m.parts, m.final_price as "finalPrice", m.sent_at as "sentAt", m.read_at as "readAt",
      m.expires_at as "expiresAt", (m.options -> 'window' ->> 'endAt')::timestamptz as "completeBy",
      d.options ->> 'localCompletionTime' as "completionTime", l.zone,
      (c.steps -> (m.cascade_step - 1) ->> 'ttlSeconds')::int as "stepSeconds",
      c.steps -> (m.cascade_step - 1) ->> 'condition' as condition,
      m.options -> 'verification' as verification
    from messages m
    left join lanes l on l.company_id = m.company_id and l.lane_id = m.lane_id
    left join dispatches d on d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
    left join cascades c on c.company_id = m.company_id and c.cascade_uuid = m.cascade_uuid
    where m.company_id = ${companyId} and m.uuid = any(${sorted}::uuid[])
      and m.uuid between ${sorted[0]!} and ${sorted.at(-1)!}`
}
