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

/** The columns that `usualOf` writes. */
const usual = [
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
  'options',
  'waits_until',
  'key_id',
]

type Column = { name: string; read: (message: PlacedSingle) => string | number | null }

/** Columns that most messages leave empty. A COPY omits the columns that all of its messages leave empty. */
const seldom: Column[] = [
  { name: 'template_id', read: m => m.templateId },
  { name: 'content', read: m => m.content && json(m.content) },
  { name: 'callback_url', read: m => m.callbackUrl && copyText(m.callbackUrl) },
  { name: 'callback_events', read: m => m.callbackEvents && `{${m.callbackEvents.join(',')}}` },
  { name: 'send_at', read: m => m.sendAt && timeText(m.sendAt) },
  { name: 'expires_at', read: m => (m.endsEarly ? timeText(m.expiresAt) : null) },
  { name: 'cascade_uuid', read: m => (m.cascade ? ('uuid' in m.cascade ? m.cascade.uuid : m.uuid) : null) },
  { name: 'cascade_step', read: m => m.cascade?.step ?? null },
  { name: 'error_code', read: m => m.failed?.errorCode ?? null },
  { name: 'final_at', read: m => (m.failed ? timeText(m.failed.at) : null) },
  { name: 'final_price', read: m => (m.failed ? 0 : null) },
  { name: 'sealed', read: m => (m.sealed && !m.failed ? bytes(m.sealed) : null) },
]

export function copySingles(sql: Transaction, companyId: number, messages: PlacedSingle[]) {
  const used = seldom.filter(({ read }) => messages.some(message => read(message) !== null))
  const names = [...usual, ...used.map(({ name }) => name)]
  return copyInto(sql, 'messages', names, async write => {
    for (let from = 0, size = FIRST_PIECE; from < messages.length; size = PIECE) {
      let rows = ''
      for (const message of messages.slice(from, from + size)) rows += rowOf(companyId, message, used)
      await write(rows)
      from += size
    }
  })
}

/** PostgreSQL inserts the rows of one piece while the next one is built. It waits for the first one. */
const FIRST_PIECE = 100
const PIECE = 250

function rowOf(companyId: number, message: PlacedSingle, used: Column[]): string {
  let row = usualOf(companyId, message)
  for (const { read } of used) row += `\t${or(read(message))}`
  return `${row}\n`
}

function usualOf(companyId: number, m: PlacedSingle): string {
  const waitsUntil = m.endsEarly ? NULL : timeText(m.expiresAt)
  return `${companyId}\t${m.uuid}\t${or(m.laneId)}\t${or(m.seq)}\t${or(m.senderId)}\t${or(m.tariffId)}\t${formatMoney(m.price)}\t${m.failed ? 'FAILED' : 'CREATED'}\t${m.parts}\t${m.brandId}\t${copyText(m.destination)}\t${copyText(m.text)}\t${m.channelType}\t${copyText(m.senderName)}\t${m.externalId === null ? NULL : copyText(m.externalId)}\t${or(m.centerId)}\t${m.method}\t${m.trafficType}\t${json(m.options)}\t${waitsUntil}\t${m.keyId ?? NULL}`
}

const NULL = '\\N'
const or = (value: string | number | null) => (value === null ? NULL : value)
/** As COPY reads bytes: hex behind an escaped `\\x`. */
const bytes = (hex: string) => `\\\\x${hex}`
const json = (value: object) => copyText(JSON.stringify(value))

let lastTime = { ms: Number.NaN, text: '' }

/** Most messages of a COPY have the same times, and writing a time takes a microsecond. */
function timeText(time: Date): string {
  const ms = time.getTime()
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() }
  return lastTime.text
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
