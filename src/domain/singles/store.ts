import { formatMoney } from '../../base/money.ts'
import { copyInto, copyText } from '../../db/copy.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { CascadePlan, NewSingle } from './single.ts'

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
    coalesce((select version from template_versions where company_id = ${companyId}), 0) as "templatesVersion",
    set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`

/** `laneName`: a name without registration that has a lane of its own. */
export type LaneKey = Pick<NewSingle, 'channelType' | 'senderId' | 'brandId' | 'priority'> & { laneName: string | null }
export type LaneRoom = LaneKey & { laneId: number; first: number }

/** Makes room for messages at the end of lanes of singles; a lane is made when it is missing, and always open. */
export function extendLanes(sql: Sql, companyId: number, lanes: (LaneKey & { count: number })[]) {
  return sql<LaneRoom[]>`
    with wanted as (
      select * from unnest(
        ${lanes.map(({ channelType }) => channelType)}::text[], ${lanes.map(({ senderId }) => senderId)}::bigint[],
        ${lanes.map(({ laneName }) => laneName)}::text[], ${lanes.map(({ brandId }) => brandId)}::smallint[],
        ${lanes.map(({ priority }) => priority)}::smallint[], ${lanes.map(({ count }) => count)}::bigint[]
      ) q (channel_type, sender_id, sender_name, brand_id, priority, count)),
    extended as (
      insert into lanes as l (company_id, channel_type, sender_id, sender_name, brand_id, priority, tail, open)
      select ${companyId}, channel_type, sender_id, sender_name, brand_id, priority, count, true from wanted
      on conflict (company_id, dispatch_id, channel_type, sender_id, sender_name, brand_id, priority, zone)
      do update set tail = l.tail + excluded.tail, open = true
      returning l.*)
    select e.lane_id as "laneId", e.tail - w.count as first, e.channel_type as "channelType", e.sender_id as "senderId",
      e.sender_name as "laneName", e.brand_id as "brandId", e.priority
    from extended e join wanted w on e.channel_type = w.channel_type and e.sender_id is not distinct from w.sender_id
      and e.sender_name is not distinct from w.sender_name and e.brand_id = w.brand_id and e.priority = w.priority`
}

/** `laneId` and `seq` are empty until its time comes; `failed` is a message that cannot be sent and is kept as such. */
export type PlacedSingle = NewSingle & {
  uuid: string
  laneId: number | null
  seq: number | null
  failed?: { errorCode: number; at: Date }
}

const written = [
  'company_id',
  'uuid',
  'lane_id',
  'seq',
  'sender_id',
  'tariff_id',
  'price',
  'status',
  'parts',
  'brand_id',
  'destination',
  'text',
  'channel_type',
  'sender_name',
  'external_id',
  'center_id',
  'sending_method',
  'traffic_type',
  'template_id',
  'content',
  'options',
  'callback_url',
  'callback_events',
  'send_at',
  'expires_at',
  'waits_until',
  'cascade_uuid',
  'cascade_step',
  'error_code',
  'final_at',
  'final_price',
  'sealed',
  'key_id',
]

export function copyMessages(sql: Transaction, companyId: number, messages: PlacedSingle[]) {
  return copyInto(sql, 'messages', written, async write => {
    let rows = ''
    for (const message of messages) rows += rowOf(companyId, message)
    await write(rows)
  })
}

const NULL = '\\N'
const or = (value: number | null) => (value === null ? NULL : value)
const text = (value: string | null) => (value === null ? NULL : copyText(value))
/** As COPY reads bytes: hex behind an escaped `\\x`. */
const bytes = (hex: string) => `\\\\x${hex}`
const json = (value: object | null) => (value === null ? NULL : copyText(JSON.stringify(value)))

function rowOf(companyId: number, m: PlacedSingle): string {
  const cascadeUuid = m.cascade ? ('uuid' in m.cascade ? m.cascade.uuid : m.uuid) : NULL
  const end = m.failed ? `${m.failed.errorCode}\t${m.failed.at.toISOString()}\t0` : `${NULL}\t${NULL}\t${NULL}`
  const ends = m.endsEarly ? `${m.expiresAt.toISOString()}\t${NULL}` : `${NULL}\t${m.expiresAt.toISOString()}`
  return `${companyId}\t${m.uuid}\t${or(m.laneId)}\t${or(m.seq)}\t${or(m.senderId)}\t${or(m.tariffId)}\t${formatMoney(m.price)}\t${m.failed ? 'FAILED' : 'CREATED'}\t${m.parts}\t${m.brandId}\t${copyText(m.destination)}\t${copyText(m.text)}\t${m.channelType}\t${copyText(m.senderName)}\t${text(m.externalId)}\t${or(m.centerId)}\t${m.method}\t${m.trafficType}\t${or(m.templateId)}\t${json(m.content)}\t${json(m.options)}\t${text(m.callbackUrl)}\t${m.callbackEvents ? `{${m.callbackEvents.join(',')}}` : NULL}\t${m.sendAt?.toISOString() ?? NULL}\t${ends}\t${cascadeUuid}\t${m.cascade?.step ?? NULL}\t${end}\t${m.sealed && !m.failed ? bytes(m.sealed) : NULL}\t${m.keyId ?? NULL}\n`
}

export type NewCascade = { uuid: string; plan: CascadePlan; verificationUuid: string | null }

export function insertCascades(sql: Sql, companyId: number, cascades: NewCascade[]) {
  return sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step, verification_uuid)
    select ${companyId}, q.uuid, q.steps::jsonb, 2, q.verification from unnest(
      ${cascades.map(({ uuid }) => uuid)}::uuid[], ${cascades.map(({ plan }) => JSON.stringify(plan.map(planned)))}::text[],
      ${cascades.map(({ verificationUuid }) => verificationUuid)}::uuid[]
    ) q (uuid, steps, verification)`
}

/** The first step is a message already: its encrypted code is kept there alone. */
function planned(step: CascadePlan[number], index: number): CascadePlan[number] {
  if (index > 0 || !step.wish.sealed) return step
  const { sealed: _, ...wish } = step.wish
  return { ...step, wish }
}

/** Messages whose time has come, and that are still to be sent. */
export function selectToPlace(sql: Sql, companyId: number, uuids: string[]) {
  const sorted = uuids.toSorted()
  return sql<(Omit<LaneKey, 'laneName'> & { senderName: string; uuid: string; sendAt: null })[]>`
    select uuid, channel_type as "channelType", sender_id as "senderId", sender_name as "senderName",
      brand_id as "brandId", null as "sendAt",
      case traffic_type when 'AUTHORIZE' then 0 when 'TRANSACT' then 1 when 'SERVICE' then 2 else 3 end as priority
    from messages
    where company_id = ${companyId} and uuid = any(${sorted}::uuid[])
      and uuid between ${sorted[0]!} and ${sorted.at(-1)!} and status = 'CREATED' and lane_id is null
    order by uuid`
}

/** Without a join: see `moveMessages`. */
export function updatePlaces(sql: Sql, companyId: number, places: { uuid: string; laneId: number; seq: number }[]) {
  const sorted = places.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))
  return sql`
    update messages m set lane_id = q.lane_ids[width_bucket(m.uuid, q.uuids)], seq = q.seqs[width_bucket(m.uuid, q.uuids)]
    from (
      select ${sorted.map(({ uuid }) => uuid)}::uuid[] as uuids, ${sorted.map(({ laneId }) => laneId)}::bigint[] as lane_ids,
        ${sorted.map(({ seq }) => seq)}::bigint[] as seqs
    ) q
    where m.company_id = ${companyId} and m.uuid = any(q.uuids)
      and m.uuid between ${sorted[0]!.uuid} and ${sorted.at(-1)!.uuid}`
}

export const notifyLanes = (sql: Sql) => sql`select pg_notify('tidings_lanes', '')`
