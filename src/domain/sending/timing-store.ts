import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { CascadeCondition } from '../singles/single.ts'
import type { Told } from '../singles/telling.ts'

export type Expiring = { uuid: string; status: 'CREATED' | 'SENT'; inHand: boolean }

/** Of these, what has no end yet; and whether a worker has it in hand just now. */
export function selectExpiring(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  return sql<Expiring[]>`
    select m.uuid, m.status, exists (
      select from leases e
      where e.company_id = m.company_id and e.lane_id = m.lane_id and m.seq >= e.first_seq and m.seq < e.next_seq
        and e.worker is not null and e.until > clock_timestamp()) as "inHand"
    from messages m
    where m.company_id = ${companyId} and m.uuid = any(${sorted}::uuid[])
      and m.uuid between ${sorted[0]!} and ${sorted.at(-1)!} and m.status in ('CREATED', 'SENT')`
}

/**
 * Single messages whose lifetime passed while their lane stood still, its name suspended or its gateway away: in the
 * part of a lane that nobody took yet, and in what was given back.
 */
export function selectOverdueWaiting(sql: Sql, now: Date, limit: number) {
  return sql<{ companyId: number; uuid: string }[]>`
    with standing as (
      select company_id, lane_id, cursor as first_seq, tail as next_seq from lanes
      where dispatch_id is null and open and cursor < tail
      union all
      select e.company_id, e.lane_id, e.first_seq, e.next_seq
      from leases e join lanes l on l.company_id = e.company_id and l.lane_id = e.lane_id and l.dispatch_id is null
      where e.worker is null or e.until < clock_timestamp())
    select m.company_id as "companyId", m.uuid from standing s
    join messages m on m.company_id = s.company_id and m.lane_id = s.lane_id and m.seq >= s.first_seq
      and m.seq < s.next_seq and m.uuid >= uuid7_floor(now() - interval '100 days')
    where m.status = 'CREATED' and coalesce(m.waits_until, m.expires_at) <= ${now}
    limit ${limit}`
}

export type ToldMessage = Told & {
  /** Of the API that its client speaks. */
  format: 'partner' | 'messaging'
  status: string
  parts: number
  finalPrice: Money | null
  sentAt: Date | null
  readAt: Date | null
  /** Of one with a ttl. */
  expiresAt: Date | null
  /** When nothing of it may be sent any more. */
  completeBy: Date | null
  /** Of a dispatch, instead: on the clock of the zone. */
  completionTime: string | null
  zone: string | null
  /** How long a step of a cascade may try, and what it waits for. */
  stepSeconds: number | null
  condition: CascadeCondition | null
  /** Of a message with a verification code. */
  verification: { verifierId: string; country: string } | null
}

/** What must be known of messages to tell their clients: of dispatches, as the dispatch says. */
export function selectTold(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  return sql<ToldMessage[]>`
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

/** The first word about reading counts, in the channels in which it counts. */
export function updateReads(sql: Sql, companyId: number, channels: string[], reads: { uuid: string; at: Date }[]) {
  const sorted = reads.map(({ uuid }) => uuid).toSorted()
  return sql<{ uuid: string; readAt: Date }[]>`
    update messages m set read_at = q.read_at
    from unnest(
      ${reads.map(({ uuid }) => uuid)}::uuid[], ${reads.map(({ at }) => at.toISOString())}::timestamptz[]) q (uuid, read_at)
    where m.company_id = ${companyId} and m.uuid = q.uuid and m.uuid between ${sorted[0]!} and ${sorted.at(-1)!}
      and m.read_at is null and m.status = 'DELIVERED'
      and coalesce(m.channel_type, (
        select d.channel_type from dispatches d where d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
      )) = any(${channels}::text[])
    returning m.uuid, m.read_at as "readAt"`
}
