import { formatMoney, type Money } from '../../base/money.ts'
import { uuidRange } from '../../base/uuid7.ts'
import { copyInto, copyText } from '../../db/copy.ts'
import type { Fragment, Sql, Transaction } from '../../db/sql.ts'
import { ERASED } from '../blacklist/erased.ts'
import {
  BLOCK_SIZE,
  type ChangedMessage,
  type CheckedMessage,
  type Message,
  type MessageStatus,
  type NewMessage,
  type QueuedMessage,
  type StatusUpdate,
} from './message.ts'

const columns = (sql: Sql) => sql`
  message_uuid as uuid, destination, text, parts, status, price, final_price, sender_id, brand_id,
  error_code, sent_at, final_at`

const written = [
  'company_id',
  'message_uuid',
  'dispatch_id',
  'dispatch_position',
  'lane_id',
  'seq',
  'sender_id',
  'tariff_id',
  'price',
  'final_price',
  'final_at',
  'status',
  'error_code',
  'parts',
  'brand_id',
  'destination',
  'text',
]

/** The dispatch that gets new messages. */
export type ReceivingDispatch = {
  companyId: number
  dispatchId: number
  now: Date
  /** Each message is the first message of its own cascade. */
  isCascade?: boolean
  /** The dispatch has an approved template, and each message stores whether it matches. */
  hasTemplate?: boolean
  /** Each message may have its own content. */
  hasContents?: boolean
}

/** Writes the messages of one request by COPY, slice by slice while they are accepted. */
export function copyMessages(sql: Transaction, dispatch: ReceivingDispatch, batches: AsyncIterable<NewMessage[]>) {
  const { isCascade, hasTemplate, hasContents } = dispatch
  const extras = [isCascade && ofCascade, hasTemplate && ofTemplate, hasContents && ofContents].filter(extra => !!extra)
  const row = extras.length > 0 ? longRowWriter(dispatch, extras) : rowWriter(dispatch)
  const columns = [...written, ...extras.flatMap(extra => extra.columns)]
  return copyInto(sql, 'messages', columns, async write => {
    for await (const batch of batches) {
      let rows = ''
      for (const message of batch) rows += row(message)
      await write(rows)
    }
  })
}

/** Builds the row with one template literal. It runs for every message, and joining a list of fields takes twice as long. */
function rowWriter({ companyId, dispatchId, now }: { companyId: number; dispatchId: number; now: Date }) {
  const refusedAt = now.toISOString()
  const or = (value: number | null) => (value === null ? '\\N' : value)
  return (m: NewMessage) =>
    `${companyId}\t${m.uuid}\t${dispatchId}\t${m.position}\t${or(m.laneId)}\t${or(m.seq)}\t${or(m.senderId)}\t${or(m.tariffId)}\t${m.price}\t${m.status === 'FAILED' ? `0\t${refusedAt}` : '\\N\t\\N'}\t${m.status}\t${or(m.errorCode)}\t${m.parts}\t${m.brandId}\t${copyText(m.destination)}\t${m.text === null ? '\\N' : copyText(m.text)}\n`
}

/** Columns that only some dispatches need. */
type Extra = { columns: string[]; valuesOf(message: NewMessage): string }

const ofCascade: Extra = {
  columns: ['cascade_uuid', 'cascade_step'],
  valuesOf: m => (m.laneId === null ? '\\N\t\\N' : `${m.uuid}\t1`),
}

const ofTemplate: Extra = {
  columns: ['traffic_type', 'template_id'],
  valuesOf: ({ matched }) => (matched ? `${matched.trafficType}\t${matched.templateId ?? '\\N'}` : '\\N\t\\N'),
}

const ofContents: Extra = {
  columns: ['content'],
  valuesOf: ({ content }) => (content ? copyText(JSON.stringify(content)) : '\\N'),
}

function longRowWriter(dispatch: ReceivingDispatch, extras: Extra[]) {
  const row = rowWriter(dispatch)
  return (m: NewMessage) => `${row(m).slice(0, -1)}\t${extras.map(extra => extra.valuesOf(m)).join('\t')}\n`
}

/** The key of a dispatch and the range of its message keys. The range limits a statement to the months of the messages. */
export type MessagesOfDispatch = {
  companyId: number
  dispatchId: number
  firstUuid: string | null
  lastUuid: string | null
}

export function selectByPosition(sql: Sql, dispatch: MessagesOfDispatch, from: number, count: number) {
  return sql<Message[]>`
    select ${columns(sql)} from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and dispatch_position >= ${from} and dispatch_position < ${from + count}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
    order by dispatch_position`
}

/** The error codes of the failed messages of a dispatch. The most frequent code is first. */
export function failuresOf(sql: Sql, dispatch: MessagesOfDispatch) {
  return sql<{ errorCode: number | null; messages: number }[]>`
    select error_code, count(*) as messages from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid} and status = 'FAILED'
    group by error_code order by messages desc, error_code`
}

/** Messages of one status in the given blocks, by position. */
export function selectFromBlocks(
  sql: Sql,
  dispatch: MessagesOfDispatch,
  status: MessageStatus,
  blocks: number[],
  offset: number,
  limit: number,
) {
  return sql<Message[]>`
    select m.* from unnest(${blocks}::int[]) as block
    cross join lateral (
      select ${columns(sql)}, dispatch_position from messages
      where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
        and dispatch_position >= block::bigint * ${BLOCK_SIZE} and dispatch_position < (block::bigint + 1) * ${BLOCK_SIZE}
        and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
        and status = ${status}
      order by dispatch_position
    ) m
    order by m.dispatch_position offset ${offset} limit ${limit}`
}

/** The accepted messages of one request. They have a lane. */
export function acceptedMessages(sql: Sql, dispatch: MessagesOfDispatch, from: number, count: number) {
  return sql<{ uuid: string; destination: string; parts: number; senderId: number }[]>`
    select message_uuid as uuid, destination, parts, sender_id from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and dispatch_position >= ${from} and dispatch_position < ${from + count}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
      and lane_id is not null
    order by dispatch_position`
}

export type BlockCount = { block: number; messages: number }

export function selectBlocks(sql: Sql, dispatch: MessagesOfDispatch, status: MessageStatus) {
  return sql<BlockCount[]>`
    select block, ${sql(`${status.toLowerCase()}_messages`)} as messages from dispatch_blocks
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and ${sql(`${status.toLowerCase()}_messages`)} > 0
    order by block`
}

export type NewBlock = { block: number; created: number; failed: number; createdParts: number }

/** Adds the messages of a request to the counters of their blocks. */
export function addToBlocks(
  sql: Sql,
  dispatch: Pick<MessagesOfDispatch, 'companyId' | 'dispatchId'>,
  blocks: NewBlock[],
) {
  return sql`
    insert into dispatch_blocks (
      company_id, dispatch_id, block, created_messages, failed_messages, unsent_messages, created_parts)
    select c.company_id, ${dispatch.dispatchId}::bigint, q.block, q.created, q.failed, q.failed, q.created_parts
    from companies c, unnest(
      ${blocks.map(({ block }) => block)}::int[], ${blocks.map(({ created }) => created)}::int[],
      ${blocks.map(({ failed }) => failed)}::int[], ${blocks.map(({ createdParts }) => createdParts)}::int[]
    ) q (block, created, failed, created_parts)
    where c.company_id = ${dispatch.companyId}
    on conflict (company_id, dispatch_id, block) do update set
      created_messages = dispatch_blocks.created_messages + excluded.created_messages,
      failed_messages = dispatch_blocks.failed_messages + excluded.failed_messages,
      unsent_messages = dispatch_blocks.unsent_messages + excluded.unsent_messages,
      created_parts = dispatch_blocks.created_parts + excluded.created_parts`
}

/** Creates the partitions of the next months. */
export const ensureMessageMonths = (sql: Sql) => sql`select ensure_message_months()`

type Range = { companyId: number; laneId: number; firstSeq: number; nextSeq: number }
type Bounds = { firstUuid: string | null; lastUuid: string | null }

/**
 * Limits a statement to the months of a dispatch, or to the last hundred days for single messages. A single message waits at
 * most 70 days until it is sent, and 25 hours for its receipt.
 */
const within = (sql: Sql, { firstUuid, lastUuid }: Bounds) =>
  firstUuid
    ? sql`and m.message_uuid between ${firstUuid} and ${lastUuid}`
    : sql`and m.message_uuid >= uuid7_floor(now() - interval '100 days')`

/** The columns of a message that is going to be sent. */
const queuedColumns = (sql: Sql) => sql`
  m.message_uuid as uuid, m.seq, m.destination, m.text, m.parts, m.sender_name,
  m.expires_at, m.waits_until, m.content,
  m.options -> 'window' as window, m.options -> 'ttl' as ttl_seconds, m.sealed`

/** The CREATED messages of a chunk, at most `most`. */
export function queuedMessages(sql: Sql, range: Range & { most?: number }, bounds: Bounds) {
  return sql<QueuedMessage[]>`
    select ${queuedColumns(sql)}
    from messages m
    where m.company_id = ${range.companyId} and m.lane_id = ${range.laneId}
      and m.seq >= ${range.firstSeq} and m.seq < ${range.nextSeq} ${within(sql, bounds)} and m.status = 'CREATED'
    order by m.seq limit ${range.most ?? null}`
}

/**
 * The CREATED messages of leases of a company, with the lane of each, and whether a client stopped them or their number
 * is on the blacklist. `bounds`: of all messages together. `lease_with_messages` of the schema reads the same columns.
 */
export function queuedOfLeases(sql: Sql, companyId: number, leases: Omit<Range, 'companyId'>[], bounds: Bounds) {
  return sql<(CheckedMessage & { laneId: number })[]>`
    select leased.lane_id, queued.*,
      (select true from stop_requests r
        where r.company_id = ${companyId} and r.message_uuid = queued.uuid limit 1) is not null as is_stopped,
      case when not exists (
        select from blacklist e where e.company_id = ${companyId} and e.destination > ${ERASED})
      then (select true from blacklist b
        where b.company_id = ${companyId} and b.destination = queued.destination limit 1) is not null
      end as is_blacklisted
    from unnest(
      ${leases.map(({ laneId }) => laneId)}::bigint[], ${leases.map(({ firstSeq }) => firstSeq)}::bigint[],
      ${leases.map(({ nextSeq }) => nextSeq)}::bigint[]
    ) leased (lane_id, first_seq, next_seq)
    cross join lateral (
      select ${queuedColumns(sql)}
      from messages m
      where m.company_id = ${companyId} and m.lane_id = leased.lane_id
        and m.seq >= leased.first_seq and m.seq < leased.next_seq
        ${within(sql, bounds)} and m.status = 'CREATED'
      order by m.seq limit leased.next_seq - leased.first_seq
    ) queued`
}

/** The number of CREATED messages in a range, and the sum of their prices. */
export function sumCreated(sql: Sql, range: Range, bounds: Bounds) {
  return sql<{ price: Money; count: number }[]>`
    select coalesce(sum(m.price), 0)::numeric(18, 4) as price, count(*) as count from messages m
    where m.company_id = ${range.companyId} and m.lane_id = ${range.laneId}
      and m.seq >= ${range.firstSeq} and m.seq < ${range.nextSeq} ${within(sql, bounds)} and m.status = 'CREATED'`
}

/**
 * Changed messages whose other fields are equal. Each list has an element for each of these messages. `places`: where their
 * updates are in the list of updates, from 1.
 */
export type ChangedAlike = Omit<ChangedMessage, 'uuid' | 'position' | 'destination'> & {
  places: number[]
  positions: ChangedMessage['position'][]
  destinations: string[]
}

/**
 * Updates the statuses of messages that still have the status `from`. The updates are in the order of their uuids. A
 * repeated or late update finds no row. Times are sent as milliseconds, and a column without any value as an empty list,
 * because writing the parameters is a large part of the cost of this statement. Messages with equal fields are returned
 * together: reading a row with all fields of each message took two thirds of the time that our process spent on it.
 *
 * There is no join, on purpose. Each message finds its place in the sorted lists by binary search (`width_bucket`), so
 * PostgreSQL can reach the messages by their keys only. With a join and statistics from before a large dispatch,
 * PostgreSQL read all messages between the first and the last key: 900 ms instead of 20. The bounds limit the statement to the
 * months of these messages.
 */
export function updateStatuses(
  sql: Sql,
  companyId: number,
  from: 'CREATED' | 'SENT',
  to: StatusUpdate['to'],
  updates: StatusUpdate[],
) {
  const list = (name: keyof typeof lists, none: number | string): Fragment =>
    lists[name].length === 0 ? sql`null` : sql`nullif(q.${sql(name)}[width_bucket(m.message_uuid, q.uuids)], ${none})`
  const lists = {
    sent_ms: unlessEmpty(
      updates.map(({ sentAt }) => sentAt?.getTime()),
      0,
    ),
    final_ms: unlessEmpty(
      updates.map(({ finalAt }) => finalAt?.getTime()),
      0,
    ),
    error_codes: unlessEmpty(
      updates.map(({ errorCode }) => errorCode),
      NO_ERROR,
    ),
    operator_errors: unlessEmpty(
      updates.map(({ operatorError }) => operatorError),
      '',
    ),
  }
  return sql<ChangedAlike[]>`
    with changed as (
      update messages m set
        status = ${to},
        sent_at = coalesce(m.sent_at, to_timestamp(${list('sent_ms', 0)}::float8 / 1000)),
        final_at = to_timestamp(${list('final_ms', 0)}::float8 / 1000),
        error_code = ${list('error_codes', NO_ERROR)},
        operator_error = ${withoutCode(sql, list('operator_errors', ''))},
        sealed = null,
        final_price = ${to === 'DELIVERED' ? sql`m.price` : to === 'FAILED' ? sql`0` : null}
      from (
        select ${updates.map(({ uuid }) => uuid)}::uuid[] as uuids, ${lists.sent_ms}::bigint[] as sent_ms,
          ${lists.final_ms}::bigint[] as final_ms, ${lists.error_codes}::int[] as error_codes,
          ${lists.operator_errors}::text[] as operator_errors
      ) q
      where m.company_id = ${companyId} and m.message_uuid = any(q.uuids)
        and m.message_uuid between ${updates[0]!.uuid} and ${updates.at(-1)!.uuid} and m.status = ${from}
      returning width_bucket(m.message_uuid, q.uuids) as place, m.dispatch_id, m.dispatch_position as position, m.parts,
        m.price, m.tariff_id, m.brand_id, m.destination, m.channel_type, m.traffic_type,
        m.callback_url is not null or m.cascade_uuid is not null or coalesce(m.options ? 'verification', false)
          as is_followed)
    select dispatch_id, parts, price, tariff_id, brand_id, channel_type, traffic_type, is_followed,
      array_agg(place) as places, array_agg(position) as positions, array_agg(destination) as destinations
    from changed
    group by dispatch_id, parts, price, tariff_id, brand_id, channel_type, traffic_type, is_followed`
}

/** The lanes of messages, and their places there. */
export function placesInLanes(sql: Sql, companyId: number, uuids: string[]) {
  const range = uuidRange(uuids)
  return sql<{ uuid: string; laneId: number; seq: number }[]>`
    select message_uuid as uuid, lane_id, seq from messages
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[])
      and message_uuid between ${range.first} and ${range.last}`
}

/**
 * Operators may quote a text in their errors. A verification code is not shown there either: in the error of its message,
 * as many digits in a row as the code has are masked, as the code is in the text.
 */
const withoutCode = (sql: Sql, operatorError: Fragment) => sql`
  case when coalesce(m.options ? 'verification', false) then regexp_replace(${operatorError},
      '[0-9]{' || coalesce(length(substring(m.text from '[*]{4,8}')), 4) || '}', '****', 'g')
    else ${operatorError} end`

const NO_ERROR = 0

/** Builds lists without nulls. PostgreSQL finds an element of such a list directly, and reads other lists from the start. */
const unlessEmpty = <T>(values: (T | null | undefined)[], none: T): T[] =>
  values.some(value => value != null) ? values.map(value => value ?? none) : []

export function setFinalPrices(sql: Sql, companyId: number, prices: { uuid: string; amount: Money }[]) {
  const sorted = prices.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))
  return sql`
    update messages m set final_price = q.amounts[width_bucket(m.message_uuid, q.uuids)]
    from (
      select ${sorted.map(({ uuid }) => uuid)}::uuid[] as uuids,
        ${sorted.map(({ amount }) => formatMoney(amount))}::text[]::numeric[] as amounts
    ) q
    where m.company_id = ${companyId} and m.message_uuid = any(q.uuids)
      and m.message_uuid between ${sorted[0]!.uuid} and ${sorted.at(-1)!.uuid}`
}

/** Changes of the counters of one block. `unsent` counts failed messages that no operator accepted. */
export type BlockChange = {
  dispatchId: number
  block: number
  messages: StatusCounts
  parts: StatusCounts
  unsentMessages: number
  unsentParts: number
}
export type StatusCounts = Record<MessageStatus, number>

/** Returns how many messages of each block are not final. */
export function changeBlocks(sql: Sql, companyId: number, changes: BlockChange[]) {
  const column = (of: (change: BlockChange) => number) => changes.map(of)
  return sql<{ dispatchId: number; open: number }[]>`
    update dispatch_blocks b set
      created_messages = created_messages + q.cm, sent_messages = sent_messages + q.sm,
      delivered_messages = delivered_messages + q.dm, failed_messages = failed_messages + q.fm,
      created_parts = created_parts + q.cp, sent_parts = sent_parts + q.sp,
      delivered_parts = delivered_parts + q.dp, failed_parts = failed_parts + q.fp,
      unsent_messages = unsent_messages + q.um, unsent_parts = unsent_parts + q.up
    from unnest(
      ${column(c => c.dispatchId)}::bigint[], ${column(c => c.block)}::int[],
      ${column(c => c.messages.CREATED)}::int[], ${column(c => c.messages.SENT)}::int[],
      ${column(c => c.messages.DELIVERED)}::int[], ${column(c => c.messages.FAILED)}::int[],
      ${column(c => c.parts.CREATED)}::int[], ${column(c => c.parts.SENT)}::int[],
      ${column(c => c.parts.DELIVERED)}::int[], ${column(c => c.parts.FAILED)}::int[],
      ${column(c => c.unsentMessages)}::int[], ${column(c => c.unsentParts)}::int[]
    ) q (dispatch_id, block, cm, sm, dm, fm, cp, sp, dp, fp, um, up)
    where b.company_id = ${companyId} and b.dispatch_id = q.dispatch_id and b.block = q.block
    returning b.dispatch_id, b.created_messages + b.sent_messages as open`
}

/** Messages of a range whose lifetime is over without a receipt. */
export function overdueMessages(sql: Sql, range: Range & Bounds, sentBefore: Date) {
  return sql<{ uuid: string }[]>`
    select m.message_uuid as uuid from messages m
    where m.company_id = ${range.companyId} and m.lane_id = ${range.laneId} and m.seq >= ${range.firstSeq}
      and m.seq < ${range.nextSeq} ${within(sql, range)} and m.status = 'SENT' and m.sent_at <= ${sentBefore}`
}

/** The latest time of sending among the SENT messages of a range. Null if there are none. */
export function selectLastSent(sql: Sql, range: Range & Bounds) {
  return sql<{ last: Date | null }[]>`
    select max(m.sent_at) as last from messages m
    where m.company_id = ${range.companyId} and m.lane_id = ${range.laneId} and m.seq >= ${range.firstSeq}
      and m.seq < ${range.nextSeq} ${within(sql, range)} and m.status = 'SENT'`
}
