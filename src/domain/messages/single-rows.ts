import { formatMoney } from '../../base/money.ts'
import { copyInto, copyText } from '../../db/copy.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { NewSingle } from './single.ts'

/**
 * A single message with its place in a lane. `laneId` and `seq` are empty while the message waits for its `sendAt`. `failed` is
 * set for a message that cannot be sent: it is kept as FAILED.
 */
export type PlacedSingle = NewSingle & {
  uuid: string
  laneId: number | null
  seq: number | null
  failed?: { errorCode: number; at: Date }
}

const written = [
  'company_id',
  'message_uuid',
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

export function copySingles(sql: Transaction, companyId: number, messages: PlacedSingle[]) {
  return copyInto(sql, 'messages', written, async write => {
    for (let i = 0; i < messages.length; i += PIECE) {
      let rows = ''
      for (const message of messages.slice(i, i + PIECE)) rows += rowOf(companyId, message)
      await write(rows)
    }
  })
}

/** PostgreSQL inserts the rows of one piece while the next one is built. */
const PIECE = 250

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

/** Gives single messages their places in lanes. There is no join, for the reason given at `updateStatuses`. */
export function updatePlaces(sql: Sql, companyId: number, places: { uuid: string; laneId: number; seq: number }[]) {
  const sorted = places.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))
  return sql`
    update messages m set lane_id = q.lane_ids[width_bucket(m.message_uuid, q.uuids)], seq = q.seqs[width_bucket(m.message_uuid, q.uuids)]
    from (
      select ${sorted.map(({ uuid }) => uuid)}::uuid[] as uuids, ${sorted.map(({ laneId }) => laneId)}::bigint[] as lane_ids,
        ${sorted.map(({ seq }) => seq)}::bigint[] as seqs
    ) q
    where m.company_id = ${companyId} and m.message_uuid = any(q.uuids)
      and m.message_uuid between ${sorted[0]!.uuid} and ${sorted.at(-1)!.uuid}`
}
